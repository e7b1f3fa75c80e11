"""Who runs the experiments of a run: this machine, or a cluster."""

from __future__ import annotations

import os
import secrets
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nonstrict.check.experiments import circumstances_of, processors
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.fleet.local import LocalFleet
from nonstrict.confirm.launching import agent_options
from nonstrict.knowledge.torch_version import active_interpreter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.check.experiments import ConfirmOptions
    from nonstrict.confirm.fleet.workers import Fleet
    from nonstrict.settings.model import Settings

#: What it takes to use a cluster.
_PACKAGE = "distributed"


def fleet_of(options: ConfirmOptions, settings: Settings, python: str, files: Iterable[str]) -> Fleet:
    """Who runs the experiments with some files; nothing is started or connected yet.

    Raises:
        AgentUnavailable: a cluster is asked for, and what connects to it is not installed.
    """
    if options.cluster:
        return _cluster(options, settings, python, files)
    slots = options.jobs or processors()
    return LocalFleet(
        python,
        Path(settings.root),
        agent_options(options.device, options.isolation, slots),
        options.workers,
        circumstances_of(python, settings),
        options.on_state,
    )


def _cluster(options: ConfirmOptions, settings: Settings, python: str, files: Iterable[str]) -> Fleet:
    if find_spec(_PACKAGE) is None:
        raise AgentUnavailable(
            f'--cluster needs the package {_PACKAGE}, which is not installed: pip install "nonstrict[cluster]"'
        )
    from nonstrict.confirm.fleet.cluster import Cluster
    from nonstrict.confirm.fleet.messages import Setup, hashes, state_of_code, version

    # Where nobody chose an interpreter, that of this process says nothing about other machines.
    chosen = settings.python_by_user or python != active_interpreter()
    setup = Setup(
        token=secrets.token_hex(16),
        version=version(),
        code=state_of_code(),
        root=os.path.abspath(settings.root),
        files=hashes(sorted(files)),
        python=python if chosen else "",
        device=options.device,
        isolation=options.isolation,
    )
    return Cluster(options.cluster, setup, options.on_state)
