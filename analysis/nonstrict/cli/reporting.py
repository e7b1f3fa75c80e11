"""Writes the findings of a run of `nonstrict check`, in the format and to the place that were asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.repository import repository_around
from nonstrict.cli.failure import report_failure
from nonstrict.cli.rendering import Rendered, rendered
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import use_color
from nonstrict.cli.wanted import details_wanted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TextIO

    from nonstrict.check.fixing import Fixed
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context, Renderer
    from nonstrict.settings.model import Settings


class Aside(NamedTuple):
    """What a report says beside the findings, and where it goes.

    That is what was fixed, how many are in the baseline, how many were there before the change that is asked for, and
    how many are notes that nobody wants.
    """

    done: Fixed | None = None
    known: int = 0
    earlier: int = 0
    notes: int = 0
    on_stderr: bool = False


def reported(result: CheckResult, settings: Settings, options: argparse.Namespace, aside: Aside) -> ExitStatus:
    """Write the findings and failures; the exit status that they mean."""
    stream = sys.stderr if aside.on_stderr else sys.stdout
    failures = result.failures
    if not options.silent:
        text, unshown = _rendered(result, settings, options, aside, stream)
        write(text, options.output_file, stream)
        failures += unshown
    for failure in failures:
        report_failure(failure)
    if failures:
        return ExitStatus.FAILURE
    failing = any(diagnostic.severity >= settings.fail_on for diagnostic in result.diagnostics)
    failing = failing or (settings.strict_coverage and result.counts.missed > 0)
    failing = failing or (options.exit_non_zero_on_fix and aside.done is not None and bool(aside.done.fixed))
    return ExitStatus.FINDINGS if failing and not options.exit_zero else ExitStatus.CLEAN


def _rendered(
    result: CheckResult, settings: Settings, options: argparse.Namespace, aside: Aside, stream: TextIO
) -> Rendered:
    from nonstrict.report.context import Context, Fixing, Lines

    context = Context(
        lines=Lines(result.read),
        files=result.files,
        failures=result.failures,
        unread=result.unread,
        color=options.output_file is None and use_color(options.color, stream),
        counts=not options.quiet,
        fixing=Fixing(
            settings.least,
            hint=settings.unsafe_fixes is None,
            fixed=aside.done.fixed if aside.done is not None else (),
            listed=settings.show_fixes,
        ),
        known=aside.known,
        earlier=aside.earlier,
        notes=aside.notes,
        looked=result.counts,
        torches=result.torches,
        repository=repository_around(os.getcwd()),
    )
    if details_wanted(settings, options):
        context = _detailed(context, result, settings)
    return text_of(result.diagnostics, context, settings.output_format, options)


def _detailed(context: Context, result: CheckResult, settings: Settings) -> Context:
    """The same with what is known of the compiled regions, and what experiments saw of them."""
    from nonstrict.check.kept_runs import runs_of
    from nonstrict.check.region_reports import region_reports
    from nonstrict.report.regions import Shown

    regions = Shown(result.looked, result.read, parts=True, runs=runs_of(settings, result.nested))
    functions = {one.function for one in result.measured}
    seen = region_reports(result.measured, result.diagnostics, (), result.read, functions, result.looked.regions)
    return context._replace(regions=regions, measured=seen)


def text_of(
    diagnostics: Sequence[Diagnostic], context: Context, output_format: str, options: argparse.Namespace
) -> Rendered:
    """Findings in a format, or how often each rule was met; on GitHub, also as annotations of what changed."""
    if options.statistics:
        from nonstrict.report.statistics import render_statistics

        return rendered(partial(render_statistics, as_json=output_format.startswith("json")), diagnostics, context)
    told = rendered(renderer_of(output_format), diagnostics, context)
    on_actions = os.environ.get("GITHUB_ACTIONS") == "true"
    if on_actions and output_format == "full" and options.output_file is None:
        text, failures = rendered(renderer_of("github"), diagnostics, context)
        told = Rendered(told.text + text, (*told.failures, *failures))
    return told


def renderer_of(name: str) -> Renderer:
    """An output format, which is looked for when it is asked to write."""

    def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
        from nonstrict.report.context import renderer

        return renderer(name)(diagnostics, context)

    return render


def write(text: str, path: str | None, stream: TextIO) -> None:
    """Write to a file, or to a stream whatever it can encode."""
    if path is not None:
        _write_file(text, path)
        return
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _write_file(text: str, path: str) -> None:
    """Write a whole file or none; devices and pipes are written as they stand."""
    data = text.encode("utf-8", "backslashreplace")
    if os.path.exists(path) and not os.path.isfile(path):
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        return
    target = os.path.realpath(path)
    unfinished = f"{target}.{os.getpid()}.tmp"
    try:
        with open(unfinished, "wb") as file:
            file.write(data)
        if os.path.exists(target):
            os.chmod(unfinished, os.stat(target).st_mode & 0o7777)
        os.replace(unfinished, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise OSError(error.errno, error.strerror, path) from None
