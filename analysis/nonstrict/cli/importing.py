"""`nonstrict import`: keeps what runs compiled, by what torch wrote into the folder that TORCH_TRACE named."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from nonstrict.cli.configuration import add_configuration_arguments, main_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from nonstrict.check.imported_runs import Imported
    from nonstrict.confirm.runs.places import Project


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
    from nonstrict.check.imported_runs import complaints, kept
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
        sys.stderr.write(line_of(imported))
    return ExitStatus.CLEAN


def line_of(imported: Imported) -> str:
    """What was kept, as the line that a command ends with."""
    from nonstrict.check.imported_runs import summary

    return f"{summary(imported)}; `nonstrict check` shows them.\n"


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
