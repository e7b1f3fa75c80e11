"""`nonstrict regions`: lists what `torch.compile` is applied to, and what was found out of each."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from nonstrict.check.run import RunOptions, check
from nonstrict.cli.check_arguments import number_of_processes
from nonstrict.cli.configuration import (
    add_configuration_arguments,
    add_version_arguments,
    main_settings,
    nested_settings,
)
from nonstrict.cli.failure import report_failure
from nonstrict.cli.overrides import environment_overrides
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import use_color
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    from nonstrict.check.run import CheckResult
    from nonstrict.settings.model import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Exit status: 0 the regions were listed, 1 some were not analyzed and --strict-coverage is given, "
        "2 the files could not be read."
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files and directories (default: .)")
    parser.add_argument(
        "--graph", action="store_true", help="show the graphs and breaks of each region in source order"
    )
    parser.add_argument(
        "--strict-coverage",
        action=argparse.BooleanOptionalAction,
        help="exit with 1 if a region was not analyzed",
    )
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    add_configuration_arguments(parser)
    parser.add_argument("--python", metavar="PATH", help="interpreter or environment whose torch is used (not started)")
    add_version_arguments(parser)
    parser.add_argument(
        "-j", "--jobs", type=number_of_processes, default=0, metavar="N", help="processes (default: one per processor)"
    )


def run(options: argparse.Namespace) -> int:
    """List the regions, and say by the exit status whether all were looked at."""
    try:
        gone = next((path for path in options.paths if not os.path.exists(path)), None)
        if gone is not None:
            return report_failure(f"{gone}: does not exist")
        settings = environment_overrides(main_settings(options.paths, options), options)
        nested = nested_settings(options, lambda settings: environment_overrides(settings, options))
        wanted = RunOptions(jobs=options.jobs, nested=nested, kept=options.kept, fixes=None, regions=True)
        result = check(options.paths, settings, wanted)
    except ConfigurationError as error:
        return report_failure(str(error))
    sys.stdout.write(_rendered(result, settings, options))
    for failure in result.failures:
        report_failure(failure)
    if result.failures:
        return ExitStatus.FAILURE
    strict = settings.strict_coverage if options.strict_coverage is None else options.strict_coverage
    return ExitStatus.FINDINGS if strict and result.counts.missed else ExitStatus.CLEAN


def _rendered(result: CheckResult, settings: Settings, options: argparse.Namespace) -> str:
    from nonstrict.check.kept_runs import runs_of
    from nonstrict.report.context import Context, Lines
    from nonstrict.report.regions import Shown, render

    color = use_color(options.color, sys.stdout)
    context = Context(Lines(result.read), result.files, color=color, torches=result.torches)
    return render(
        Shown(result.looked, result.read, options.graph, runs_of(settings, result.nested)),
        options.output_format,
        context,
    )
