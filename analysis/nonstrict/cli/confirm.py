"""`nonstrict confirm`: compiles functions in a sandbox, and says which findings come true, or shows what torch made."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from nonstrict.check.repository import repository_around
from nonstrict.check.run import RunOptions, check
from nonstrict.check.targets import TargetError, missed, named_target, tried
from nonstrict.cli.check_arguments import add_confirm_arguments, number_of_processes
from nonstrict.cli.configuration import add_configuration_arguments, main_settings
from nonstrict.cli.confirming import Progress, experiments, notice, trusting
from nonstrict.cli.failure import report_failure
from nonstrict.cli.misuse import mistakes_about_places, refuse_other_torch
from nonstrict.cli.overrides import environment_overrides, format_of_environment
from nonstrict.cli.rendering import rendered
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import use_color
from nonstrict.findings import Status
from nonstrict.report.verdicts import sentence
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import FORMATS

if TYPE_CHECKING:
    import argparse

    from nonstrict.check.targets import Tried
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.epilog = (
        "Exit status: 0 no finding at or above --fail-on, 1 findings, 2 nothing could be run. "
        "A refuted finding counts one level less."
    )
    parser.set_defaults(torch_version=None, target_python=None)
    parser.add_argument(
        "target",
        metavar="FILE[::FUNCTION]",
        help="a file, or one marked function or region of it (FILE::Class.method, or the class of a module)",
    )
    parser.add_argument(
        "--show", choices=("graph", "code"), help="show the FX graph, or the code that Inductor generates, and exit"
    )
    add_confirm_arguments(parser.add_argument_group("experiments"))
    output = parser.add_argument_group("output")
    output.add_argument("--output-format", choices=FORMATS, metavar="FORMAT", help="as for `nonstrict check`")
    output.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")
    output.add_argument("-q", "--quiet", action="store_true", help="no progress and no counts")
    group = parser.add_argument_group("configuration and environment")
    add_configuration_arguments(group)
    group.add_argument("--python", metavar="PATH", help="interpreter or environment with torch")
    group.add_argument(
        "-j",
        "--jobs",
        type=number_of_processes,
        default=0,
        metavar="N",
        help="runs at once (default: one per processor)",
    )
    group.add_argument("-n", "--no-cache", action="store_true", help="neither read nor write the cache")


def run(options: argparse.Namespace) -> int:
    """Confirm, report, and say by the exit status how it went."""
    options.silent = False
    try:
        path, function = named_target(options.target)
        for mistake in mistakes_about_places(options):
            return report_failure(mistake)
        if options.show and (options.cluster or options.workers):
            return report_failure("--show runs one program here: it takes neither --cluster nor --workers.")
        if options.show and options.write_repro:
            return report_failure("--show stops before experiments that --write-repro could keep. Drop one of them.")
        if options.show and options.output_format not in (None, "full"):
            return report_failure(f"--show knows no format {options.output_format}. Drop --output-format.")
        settings = environment_overrides(main_settings([path], options), options)
        if not os.path.exists(path):
            file, _, name = path.rpartition(":")
            advice = f". Did you mean `{file}::{name}`?" if name.isidentifier() and os.path.exists(file) else ""
            return report_failure(f"{path}: there is no such file{advice}")
        if not options.cluster:
            refuse_other_torch(settings, trusting(options))
        if options.show:
            return _show(path, function, settings, options)
        result = check([path], settings, RunOptions(jobs=options.jobs, probes=True, regions=True))
        done = tried(result, path, function, lambda kept, others: experiments(kept, settings, options, others))
        return _report(done, settings, options)
    except (ConfigurationError, TargetError) as error:
        return report_failure(str(error))


def _report(done: Tried, settings: Settings, options: argparse.Namespace) -> ExitStatus:
    """Write the findings, in words the functions that are as they should be, and what torch made of the regions."""
    from nonstrict.report.compiled import texts_of
    from nonstrict.report.context import Context, Lines, renderer
    from nonstrict.report.regions import Shown

    result, answers, regions, _ = done
    output_format = options.output_format or format_of_environment() or settings.output_format
    context = Context(
        lines=Lines(result.read),
        files=result.files,
        failures=result.failures,
        unread=result.unread,
        color=use_color(options.color, sys.stdout),
        counts=not options.quiet,
        torches=result.torches,
        regions=Shown(result.looked, result.read, parts=True),
        measured=regions,
        repository=repository_around(os.getcwd()),
    )
    text, unshown = rendered(renderer(output_format), result.diagnostics, context)
    if output_format == "json":
        from nonstrict.report.confirmed import with_regions

        text = with_regions(text, regions, answers, context)
    sys.stdout.write(text)
    if output_format == "full" and not options.quiet:
        sys.stdout.write("".join(f"{_answer(one)}\n" for one in answers))
    if output_format == "full":
        left = "\n".join(missed(result, color=context.color)) if "::" not in options.target else ""
        sys.stdout.write(texts_of(regions) + (f"\n{left}\n" if left else ""))
    failures = (*result.failures, *unshown)
    for failure in failures:
        report_failure(failure)
    if failures:
        return ExitStatus.FAILURE
    failing = any(diagnostic.severity >= settings.fail_on for diagnostic in result.diagnostics)
    return ExitStatus.FINDINGS if failing else ExitStatus.CLEAN


def _answer(probe: Diagnostic) -> str:
    """What an experiment said of a function of which no finding speaks."""
    verdict = probe.verdict
    if verdict is None:
        return f"`{probe.function}`: not run"
    if verdict.status is Status.REFUTED:
        return f"`{probe.function}` computes the same when it is compiled: {verdict.evidence}"
    if verdict.reason == "shared":
        return f"`{probe.function}` differs from eager code when it is compiled, which the findings above may explain"
    return f"`{probe.function}`: {sentence(verdict, probe.function)}"


def _show(path: str, function: str, settings: Settings, options: argparse.Namespace) -> ExitStatus:
    """Write the graphs or the code of a function's regions."""
    from nonstrict.check.showing import ShowError, show

    progress = None if options.quiet else Progress()
    try:
        shown = show(
            path,
            function,
            options.show,
            settings,
            options,
            progress.state if progress else None,
            trusting(options),
            notice,
        )
    except ShowError as error:
        return report_failure(str(error))
    finally:
        if progress is not None:
            progress.close()
    sys.stdout.write(shown.text)
    return ExitStatus.CLEAN
