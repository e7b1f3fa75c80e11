"""`nonstrict import`: keeps what runs compiled, by what torch wrote into the folder that TORCH_TRACE named."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.cli.configuration import add_configuration_arguments, main_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from nonstrict.confirm.runs.compilations import Observed
    from nonstrict.confirm.runs.places import Project


class Imported(NamedTuple):
    """What was kept of the logs of a run: how many there were, and how many of their lines could not be read."""

    observed: Observed
    logs: int
    damaged: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Run the job with TORCH_TRACE=DIR in its environment, anywhere; then `nonstrict check` shows what it did "
        "beside the findings. Nothing of the program is run, and torch is not needed. Exit status: 0, or 2 if nothing "
        "was kept."
    )
    parser.add_argument("place", metavar="DIR", help="the folder that TORCH_TRACE named, or one log of it")
    parser.add_argument(
        "--map",
        dest="maps",
        type=_mapping,
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="files of the run below OLD are those below NEW here; may be given several times",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    add_configuration_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read the logs, and keep what they say of the project."""
    from nonstrict.confirm.runs.logs import NoLogsError
    from nonstrict.confirm.runs.places import Project

    try:
        root = main_settings([os.getcwd()], options).root
    except ConfigurationError as error:
        return report_failure(str(error))
    project = Project(root, options.maps)
    try:
        imported = kept(options.place, project)
    except NoLogsError as error:
        return report_failure(str(error))
    except OSError as error:
        return report_failure(f"{error.filename or options.place}: {error.strerror or error}. Nothing was kept.")
    for failure in complaints(imported, project):
        report_failure(failure)
    if not imported.observed.regions:
        return report_failure(_nothing(project))
    if not options.quiet:
        sys.stderr.write(summary(imported))
    return ExitStatus.CLEAN


def kept(place: str, project: Project, since: float = 0.0) -> Imported:
    """Keep what the logs at a place say of a project, if they say anything of it; `since`: see `read_logs`.

    Raises:
        NoLogsError: there are none.
        OSError: they cannot be read, or what they say cannot be written.
    """
    from nonstrict.confirm.runs.compilations import observed
    from nonstrict.confirm.runs.logs import read_logs
    from nonstrict.confirm.runs.store import keep

    logs = list(read_logs(place, since))
    found = observed(logs, project)
    if found.regions:
        keep(found, project, found.when or time.time())
    return Imported(found, len(logs), sum(log.damaged for log in logs))


def complaints(imported: Imported, project: Project) -> list[str]:
    """What of the logs is not told, and why."""
    told: list[str] = []
    if imported.damaged:
        one = imported.damaged == 1
        what = (
            "1 line of the logs is damaged and was"
            if one
            else f"{imported.damaged:,} lines of the logs are damaged and were"
        )
        told.append(f"{what} passed over.")
    unlike = sorted(imported.observed.unlike)
    if unlike:
        path, line = unlike[0]
        where = f"{os.path.relpath(path, project.root)}:{line}"
        more = f" and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        told.append(f"Other code ran than is here now, and what it did is left out: {where}{more}.")
    return told


def summary(imported: Imported) -> str:
    """What was kept, as a line."""
    from nonstrict.report.summary import plural

    regions = imported.observed.regions
    counts = (
        plural(len(regions), "compiled function"),
        plural(sum(len(one.breaks) for one in regions), "break"),
        plural(sum(again.times for one in regions for again in one.again), "recompilation"),
    )
    ranks = f" of {plural(imported.observed.ranks, 'rank')}" if imported.observed.ranks > 1 else ""
    return f"Kept {', '.join(counts)}{ranks}; `nonstrict check` shows them.\n"


def _nothing(project: Project) -> str:
    """Why nothing was kept, and what to do."""
    if project.missing:
        first = min(project.missing)
        suggested = project.suggestion()
        hint = f"`{suggested}`" if suggested else "`--map OLD=NEW`: where the files of the run are here"
        return f"No file of the run is one of this project ({first} is not below {project.root}). Try {hint}."
    return "The run compiled nothing of this project."


def _mapping(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise argparse.ArgumentTypeError(f"`{text}` is not OLD=NEW")
    return old, new
