"""From findings to diagnostics: selection, severities, suppressions, positions, order."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import Faults, beginning, told_of
from nonstrict.check.selection import Selection, codes_by_name
from nonstrict.findings import (
    INTERNAL_FAULT,
    UNUSED_SUPPRESSION,
    Applicability,
    Diagnostic,
    Finding,
    LocatedEdit,
    LocatedFix,
    Location,
    Output,
    Related,
    RelatedLocation,
)
from nonstrict.text.hints import may_suppress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.check.analysis import Analysis
    from nonstrict.findings import Span
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source
    from nonstrict.text.suppressions import Suppressions

_MAX_OTHER_FUNCTIONS = 5


class _Unused(NamedTuple):
    """A suppression that suppresses nothing, or those of its `codes` that do not; whether rules have these names."""

    finding: Finding
    codes: frozenset[str]
    known: bool


class Presenter:
    """Turns what the analysis found into what users see, as their settings ask.

    `nested` maps files below a further configuration file to its settings.
    """

    def __init__(self, settings: Settings, nested: Mapping[str, Settings]) -> None:
        """Resolve the selectors of all settings.

        Raises:
            ConfigurationError: a selector selects no rule.
        """
        from nonstrict.rules.registry import RULES

        self._rules = RULES
        self._faults = Faults()
        self._main = self._selection(settings)
        own = {id(other): self._selection(other) for other in nested.values()}
        self._nested = {path: own[id(other)] for path, other in nested.items()}

    def _selection(self, settings: Settings) -> Selection:
        """What some settings say of every rule; all rules where that cannot be told."""
        subject = "the selection of rules, all of which are reported,"
        with self._faults.losing("was not read", subject, beginning(settings.source or os.curdir)):
            return Selection(settings, self._rules)
        return Selection.of_everything(self._rules)

    @cached_property
    def _codes(self) -> Mapping[str, str]:
        """The codes of rules by the names that suppressions use."""
        return codes_by_name(self._rules)

    def diagnostics(self, analysis: Analysis, overlays: Mapping[str, Source] | None = None) -> tuple[Diagnostic, ...]:
        """The diagnostics of an analysis, in the order of files and lines; `overlays` are the sources of some files."""
        texts = _Texts({**(overlays or {}), **analysis.sources})
        by_file: dict[str, list[Finding]] = {path: [] for path in analysis.sources}
        for finding in analysis.findings:
            by_file.setdefault(finding.span.path, []).append(finding)
        found = [self._located(fault, self._main, texts) for fault in self._faults.found]
        for path in sorted(by_file):
            found += self._of_file(path, by_file[path], texts)
        return tuple(sorted(found, key=in_order))

    def of_file(
        self, path: str, findings: list[Finding], sources: Mapping[str, Source], *, settled: bool = True
    ) -> tuple[Diagnostic, ...]:
        """The diagnostics of one file, in the order of lines.

        `sources` holds its own source, and those of further files that the findings point to. Unless all is `settled`,
        suppressions that suppress nothing yet are not told.
        """
        found = self._of_file(path, findings, _Texts(sources))
        told = (diagnostic for diagnostic in found if settled or diagnostic.code != UNUSED_SUPPRESSION)
        return tuple(sorted(told, key=in_order))

    def _of_file(self, path: str, findings: list[Finding], texts: _Texts) -> Iterator[Diagnostic]:
        """The diagnostics of one file."""
        selection = self._nested.get(path, self._main)
        faults = Faults()
        ignored: frozenset[str] = frozenset()
        suppressions = None
        with faults.losing("was not read", "what `per-file-ignores` says of the file", beginning(path)):
            ignored = selection.ignored_in(path)
        with faults.losing("were not read", "the suppressions", beginning(path)):
            if not selection.ignores_suppressions:
                suppressions = texts.suppressions(path, self._codes, found=bool(findings))
        for finding in (*findings, *faults.found):
            told = True
            try:
                told = _is_reported(finding, selection, ignored, suppressions)
            except Exception as error:  # noqa: BLE001 - the boundary of one finding, which is reported then
                yield told_of(error, f"whether {finding.code} is reported was not decided", bare(finding.span))
            if told:
                yield self._located(finding, selection, texts)
        if suppressions is None or not selection.enabled(UNUSED_SUPPRESSION) or UNUSED_SUPPRESSION in ignored:
            return
        faults = Faults()
        with faults.losing("were not all looked at", "the suppressions", beginning(path)):
            yield from self._idle(suppressions, selection, texts)
        for fault in faults.found:
            yield self._located(fault, selection, texts)

    def _idle(self, suppressions: Suppressions, selection: Selection, texts: _Texts) -> Iterator[Diagnostic]:
        """NST902 of the comments of a file."""
        for span, word in suppressions.unknown:
            if not suppressions.covers(UNUSED_SUPPRESSION, span.line, span.end_line):
                yield self._located(self._misspelled(span, word), selection, texts)
        for span, codes in suppressions.unused():
            unused = self._unused(span, codes, selection)
            if unused is not None and not suppressions.covers(UNUSED_SUPPRESSION, span.line, span.end_line):
                located = self._located(unused.finding, selection, texts)
                yield self._removable(located, unused, selection, texts)

    def _unused(self, span: Span, codes: Iterable[str], selection: Selection) -> _Unused | None:
        """What of a suppression suppresses nothing; None if it is of rules that this run leaves out."""
        named = sorted(codes)
        unknown = [code for code in named if not any(rule.startswith(code) for rule in self._rules)]
        idle = [code for code in named if any(selection.enabled(rule) for rule in self._rules if rule.startswith(code))]
        if unknown:
            message = f"no rule is called {_quoted(unknown)}"
            advice = "correct the name; `nonstrict rule --all` lists the rules"
        elif named and not idle:
            return None
        else:
            what = f" of {_quoted(idle)}" if idle else ""
            message = f"this suppression{what} suppresses nothing"
            advice = f"remove {_quoted(idle)} from the comment" if idle else "remove the comment"
        finding = Finding(UNUSED_SUPPRESSION, self._rules[UNUSED_SUPPRESSION].severity, span, message, help=advice)
        return _Unused(finding, frozenset(unknown or idle), known=not unknown)

    def _misspelled(self, span: Span, word: str) -> Finding:
        """NST902 on a comment that begins as a directive does, and is none."""
        from nonstrict.text.directives import advice_on

        message, advice = advice_on(word)
        return Finding(UNUSED_SUPPRESSION, self._rules[UNUSED_SUPPRESSION].severity, span, message, help=advice)

    def _removable(self, told: Diagnostic, unused: _Unused, selection: Selection, texts: _Texts) -> Diagnostic:
        """NST902 with the fix that removes what suppresses nothing; a name that no rule has may be a slip."""
        source = texts.source(told.location.path)
        if source is None or not selection.fixable(UNUSED_SUPPRESSION):
            return told
        from nonstrict.fixes.suppressing import remove_suppression

        edit = remove_suppression(source, told.location, unused.codes, self._codes)
        applicability = Applicability.SAFE if unused.known else Applicability.UNSAFE
        return told._replace(fixes=(LocatedFix("Remove the unused suppression", applicability, (edit,)),))

    def _located(self, finding: Finding, selection: Selection, texts: _Texts) -> Diagnostic:
        """A finding as users see it; NST904 in place of one that cannot be shown."""
        try:
            return self._shown(finding, selection, texts)
        except Exception as error:  # noqa: BLE001 - the boundary of one finding
            lost = finding.message if finding.code == INTERNAL_FAULT else f"a finding of {finding.code} is not shown"
            return told_of(error, lost, bare(finding.span))

    def _shown(self, finding: Finding, selection: Selection, texts: _Texts) -> Diagnostic:
        rule, cause = self._rules.get(finding.code), finding.cause
        related = (*finding.related, *_ways(finding))
        return Diagnostic(
            finding.code,
            rule.name if rule is not None else finding.code.lower(),
            selection.severity(finding.code, finding.severity),
            texts.locate(finding.span),
            finding.message,
            finding.help,
            finding.note,
            finding.function,
            finding.marker,
            tuple(RelatedLocation(texts.locate(span), message) for span, message in related),
            finding.links,
            subject=cause.subject if cause is not None else None,
            fixes=tuple(
                LocatedFix(
                    fix.title,
                    fix.applicability,
                    tuple(LocatedEdit(texts.locate(edit.span), edit.text) for edit in fix.edits),
                )
                for fix in (finding.fixes if selection.fixable(finding.code) else ())
            ),
            gives_up=finding.gives_up,
            hidden=finding.hidden,
            observed=finding.observed,
            output=cause.output if cause is not None else Output.NONE,
            about=finding.about,
            others=tuple((function, texts.locate(marker)) for function, marker in finding.others),
        )


def _ways(finding: Finding) -> list[Related]:
    """Which functions that are marked elsewhere come to the place of a finding; the first ones of many."""
    others: dict[str, Span] = {}
    own = finding.marked_at
    for function, marker in finding.others:
        if function and function != finding.function and marker != own:
            others.setdefault(function, marker)
    told = [Related(marker, f"also reached from `{function}`, marked here") for function, marker in others.items()]
    return told[:_MAX_OTHER_FUNCTIONS]


def _is_reported(
    finding: Finding, selection: Selection, ignored: frozenset[str], suppressions: Suppressions | None
) -> bool:
    """Whether a finding is selected and not suppressed.

    What was lost is told in any case: a run must not look whole without it.
    """
    code, span = finding.code, finding.span
    if code == INTERNAL_FAULT:
        return True
    if not selection.enabled(code) or code in ignored:
        return False
    return suppressions is None or not suppressions.covers(code, span.line, span.end_line)


class _Texts:
    """The sources of an analysis, and of further files that findings point to."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources: dict[str, Source | None] = dict(sources)

    def source(self, path: str) -> Source | None:
        """The source of a file, None if it can no longer be read."""
        if path not in self._sources:
            from nonstrict.text.source import read_source

            try:
                self._sources[path] = read_source(path)
            except Exception:  # noqa: BLE001 - told where the file is read as code
                self._sources[path] = None
        return self._sources[path]

    def locate(self, span: Span) -> Location:
        """The position for users; the bare numbers where the file is gone."""
        source = self.source(span.path)
        return bare(span) if source is None else source.locate(span)

    def suppressions(self, path: str, codes: Mapping[str, str], *, found: bool) -> Suppressions | None:
        """The suppressions of a file, None if it has none that matter."""
        source = self.source(path)
        if source is None or not may_suppress(source.text, found=found):
            return None
        from nonstrict.text.suppressions import suppressions

        return suppressions(source, codes)


def bare(span: Span) -> Location:
    """The place of a span by its numbers alone."""
    return Location(span.path, span.line, span.column + 1, span.end_line, span.end_column + 1)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def in_order(diagnostic: Diagnostic) -> tuple[str, int, int, int, str]:
    """By which diagnostics are sorted: files, lines, codes."""
    where = diagnostic.location
    return where.path, where.cell or 0, where.row, where.column, diagnostic.code
