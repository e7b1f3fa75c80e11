"""One finding for each rule where a function whose result is frozen leads to many places: it lists them.

What such a function does is not traced, so that people have it call whatever they like: hundreds of lines of a library
may be reached from one marker. What has to be decided is decided once, at the function that is marked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.check.selection import codes_by_name
from nonstrict.findings import Finding, Related, Span
from nonstrict.rules.captures import called
from nonstrict.rules.registry import RULES
from nonstrict.text.hints import may_suppress
from nonstrict.text.suppressions import suppressions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.text.source import Source
    from nonstrict.text.suppressions import Suppressions

#: Up to so many places are findings of their own.
FEW = 5
#: So many places are listed.
LISTED = 5
_MAX_TEXT = 60


def gathered(body: MarkedBody, findings: Iterable[Finding]) -> list[Finding]:
    """The findings in a body; those of one rule in many places are one, if the result of the function is frozen.

    A place with a suppression on its line remains a finding of its own: somebody decided about it.
    """
    findings = list(findings)
    if body.marker != "constant-result" or len(findings) <= FEW:
        return findings
    comments = _Comments(body)
    kept: list[Finding] = []
    by_code: dict[str, dict[Span, Finding]] = {}
    for finding in findings:
        rule = RULES.get(finding.code)
        if rule is None or not rule.gathered or comments.suppress(finding):
            kept.append(finding)
            continue
        known = by_code.setdefault(finding.code, {})
        worse = finding.span in known and known[finding.span].severity >= finding.severity
        known[finding.span] = known[finding.span] if worse else finding
    for code, places in by_code.items():
        kept += [_one_of(body, code, list(places.values()))] if len(places) > FEW else places.values()
    return kept


def _one_of(body: MarkedBody, code: str, places: list[Finding]) -> Finding:
    """What is told of all places at the marked function: how many there are, and where the first ones are."""
    places.sort(key=lambda one: (-one.severity, one.links, one.span))
    return Finding(
        code=code,
        severity=places[0].severity,
        span=_heading(body),
        message=f"`{called(body)}` leads to {len(places)} places that {RULES[code].gathered}",
        note=f"`{body.api}` runs them at the first compilation, and freezes the result",
        help=f"call `{called(body)}` outside compiled regions and pass its result, or mark a function that does less",
        function=body.function,
        marker=body.marker,
        related=tuple(_listed(body, places)),
    )


def _listed(body: MarkedBody, places: list[Finding]) -> Iterator[Related]:
    for number, finding in enumerate(places[:LISTED], 1):
        text = _text(_source(body, finding.span.path), finding.span)
        yield Related(finding.span, f"place {number} of {len(places)}" + (f": `{text}`" if text else ""))


def _heading(body: MarkedBody) -> Span:
    """From the marker to the name of the function below it; the marker alone where it is not a decorator."""
    marked, function = body.marked_at, body.mark.function
    decorators = [] if function is None else getattr(function.node, "decorator_list", [])
    if function is None or function.module.path != marked.path or not decorators:
        return marked
    first, line = decorators[0].lineno + function.offset, function.node.lineno + function.offset
    if not first <= marked.line <= marked.end_line < line:
        return marked
    source = _source(body, marked.path)
    text = source.lines_as_read[line - 1] if source is not None else ""
    end = len(text[: text.find(function.name)].encode()) + len(function.name.encode())
    return marked._replace(end_line=line, end_column=end)


def _source(body: MarkedBody, path: str) -> Source | None:
    module = body.machine.project.module(path)
    return module.source if module is not None else None


def _text(source: Source | None, span: Span) -> str:
    """The code of a span in one line, shortened."""
    if source is None:
        return ""
    lines = [line.encode() for line in source.lines_as_read[span.line - 1 : span.end_line]]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    text = " ".join(b" ".join(lines).decode(errors="replace").split())
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."


class _Comments:
    """The suppressions of the files that a body leads to, each file read once."""

    def __init__(self, body: MarkedBody) -> None:
        self._body = body
        self._codes = codes_by_name(RULES)
        self._known: dict[str, Suppressions | None] = {}

    def suppress(self, finding: Finding) -> bool:
        """Whether a comment in its file suppresses a finding."""
        path = finding.span.path
        if path not in self._known:
            source = _source(self._body, path)
            may = source is not None and may_suppress(source.text, found=True)
            self._known[path] = suppressions(source, self._codes) if source is not None and may else None
        known = self._known[path]
        return known is not None and known.covers(finding.code, finding.span.line, finding.span.end_line)
