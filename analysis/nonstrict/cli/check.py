"""`nonstrict check`: checks files and says what was found."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import Losses, sentences, told_of
from nonstrict.check.run import CheckResult, RunOptions, check
from nonstrict.cli.check_arguments import add_check_arguments
from nonstrict.cli.configuration import main_settings, nested_settings
from nonstrict.cli.confirming import confirmed, trusting
from nonstrict.cli.failure import report_failure
from nonstrict.cli.misuse import refuse_hidden_notes, refuse_misuse, refuse_other_torch
from nonstrict.cli.overrides import format_of_environment, overridden
from nonstrict.cli.rendering import rendered
from nonstrict.cli.reporting import Aside, renderer_of, reported, text_of, write
from nonstrict.cli.status import ExitStatus
from nonstrict.cli.terminal import Progress, use_color
from nonstrict.cli.wanted import details_wanted, least_wanted
from nonstrict.findings import UNEXPLAINED, Location, Severity
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.cache.held import Held
    from nonstrict.check.fixing import Fixed
    from nonstrict.cli.fixing import StandardInput
    from nonstrict.cli.since import Since
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


#: Options whose value is optional, and joined to them with `=`.
VALUE_OPTIONAL = frozenset({"--add-ignore", "--write-baseline"})


class Once(NamedTuple):
    """What a run told, the exit status that it means, and the settings that held; None where they cannot be read."""

    status: int
    result: CheckResult = CheckResult((), 0, (), {})
    settings: Settings | None = None


#: What is said besides the findings about the configuration.
_INVALID = "The configuration is not valid; nothing was checked."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_check_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check, report, and say by the exit status how it went."""
    if options.watch:
        from nonstrict.cli.watch import watched

        return watched(options, once)
    return once(options).status


def once(options: argparse.Namespace) -> Once:
    """The same, with what was told."""
    started = time.perf_counter()
    run: _Run | None = None
    settings: Settings | None = None
    losses = Losses()
    try:
        refuse_misuse(options)
        settings = overridden(_main_settings(options, losses), options)
        if options.show_settings:
            return Once(_show_settings(settings))
        if options.show_files:
            return Once(_show_files(settings, options))
        if options.confirm and not options.cluster:
            refuse_other_torch(settings, trusting(options))
        refuse_hidden_notes(settings, options)
        run = _Run(settings, options, losses)
        status = run.status()
    except ConfigurationError as error:
        failures = (_INVALID if error.diagnostics else str(error),)
        return Once(_misconfigured(error, options), CheckResult(error.diagnostics, 0, failures, {}))
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of the run; what it found by then is written
        return _broken(error, options, run.result if run is not None else None)._replace(settings=settings)
    result = run.result or CheckResult((), 0, (), {})
    if options.verbose and run.result is not None:
        _tell(result, settings, time.perf_counter() - started)
    return Once(status, result, settings)


def _main_settings(options: argparse.Namespace, losses: Losses) -> Settings:
    """The settings of the project; the defaults for a run that only reports, where a mistake of ours hides them.

    No file is changed then: which of them are excluded, and what the baseline knows, is not known.
    """
    if options.show_settings or options.show_files or _changes(options):
        return main_settings(_places(options), options)
    with losses.losing("the configuration was not read, so the defaults apply", _top(options)):
        return main_settings(_places(options), options)
    return default_settings(os.getcwd())._replace(baseline="")


def _changes(options: argparse.Namespace) -> bool:
    """Whether a run is asked to change files."""
    asked = options.add_ignore is not None or options.write_baseline is not None
    return asked or bool(options.fix) or bool(options.fix_only)


def _top(options: argparse.Namespace) -> str:
    """What was named first: the place of what is said of the whole run."""
    return next((path for path in options.paths if path != "-"), os.curdir)


class _Run:
    """One run: what is checked, what of it the baseline knows, and what is done about the rest."""

    def __init__(self, settings: Settings, options: argparse.Namespace, losses: Losses) -> None:
        """Read standard input and the baseline, ask git; what nonstrict's own mistakes lose is added to `losses`."""
        from nonstrict.cli.known import Known

        self._settings = settings
        self._options = options
        self._input = _standard_input(options)
        self._losses = losses
        self._known = Known(settings, options, self._losses)
        self._since = _since(settings, options)
        self._rounds = _rounds(settings, options)
        self._saved = False
        self._notes = 0
        self.result: CheckResult | None = None

    def status(self) -> int:
        """Do what the options ask for; the exit status that it means."""
        options, settings = self._options, self._settings
        if options.add_ignore is not None:
            return self._suppressed()
        if options.write_baseline is not None:
            self.result = result = self._confirmed(self._examine({}))
            written = self._known.write(result)
            return self._reported(result) if written is None else written
        # The files may hold something else than is staged, so that none is changed, also where the settings fix.
        if (settings.fix or settings.fix_only or options.diff) and not options.staged:
            return self._fixed()
        self.result = result = self._examine({})
        return self._reported(result)

    def _examine(self, overlays: Mapping[str, Source]) -> CheckResult:
        if self._options.staged and self._since is not None:
            return self._since.staged(least_wanted(self._settings, self._options))
        held = self._rounds or self._options.held
        result = _checked(self._settings, self._options, self._input, overlays, held)
        if self._rounds is not None and self._input is None and not overlays and not self._saved:
            self._saved = True
            self._rounds.save()
        return result

    def _caused(self, result: CheckResult) -> CheckResult:
        """A result with the findings that the change caused, if that is asked."""
        return result if self._since is None else result._replace(diagnostics=self._since.caused(result))

    def _known_new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The findings of a result that neither the baseline holds nor an earlier state had."""
        new = self._known.new(result)
        if self._since is None:
            return new
        caused = frozenset(self._since.caused(result))
        return tuple(diagnostic for diagnostic in new if diagnostic in caused)

    def _confirmed(self, result: CheckResult) -> CheckResult:
        if self._options.confirm:
            with self._losses.losing("nothing was confirmed", _top(self._options)):
                return confirmed(result, self._settings, self._options)
            # Questions that were not answered are no findings.
            return result._replace(diagnostics=tuple(one for one in result.diagnostics if one.code != UNEXPLAINED))
        return result

    def _fixed(self) -> int:
        """Fix, then report what is left, if that is wanted."""
        from nonstrict.cli.fixing import fixed, told

        options, settings = self._options, self._settings
        done = self._changed(lambda: fixed(self._examine, self._new, settings, self._input))
        if not options.diff and not settings.fix_only:
            return self._reported(done.result, done)
        text = told(done, self._new(done.result), settings, would=options.diff)
        return self._closed(done, text, failing=bool(done.fixed) and (options.diff or options.exit_non_zero_on_fix))

    def _suppressed(self) -> int:
        """Suppress everything that is reported."""
        from nonstrict.cli.fixing import suppressed
        from nonstrict.report.summary import plural

        options = self._options
        reason = " ".join(options.add_ignore.split())
        done = self._changed(lambda: suppressed(self._examine, self._new, reason, self._input, self._losses))
        verb = "Would suppress" if options.diff else "Suppressed"
        text = f"{verb} {plural(len(done.fixed), 'finding')} in {plural(len(done.changes), 'file')}.\n"
        return self._closed(done, text, failing=options.diff and bool(done.changes))

    def _changed(self, make: Callable[[], Fixed]) -> Fixed:
        """Make changes, and write or show them; what was done then: nothing, where that went wrong."""
        from nonstrict.check.writing import CannotWrite
        from nonstrict.cli.fixing import not_done, written

        options, failures = self._options, list[str]()
        with self._losses.losing("no changes were made", _top(options)):
            try:
                done = make()
                self._losses.take(done.faults)
                written(done, options, self._input, self._losses, color=use_color(options.color, sys.stdout))
            except CannotWrite as error:
                failures.append(str(error))
            else:
                self.result = done.result
                return done
        done = not_done(self._examine({}), failures, None if options.diff else self._input)
        self.result = done.result
        return done

    def _closed(self, done: Fixed, text: str, *, failing: bool) -> ExitStatus:
        """Say in a line what was done, where nothing is reported; the status to leave with."""
        options = self._options
        if not options.silent and not options.quiet:
            stream = sys.stderr if options.diff or self._input is not None else sys.stdout
            stream.write(text)
        failures = self._losses.added_to(done.result).failures
        for failure in failures:
            report_failure(failure)
        if failures:
            return ExitStatus.FAILURE
        return ExitStatus.FINDINGS if failing and not options.exit_zero else ExitStatus.CLEAN

    def _reported(self, result: CheckResult, done: Fixed | None = None) -> int:
        """Report what the baseline does not know, with verdicts if they are asked for."""
        caused = self._caused(result)
        new = result._replace(diagnostics=self._known_new(result))
        known = len(caused.diagnostics) - len(new.diagnostics)
        new = self._without_notes(new, count=True)
        # While somebody edits, a finding may be gone for a moment.
        if self._input is None and not self._options.staged and not self._options.watch:
            new = new._replace(failures=self._known.shrink(result).failures)
        if self._options.confirm:
            new = self._confirmed(new)
            new = self._caused(new._replace(diagnostics=self._known.without_strange(new)))
        # Experiments and real runs add notes of their own.
        new = self._without_notes(self._sighted(new, result.diagnostics), count=True)
        self.result = new = self._losses.added_to(new)
        earlier = len(result.diagnostics) - len(caused.diagnostics)
        aside = Aside(done, known, earlier, self._notes, done is not None and self._input is not None)
        status = reported(new, self._settings, self._options, aside)
        return ExitStatus.INTERRUPTED if new.interrupted else status

    def _new(self, result: CheckResult) -> tuple[Diagnostic, ...]:
        """The findings that changes are made for: those that are reported."""
        return self._without_notes(result._replace(diagnostics=self._known_new(result))).diagnostics

    def _without_notes(self, result: CheckResult, *, count: bool = False) -> CheckResult:
        """A result without notes, where they are not wanted; questions for experiments are none."""
        if not self._options.no_notes:
            return result
        left = tuple(one for one in result.diagnostics if one.severity > Severity.NOTE or one.code == UNEXPLAINED)
        self._notes += (len(result.diagnostics) - len(left)) if count else 0
        return result._replace(diagnostics=left)

    def _sighted(self, new: CheckResult, known: Sequence[Diagnostic]) -> CheckResult:
        """A result with what real runs did, where there are any."""
        from nonstrict.check.kept_runs import sightings

        with self._losses.losing("results of recorded runs are not shown", _top(self._options)):
            return sightings(new, known, self._settings)
        return new


def _places(options: argparse.Namespace) -> list[str]:
    """The paths that decide which configuration counts."""
    paths = [path for path in options.paths if path != "-"]
    return [*paths, options.stdin_filename] if "-" in options.paths and options.stdin_filename else paths


def _standard_input(options: argparse.Namespace) -> StandardInput | None:
    if "-" not in options.paths:
        return None
    from nonstrict.cli.fixing import StandardInput

    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise ConfigurationError("standard input is closed. Pipe the text of a file to `nonstrict check -`.")
    return StandardInput(options.stdin_filename or "-", sys.stdin.buffer.read())


def _since(settings: Settings, options: argparse.Namespace) -> Since | None:
    """What a run is compared with, if it is."""
    if options.since is None and not options.staged:
        return None
    from nonstrict.cli.since import Since

    return Since(settings, options)


def _caches(options: argparse.Namespace) -> bool:
    """Whether a run may use the cache on the disk, which holds no questions for experiments."""
    return not options.no_cache and not options.probe


def _rounds(settings: Settings, options: argparse.Namespace) -> Held | None:
    """What the rounds of a run that changes files keep for one another: each analyses what the edits before it reach.

    None for other runs, and where no round could use it.
    """
    changes = settings.fix or settings.fix_only or options.diff or options.add_ignore is not None
    if not changes or options.probe or options.staged:
        return None
    from nonstrict.check.cache.held import Held

    return Held(disk=_caches(options))


def _checked(
    settings: Settings,
    options: argparse.Namespace,
    given: StandardInput | None,
    overlays: Mapping[str, Source],
    held: Held | None,
) -> CheckResult:
    """Run the check with what the options ask for."""
    loud = not (options.quiet or options.silent) and sys.stderr.isatty()
    progress = Progress() if loud else None
    try:
        return check(
            [path for path in options.paths if path != "-"],
            settings,
            RunOptions(
                jobs=options.jobs,
                cache=_caches(options),
                probes=options.probe,
                standard_input=given,
                nested=nested_settings(options, lambda settings: overridden(settings, options)),
                progress=progress,
                overlays=overlays,
                kept=options.kept if not overlays else None,
                held=held,
                fixes=least_wanted(settings, options),
                regions=details_wanted(settings, options),
            ),
        )
    finally:
        if progress is not None:
            progress.close()


def _misconfigured(error: ConfigurationError, options: argparse.Namespace) -> ExitStatus:
    """NST903 in the format that was asked for, or a sentence where no file is to blame."""
    if not error.diagnostics or options.silent:
        return report_failure(str(error))
    from nonstrict.report.context import Context, Lines

    color = options.output_file is None and use_color(options.color, sys.stdout)
    context = Context(Lines(_configuration_lines(error.diagnostics)), failures=(_INVALID,), color=color, counts=False)
    try:
        output_format = options.output_format or format_of_environment() or "full"
    except ConfigurationError as other:
        return report_failure(str(other))
    options.statistics = False
    write(text_of(error.diagnostics, context, output_format, options).text, options.output_file, sys.stdout)
    return report_failure(_INVALID)


def _broken(error: Exception, options: argparse.Namespace, result: CheckResult | None) -> Once:
    """NST904 in the format that was asked for, with what was found by then; sentences where no format can be had."""
    lost = "the run was not finished" if result is not None else "nothing was checked"
    found = result.diagnostics if result is not None else ()
    fault = told_of(error, lost, Location(_top(options), 1, 1, 1, 1))
    failures = (*(result.failures if result is not None else ()), *sentences([fault]))
    if not options.silent:
        from nonstrict.report.context import Context, Lines

        name = options.output_format or os.environ.get("NONSTRICT_OUTPUT_FORMAT") or "full"
        told = rendered(renderer_of(name), (*found, fault), Context(Lines({}), failures=failures, counts=False))
        write(told.text, options.output_file, sys.stdout)
        failures += told.failures
    for failure in failures:
        report_failure(failure)
    empty = CheckResult((), 0, (), {})
    return Once(ExitStatus.FAILURE, (result or empty)._replace(diagnostics=(*found, fault), failures=failures))


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

    nested = nested_settings(options, lambda settings: overridden(settings, options))
    discovery = discover([path for path in options.paths if path != "-"], settings, nested)
    write("".join(f"{path}\n" for path in discovery.files), None, sys.stdout)
    failures = [f"{path}: {reason}" for path, reason in discovery.failures]
    failures += [f"{fault.span.path}: {fault.message}. {fault.help}" for fault in discovery.faults]
    for failure in failures:
        report_failure(failure)
    return ExitStatus.FAILURE if failures else ExitStatus.CLEAN


def _tell(result: CheckResult, settings: Settings, seconds: float) -> None:
    """What `--verbose` adds."""
    from nonstrict.knowledge.releases import BASE, shown

    sys.stderr.write(
        f"configuration: {settings.source or 'none'}\n"
        f"torch: {', '.join(torch or f'not found, {shown(BASE)} is assumed' for torch in result.torches)}\n"
        f"files: {result.files:,}{' (answered from the cache)' if result.cached else ''}\n"
        f"time: {seconds:.2f} s\n"
    )
