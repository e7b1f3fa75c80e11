"""`nonstrict budget`: holds graphs and recompilations of regions against what they may have, and writes that down."""

from __future__ import annotations

import argparse
import codecs
import errno
import json
import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.check.repository import repository_around
from nonstrict.check.run import RunOptions, check
from nonstrict.cli.check_arguments import add_confirm_arguments, number_of_processes
from nonstrict.cli.ci import in_ci
from nonstrict.cli.configuration import (
    add_configuration_arguments,
    add_version_arguments,
    main_settings,
    nested_settings,
)
from nonstrict.cli.confirming import experiments
from nonstrict.cli.failure import report_failure
from nonstrict.cli.overrides import environment_overrides
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.check.budgets import Figures
    from nonstrict.check.fixing import Change
    from nonstrict.findings import Measured
    from nonstrict.settings.model import Settings


_PYPROJECT = "pyproject.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Numbers come from runs that `pytest --nonstrict`, `nonstrict record` or `nonstrict import` recorded, or from "
        "--confirm; otherwise the analysis predicts them. Exit status: 0 all regions are within budget, 1 one is over "
        "it, or, with --locked, below it, 2 the files or the configuration could not be read."
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files and directories (default: .)")
    parser.add_argument("--write", action="store_true", help="write the current numbers into the configuration")
    parser.add_argument(
        "--locked",
        action=argparse.BooleanOptionalAction,
        help="also exit with 1 if a measured number is lower than the budget (default: on if CI is set)",
    )
    parser.add_argument("--confirm", action="store_true", help="measure regions without a recorded run, in a sandbox")
    parser.add_argument(
        "--output-format",
        choices=("text", "json", "github"),
        default="text",
        help="default: text; github: annotations for failures",
    )
    add_confirm_arguments(parser.add_argument_group("experiments (--confirm)"))
    parser.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
    parser.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write verdicts")
    add_configuration_arguments(parser)
    parser.add_argument("--python", metavar="PATH", help="interpreter or environment whose torch is used")
    add_version_arguments(parser)
    parser.add_argument(
        "-j", "--jobs", type=number_of_processes, default=0, metavar="N", help="processes (default: one per processor)"
    )


def run(options: argparse.Namespace) -> int:
    """Hold the budget, or write it."""
    try:
        gone = next((path for path in options.paths if not os.path.exists(path)), None)
        if gone is not None:
            return report_failure(f"{gone}: does not exist")
        settings = environment_overrides(main_settings(options.paths, options), options)
        known, projects, failures = _known(settings, options)
        if options.write:
            projects = _written(known, projects)
    except ConfigurationError as error:
        return report_failure(str(error))
    status = _told(known, projects, options)
    for failure in failures:
        report_failure(failure)
    return ExitStatus.FAILURE if failures else status


def _known(settings: Settings, options: argparse.Namespace) -> tuple[Sequence[Figures], Projects, Sequence[str]]:
    """What is known of the regions, the settings that count for them, and what could not be read or run."""
    from nonstrict.check.budgets import figures
    from nonstrict.check.kept_runs import runs_of

    wanted = RunOptions(jobs=options.jobs, kept=options.kept, fixes=None, regions=True, probes=options.confirm)
    nested = nested_settings(options, lambda settings: environment_overrides(settings, options))
    result = check(options.paths, settings, wanted._replace(nested=nested))
    projects = Projects(settings, result.nested).absolute()
    runs, failures = runs_of(settings, result.nested), result.failures
    measured: list[tuple[float, Measured]] = []
    if options.confirm:
        options.silent = False
        answer = experiments(result, settings, options)
        measured += [(time.time(), one) for one in answer.measured if one.backends]
        failures = (*failures, *answer.failures)
    # What a real run did counts more than an experiment.
    known = figures(result.looked.regions, (*measured, *runs.values()))
    known = tuple(one for one in known if any(_is_below(one.path, path) for path in options.paths))
    return known, projects, failures


def _told(known: Sequence[Figures], projects: Projects, options: argparse.Namespace) -> ExitStatus:
    from nonstrict.check.budgets import balance_of, base_of, budget_of
    from nonstrict.report.budget import record_of, text_of

    locked = options.locked if options.locked is not None else in_ci()
    balance = balance_of(known, budget_of(projects), partial(base_of, projects))
    if not any(_is_below(projects.main.root, path) for path in options.paths):
        balance = balance._replace(idle=())  # what they are about may lie elsewhere
    if options.output_format == "json":
        sys.stdout.write(f"{json.dumps(record_of(balance), indent=2)}\n")
    else:
        repository = repository_around(os.getcwd()) if options.output_format == "github" else None
        shown = text_of(balance, time.time(), locked=locked, confirmed=options.confirm, repository=repository)
        sys.stdout.write(shown)
    return ExitStatus.FINDINGS if any(one.fails(locked=locked) for one in balance.held) else ExitStatus.CLEAN


def _is_below(path: str, folder: str) -> bool:
    return os.path.join(os.path.abspath(path), "").startswith(os.path.join(os.path.abspath(folder), ""))


def _written(known: Sequence[Figures], projects: Projects) -> Projects:
    """Write the budget that is known; the settings with it.

    Raises:
        ConfigurationError: it cannot be written.
    """
    from nonstrict.check.budgets import base_in, base_of, budget_of, followed, moved, rewritten

    budget, base = budget_of(projects), partial(base_of, projects)
    now = moved(known, budget, base)
    changes = rewritten(known, followed(known, budget, base), base)
    written = {*changes, *(one.base for one in now)}
    # The run has no file of its own where its folder is one of the projects below its paths.
    by_base = {base_in(one): one for one in sorted(projects.every, key=lambda one: one.source is not None)}
    foreign = next((one.base for one in budget if one.base not in by_base), None)
    if written and foreign is not None:
        path = projects.main.source or _new_configuration(projects.main.root)
        raise ConfigurationError(
            f"The budget stands in a configuration in {foreign} that {path} extends. Name it with --config."
        )
    planned: list[tuple[Settings, Change]] = []
    for place in sorted(written):
        keys = {before.key: after.key for before, after in now.items() if before.base == place}
        planned.append((by_base[place], _planned(by_base[place], changes.get(place, {}), keys)))
    _write([change for _, change in planned])
    told = {id(settings): _reloaded(settings, change) for settings, change in planned}
    own = {path: told.get(id(settings), settings) for path, settings in projects.own.items()}
    return Projects(told.get(id(projects.main), projects.main), own)


def _planned(settings: Settings, changes: Mapping[str, Mapping[str, int]], keys: Mapping[str, str]) -> Change:
    """The file of a configuration with entries of the budget changed or added, and new `keys` for others.

    Raises:
        ConfigurationError: it cannot be read or edited.
    """
    from nonstrict.check.fixing import Change
    from nonstrict.settings.writing import with_budget

    path = settings.source or _new_configuration(settings.root)
    before = b""
    try:
        if settings.source is not None or os.path.basename(path) == _PYPROJECT:
            with open(path, "rb") as file:
                before = file.read()
        elif os.path.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        text = with_budget(path, before.decode("utf-8-sig"), changes, keys)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The budget was not written: {error}") from error
    mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
    return Change(path, before, mark + text.encode())


def _write(changes: Sequence[Change]) -> None:
    """Write all files, those that are new among them, or none.

    Raises:
        ConfigurationError: they cannot be written.
    """
    from nonstrict.check.writing import CannotWrite, write_all

    begun: list[str] = []
    try:
        for change in changes:
            if not os.path.exists(change.path):
                with open(change.path, "xb"):
                    begun.append(change.path)
        write_all(changes)
    except (CannotWrite, OSError) as error:
        for path in begun:
            if not os.path.getsize(path):
                os.unlink(path)
        raise ConfigurationError(f"The budget was not written: {error}") from error


def _reloaded(settings: Settings, change: Change) -> Settings:
    """The settings of a configuration that was written, which is said."""
    from nonstrict.settings.load import settings_from_file

    after = settings_from_file(change.path)._replace(root=settings.root)
    count = len(set(after.budget).difference(settings.budget))
    sys.stderr.write(f"Wrote {count} {'entry' if count == 1 else 'entries'} into {os.path.relpath(change.path)}.\n")
    return after


def _new_configuration(root: str) -> str:
    """Where settings of a project that has none begin: a file of their own would hide those added to the project's."""
    path, own = os.path.join(root, _PYPROJECT), os.path.join(root, "nonstrict.toml")
    return path if os.path.isfile(path) and not os.path.exists(own) else own
