"""Diagnostics of the analysis as diagnostics of the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict.findings import Severity, Status
from nonstrict.report import sightings
from nonstrict.report.verdicts import sentence, tag
from nonstrict.rules.base import Tag
from nonstrict.rules.registry import RULES
from nonstrict_server.positions import Places, range_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, Verdict

SOURCE = "nonstrict"
_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
_TAGS = {Tag.UNNECESSARY: [lsp.DiagnosticTag.Unnecessary], Tag.DEPRECATED: [lsp.DiagnosticTag.Deprecated]}


def converted(
    diagnostic: Diagnostic, places: Places, related: Sequence[tuple[str, Places]] | None = None
) -> lsp.Diagnostic:
    """A diagnostic of the protocol; `related` are addresses and ranges of `Diagnostic.related`, if they are shown."""
    rule = RULES.get(diagnostic.code)
    information = None
    if related:
        information = [
            lsp.DiagnosticRelatedInformation(lsp.Location(uri, range_of(where)), one.message)
            for one, (uri, where) in zip(diagnostic.related, related, strict=True)
        ]
    return lsp.Diagnostic(
        range=range_of(places),
        message=message_of(diagnostic),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=lsp.CodeDescription(rule.url) if rule is not None else None,
        source=SOURCE,
        tags=_tags(diagnostic),
        related_information=information,
        data=_data(diagnostic),
    )


def message_of(diagnostic: Diagnostic) -> str:
    """The message, what comes of it, what to do, what an experiment said and what a run did, each on its own line."""
    lines = [diagnostic.message]
    if diagnostic.note:
        lines.append(f"note: {diagnostic.note}")
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    if diagnostic.verdict is not None:
        lines.append(verdict_line(diagnostic.verdict, diagnostic.function))
    if diagnostic.sighting is not None:
        lines.append(sightings.sentence(diagnostic))
    return "\n".join(lines)


def _tags(diagnostic: Diagnostic) -> list[lsp.DiagnosticTag] | None:
    """How a diagnostic is drawn: what a run did before the code was edited, as what is there for nothing."""
    if diagnostic.observed and diagnostic.sighting is not None and diagnostic.sighting.stale:
        return [lsp.DiagnosticTag.Unnecessary]
    rule = RULES.get(diagnostic.code)
    return _TAGS.get(rule.tag) if rule is not None else None


def _data(diagnostic: Diagnostic) -> dict[str, str]:
    """What clients of ours go by."""
    told = {"name": diagnostic.name, "function": diagnostic.function, "marker": diagnostic.marker}
    return told if diagnostic.verdict is None else {**told, "verdict": diagnostic.verdict.status.value}


def verdict_line(verdict: Verdict, function: str) -> str:
    """`[confirmed] on torch 2.13.0 / cpu / inductor in 0.9 s: ...`."""
    said = sentence(verdict, function).removeprefix(verdict.status.value).lstrip(": ")
    return f"[{tag(verdict)}] {said}".rstrip()


def with_verdict(diagnostic: Diagnostic, verdict: Verdict | None) -> Diagnostic:
    """A diagnostic with its verdict; a refuted one counts one level less."""
    if verdict is None:
        return diagnostic
    severity = diagnostic.severity.lowered() if verdict.status is Status.REFUTED else diagnostic.severity
    return diagnostic._replace(verdict=verdict, severity=severity)
