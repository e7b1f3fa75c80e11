"""`nonstrict check`: checks files and says what was found."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from nonstrict.check.run import CheckResult, RunOptions, check
from nonstrict.cli.check_arguments import add_check_arguments
from nonstrict.cli.configuration import main_settings, nested_settings, settings_below
from nonstrict.cli.confirming import confirmed
from nonstrict.cli.failure import report_failure
from nonstrict.cli.overrides import overridden
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import Progress, use_color
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_check_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check, report, and say by the exit status how it went."""
    started = time.perf_counter()
    try:
        settings = overridden(main_settings(_places(options), options), options)
        if options.show_settings:
            return _show_settings(settings)
        if options.show_files:
            return _show_files(settings, options)
        result = _checked(settings, options)
        if options.confirm:
            result = confirmed(result, settings, options)
        status = _written(result, settings, options)
    except ConfigurationError as error:
        return _misconfigured(error, options)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        return report_failure(f"{error.filename or 'output'}: {error.strerror or error}")
    if options.verbose:
        _tell(result, settings, time.perf_counter() - started)
    return status


def _places(options: argparse.Namespace) -> list[str]:
    """The paths that decide which configuration counts."""
    paths = [path for path in options.paths if path != "-"]
    return [*paths, options.stdin_filename] if "-" in options.paths and options.stdin_filename else paths


def _checked(settings: Settings, options: argparse.Namespace) -> CheckResult:
    """Run the check with what the options ask for."""
    standard_input: tuple[str, bytes] | None = None
    if "-" in options.paths:
        standard_input = (options.stdin_filename or "-", sys.stdin.buffer.read())
    loud = not (options.quiet or options.silent) and sys.stderr.isatty()
    progress = Progress() if loud else None
    try:
        return check(
            [path for path in options.paths if path != "-"],
            settings,
            RunOptions(
                jobs=options.jobs,
                cache=not options.no_cache,
                standard_input=standard_input,
                nested=_Nested(options) if nested_settings(options) else None,
                progress=progress,
                kept=options.kept,
            ),
        )
    finally:
        if progress is not None:
            progress.close()


class _Nested:
    """Settings of directories below, with the command line on top."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def __call__(self, directory: str, names: Collection[str]) -> Settings | None:
        settings = settings_below(directory, names)
        return overridden(settings, self._options) if settings is not None else None


def _written(result: CheckResult, settings: Settings, options: argparse.Namespace) -> ExitStatus:
    """Write the findings and failures; the exit status that they mean."""
    if not options.silent:
        _write(_rendered(result, settings, options), options.output_file)
    for failure in result.failures:
        report_failure(failure)
    if result.failures:
        return ExitStatus.FAILURE
    failing = any(diagnostic.severity >= settings.fail_on for diagnostic in result.diagnostics)
    return ExitStatus.FINDINGS if failing and not options.exit_zero else ExitStatus.CLEAN


def _rendered(result: CheckResult, settings: Settings, options: argparse.Namespace) -> str:
    from nonstrict.report.context import Context, Lines

    context = Context(
        lines=Lines(result.read),
        files=result.files,
        failures=result.failures,
        color=options.output_file is None and use_color(options.color, sys.stdout),
        counts=not options.quiet,
    )
    return _text(result.diagnostics, context, settings.output_format, options)


def _text(diagnostics: Sequence[Diagnostic], context: Context, output_format: str, options: argparse.Namespace) -> str:
    from nonstrict.report.context import renderer

    if options.statistics:
        from nonstrict.report.statistics import render_statistics

        return render_statistics(diagnostics, context, as_json=output_format.startswith("json"))
    text = renderer(output_format)(diagnostics, context)
    on_actions = os.environ.get("GITHUB_ACTIONS") == "true"
    if on_actions and output_format == "full" and options.output_file is None:
        text += renderer("github")(diagnostics, context)
    return text


def _write(text: str, path: str | None) -> None:
    """Write to a file, or to standard output whatever it can encode."""
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _misconfigured(error: ConfigurationError, options: argparse.Namespace) -> ExitStatus:
    """NST903 in the format that was asked for, or a sentence where no file is to blame."""
    if not error.diagnostics or options.silent:
        return report_failure(str(error))
    from nonstrict.report.context import Context, Lines

    color = options.output_file is None and use_color(options.color, sys.stdout)
    context = Context(Lines(_configuration_lines(error.diagnostics)), failures=(str(error),), color=color, counts=False)
    output_format = options.output_format or os.environ.get("NONSTRICT_OUTPUT_FORMAT") or "full"
    options.statistics = False
    _write(_text(error.diagnostics, context, output_format, options), options.output_file)
    return report_failure("The configuration is not valid; nothing was checked.")


def _configuration_lines(diagnostics: Sequence[Diagnostic]) -> Mapping[str, Source]:
    """The configuration files, as sources for code frames."""
    from nonstrict.text.source import Source, SourceKind

    sources: dict[str, Source] = {}
    for path in {diagnostic.location.path for diagnostic in diagnostics}:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        sources[path] = Source(path, SourceKind.PYTHON, text, text)
    return sources


def _show_settings(settings: Settings) -> ExitStatus:
    from nonstrict.cli.config import shown_settings

    sys.stdout.write(shown_settings(settings))
    return ExitStatus.CLEAN


def _show_files(settings: Settings, options: argparse.Namespace) -> ExitStatus:
    from nonstrict.check.files import discover

    nested = _Nested(options) if nested_settings(options) else None
    discovery = discover([path for path in options.paths if path != "-"], settings, nested)
    _write("".join(f"{path}\n" for path in discovery.files), None)
    for path, reason in discovery.failures:
        report_failure(f"{path}: {reason}")
    return ExitStatus.FAILURE if discovery.failures else ExitStatus.CLEAN


def _tell(result: CheckResult, settings: Settings, seconds: float) -> None:
    """What `--verbose` adds."""
    from nonstrict.check.environment import environment_of

    torch = environment_of(settings).torch_version
    sys.stderr.write(
        f"configuration: {settings.source or 'none'}\n"
        f"torch: {torch or 'not found; the newest version known is assumed'}\n"
        f"files: {result.files:,}{' (answered from the cache)' if result.cached else ''}\n"
        f"time: {seconds:.2f} s\n"
    )


if TYPE_CHECKING:
    from nonstrict.report.context import Context
