"""What runs in the processes of a cluster: the same agent as on one machine, for runs that are elsewhere.

The process that Dask started only hands jobs to an agent and its results back, as JSON: code under test runs in the
sandbox of the agent. An agent is kept for each run, until the run ends it or was silent for too long.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nonstrict.confirm.answers import message_of
from nonstrict.confirm.client import Agent, AgentUnavailable, JobResult
from nonstrict.confirm.fleet.messages import Order, Setup, as_bytes, hash_of, hashes, state_of_code, version
from nonstrict.confirm.launching import agent_options
from nonstrict.knowledge.torch_version import installed_torch

if TYPE_CHECKING:
    from collections.abc import Generator

#: How long an agent is kept for a run that says nothing (s).
_SILENCE = 120.0
_GLANCE = 5.0


class _Host:
    """The agent of one run."""

    def __init__(self, setup: Setup) -> None:
        options = agent_options(setup.device, setup.isolation, setup.slots)
        self.agent = Agent(setup.python or sys.executable, Path(setup.root), options)
        self.agent.start()
        self.running = 0
        self.heard = time.monotonic()

    @property
    def is_silent(self) -> bool:
        """Whether its run seems to be gone."""
        return not self.running and time.monotonic() - self.heard > _SILENCE


_HOSTS: dict[str, _Host] = {}
#: Runs that are over: a job of theirs that arrives late must not start anything.
_OVER: set[str] = set()
_LOCK = threading.Lock()


def describe(request: bytes) -> bytes:
    """Whether this worker is fit for a run: {"refusal"}, or {"torch"} as it is installed; starts no interpreter."""
    setup = Setup(**json.loads(request))
    python = setup.python or sys.executable
    refusal = _refusal(setup)
    torch = installed_torch(python, setup.root) if not refusal else None
    if not refusal and torch is None:
        refusal = f"its interpreter {python} has no torch" if os.path.exists(python) else f"it has no {python}"
    return as_bytes({"refusal": refusal, "torch": str(torch or "")})


def _refusal(setup: Setup) -> str:
    if version() != setup.version:
        return f"it has nonstrict {version()}, and this run is of {setup.version}"
    if state_of_code() != setup.code:
        return f"its nonstrict {version()} has other code than that of this run"
    if not os.path.isdir(setup.root):
        return f"it has no folder {setup.root}"
    for path, expected in setup.files.items():
        if (found := hash_of(path)) != expected:
            return f"its {path} is another one than here" if found else f"it cannot read {path}"
    return ""


def prepare(request: bytes) -> bytes:
    """Start the agent of a run and wait until it is ready: {"refusal"}, or {"ready"} (`Ready`)."""
    setup = Setup(**json.loads(request))
    try:
        with _busy(setup) as agent:
            return as_bytes({"refusal": "", "ready": agent.wait_ready()._asdict()})
    except AgentUnavailable as error:
        _end(setup.token)
        return as_bytes({"refusal": str(error)})


def perform(request: bytes, order: bytes) -> bytes:
    """Run a job: a message as agents write it, with hashes of the user's files that it loaded ("hashes")."""
    setup, told = Setup(**json.loads(request)), Order(**json.loads(order))
    try:
        with _busy(setup) as agent:
            result = agent.submit(dict(told.job), told.seconds, told.priority).result()
    except AgentUnavailable as error:
        result = JobResult(None, "dead", str(error), (), 0.0)
    if result.failure == "dead":
        _end(setup.token)
    loaded = (result.value or {}).get("files", ())
    return as_bytes({**message_of(result), "hashes": hashes(map(str, loaded))})


def stop(token: str) -> bytes:
    """End what runs for a run; returns at once."""
    with _LOCK:
        _OVER.add(token)
    threading.Thread(target=_end, args=(token,), name="nonstrict-stop").start()
    return b""


@contextmanager
def _busy(setup: Setup) -> Generator[Agent]:
    """The agent of a run, started if need be, while something is done with it.

    Raises:
        AgentUnavailable: it cannot be started, or the run is over.
    """
    with _LOCK:
        if setup.token in _OVER:
            raise AgentUnavailable("the run is over")
        host = _HOSTS.get(setup.token)
        if host is None:
            host = _HOSTS[setup.token] = _Host(setup)
            threading.Thread(target=_watch, args=(setup.token, host), name="nonstrict-watch", daemon=True).start()
        host.running += 1
    try:
        yield host.agent
    finally:
        with _LOCK:
            host.running -= 1
            host.heard = time.monotonic()


def _end(token: str) -> None:
    with _LOCK:
        host = _HOSTS.pop(token, None)
    if host is not None:
        host.agent.close()


def _watch(token: str, host: _Host) -> None:
    """End the agent of a run that is silent for too long: its process may have been killed."""
    while _HOSTS.get(token) is host:
        if host.is_silent:
            _end(token)
            return
        time.sleep(_GLANCE)
