"""`nonstrict audit`: says whether a function may be marked, and what is in the way."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.check.audit import AuditError, audit, parsed
from nonstrict.check.faults import sentences
from nonstrict.check.repository import repository_around
from nonstrict.cli.configuration import add_configuration_arguments, add_version_arguments, main_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.overrides import environment_overrides, format_of_environment
from nonstrict.cli.rendering import Rendered, rendered
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import use_color
from nonstrict.program.contracts.marks.purity import CONTRACTS
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import FORMATS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.audit import Audited


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Exit status: 0 no obstacle found, 1 obstacles, 2 the question could not be answered. "
        "Without obstacles, the answer says whether all called functions were analyzed."
    )
    parser.add_argument(
        "function",
        metavar="FILE::FUNCTION",
        help="the function: FILE::function, FILE::Class.method, FILE::outer.inner, or FILE:LINE",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],
        metavar="PATH",
        help="where to search for callers, and for writers of what the function reads "
        "(default: . if it holds the file, else the file's package)",
    )
    parser.add_argument(
        "--marker",
        choices=tuple(CONTRACTS),
        default="nonstrict_trace",
        help=f"the contract: {', '.join(CONTRACTS)} (default: nonstrict_trace)",
        metavar="MARKER",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 also if something was not analyzed")
    parser.add_argument(
        "--output-format",
        choices=FORMATS,
        metavar="FORMAT",
        help="full, json, or a format of `nonstrict check` for the findings alone (default: full)",
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    add_configuration_arguments(parser)
    parser.add_argument(
        "--python", metavar="PATH", help="interpreter or environment whose torch is used (never started)"
    )
    add_version_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, report, and say by the exit status what the answer is."""
    try:
        question = parsed(options.function, options.marker)
        gone = next((path for path in options.paths if not os.path.exists(path)), None)
        if gone is not None:
            return report_failure(f"{gone}: does not exist")
        settings = environment_overrides(main_settings([question.file], options), options)
        output_format = options.output_format or format_of_environment() or settings.output_format
        answer = audit(question, options.paths, settings)
    except (AuditError, ConfigurationError) as error:
        return report_failure(str(error))
    text, unshown = _rendered(answer, output_format, options)
    sys.stdout.write(text)
    failures = (*sentences(answer.lost), *unshown)
    for failure in failures:
        report_failure(failure)
    if failures:
        return ExitStatus.FAILURE
    if answer.obstacles or (options.strict and answer.verdict != "pure"):
        return ExitStatus.FINDINGS
    return ExitStatus.CLEAN


def _rendered(answer: Audited, output_format: str, options: argparse.Namespace) -> Rendered:
    from nonstrict.report.audit import render
    from nonstrict.report.context import Context, Lines

    def write(found: Sequence[Diagnostic], context: Context) -> str:
        return render(answer._replace(diagnostics=tuple(found)), output_format, context)

    failures = sentences(answer.lost)
    color, repository = use_color(options.color, sys.stdout), repository_around(os.getcwd())
    context = Context(Lines(answer.sources), 1, failures, color=color, repository=repository)
    return rendered(write, answer.diagnostics, context)
