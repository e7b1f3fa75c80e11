"""Breaks of the graph that torch told in an experiment and that no finding names, as findings of their own (NST701)."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.diagnostics import bare
from nonstrict.confirm.suspects import code_line
from nonstrict.findings import Finding, Outcome, Related, Severity, Span, Status, Verdict
from nonstrict.rules.registry import RULES
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.diagnostics import Presenter
    from nonstrict.findings import Break, Diagnostic, FallBack, Line, Location, Measured
    from nonstrict.text.source import Source

_CODE = "NST701"
_LONGEST = 60


class Seen(NamedTuple):
    """A break, and the region in which it was seen."""

    region: Measured
    broken: Break

    @property
    def place(self) -> Line:
        """The innermost line of the project that leads there."""
        return self.broken.lines[-1]


class Reported(NamedTuple):
    """What a check reports, which the findings of runs are held against and shown like.

    `sources` are those of the files that the diagnostics lie in, by path; `presenter` applies settings and
    suppressions.
    """

    diagnostics: Sequence[Diagnostic]
    sources: Mapping[str, Source]
    presenter: Presenter


def observed(measured: Iterable[Measured], reported: Reported, circumstances: Verdict) -> tuple[Diagnostic, ...]:
    """The breaks on lines of which no finding speaks, as their settings and suppressions let them show.

    One for each place. `circumstances` is a verdict of the same experiments.
    """
    texts = dict(reported.sources)
    found: list[Diagnostic] = []
    for seen, finding in broken_at(measured, reported.diagnostics, texts):
        verdict = circumstances._replace(
            status=Status.CONFIRMED,
            reason="",
            evidence=f"observed, not predicted by a rule: {seen.broken.told or seen.broken.text}",
            outcomes=tuple(Outcome(name, "graph-break") for name in seen.region.backends),
            seconds=0.0,
            repro="",
            files=(),
        )
        shown = reported.presenter.of_file(finding.span.path, [finding], texts, settled=False)
        found += (one._replace(verdict=verdict) for one in shown if one.code == _CODE)
    return tuple(found)


def broken_at(
    measured: Iterable[Measured], diagnostics: Iterable[Diagnostic], texts: dict[str, Source]
) -> Iterator[tuple[Seen, Finding]]:
    """The breaks on lines of which none of the `diagnostics` speaks, as findings: one for each place."""
    named = named_lines(diagnostics, texts)
    for seen in _one_of_each(measured, named, texts):
        source = source_of(seen.place.path, texts)
        if source is not None:
            yield seen, _finding(seen, source, texts)


def named_lines(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> frozenset[tuple[str, int]]:
    """The lines of analysed code, with their absolute paths, of which findings speak; the tool's own do not count."""
    rules = ((one, RULES.get(one.code)) for one in diagnostics)
    about = (one for one, rule in rules if rule is not None and rule.examine is not None)
    return frozenset(line for one in about for line in lines_of(one, sources))


def lines_of(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> frozenset[tuple[str, int]]:
    """The lines of analysed code that a finding covers, with the absolute path of their file."""
    where = diagnostic.location
    start, path = code_line(where, sources), os.path.abspath(where.path)
    return frozenset((path, start + n) for n in range(max(1, where.end_row - where.row + 1)))


def location_of(line: Line, texts: dict[str, Source]) -> Location:
    """Where users see a line that torch named; the bare numbers where the file is gone. Reads what `texts` lack."""
    source = source_of(line.path, texts)
    if source is None:
        return bare(Span(line.path, line.line, max(0, line.column), line.line, max(0, line.end_column)))
    return source.locate(span_of(source, line))


def _one_of_each(
    measured: Iterable[Measured], named: frozenset[tuple[str, int]], texts: dict[str, Source]
) -> Iterator[Seen]:
    """The breaks that neither a finding nor an error of eager code explains; of one statement the first."""
    known: set[tuple[str, Span]] = set()
    for region in measured:
        for broken in region.breaks:
            seen = Seen(region, broken)
            if broken.explained or broken.fails_in_eager:
                continue
            source = source_of(seen.place.path, texts)
            if source is None:
                continue
            key = path, span = seen.place.path, span_of(source, seen.place)
            lines = {(path, line) for line in (seen.place.line, *range(span.line, span.end_line + 1))}
            if key not in known and named.isdisjoint(lines):
                known.add(key)
                yield seen


def source_of(path: str, texts: dict[str, Source]) -> Source | None:
    """The source of a file, given as an absolute path, by whatever path it was read; None if it cannot be."""
    from nonstrict.text.source import UnreadableSource, read_source

    known = next((source for name, source in texts.items() if os.path.abspath(name) == path), None)
    if known is None:
        try:
            known = texts[path] = read_source(_as_users_write(path))
        except UnreadableSource:
            return None
    return known


def _as_users_write(path: str) -> str:
    """The path as findings show it: relative, below the directory that the program runs in."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def _finding(seen: Seen, source: Source, texts: dict[str, Source]) -> Finding:
    span = span_of(source, seen.place)
    broken, region = seen.broken, seen.region
    message = f"torch breaks the graph at `{_text(source, span)}`{f' ({broken.id})' if broken.id else ''}"
    fate = f"compilation of `{region.function}` fails" if broken.raises else _afterwards(seen)
    return Finding(
        code=_CODE,
        severity=Severity.ERROR if broken.raises else Severity.WARNING,
        span=span,
        message=message,
        note="; ".join(filter(None, (broken.type, fate))),
        help=broken.hint,
        function=region.function,
        marker="compiled",
        related=tuple(_way(broken, texts)),
        gives_up=left_after(seen.broken, seen.region.fallbacks) is not None,
        observed=True,
    )


def left_after(broken: Break, fallbacks: Iterable[FallBack]) -> FallBack | None:
    """What torch left to plain Python after a break."""
    lines = {(line.path, line.line) for line in broken.lines}
    return next((one for one in fallbacks if (one.path, one.at) in lines), None)


def _afterwards(seen: Seen) -> str:
    left = left_after(seen.broken, seen.region.fallbacks)
    if left is None:
        return f"the graph of `{seen.region.function}` is left here"
    what = f"the rest of `{left.function}` is not" if left.rest else f"nothing of `{left.function}` is"
    return f"torch does not resume after it: {what} compiled"


def _way(broken: Break, texts: dict[str, Source]) -> Iterator[Related]:
    """The calls that lead to a break."""
    for line in broken.lines[:-1]:
        source = source_of(line.path, texts)
        if source is not None:
            yield Related(span_of(source, line), "the region comes through here")


def span_of(source: Source, line: Line) -> Span:
    """The expression that torch was at, else the statement of the line, else the line."""
    try:
        tree = tree_of(source.code, path=source.path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _whole_line(source, line)
    at = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _is_at(node, line)]
    if at:
        # The outermost of those that begin and end there.
        return _of_node(source, max(at, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0)))
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _covers(node, line.line))
    statement = max(statements, key=lambda node: node.lineno, default=None)
    return _whole_line(source, line) if statement is None or _has_body(statement) else _of_node(source, statement)


def _is_at(node: ast.expr, line: Line) -> bool:
    ends = line.end_column in (-1, node.end_col_offset)
    return (line.line, line.column) in _starts(node) and ends


def _starts(node: ast.expr) -> Iterator[tuple[int, int]]:
    """Where Python says that an expression begins: a method that is called on a line of its own, at its name."""
    yield node.lineno, node.col_offset
    named = node.func if isinstance(node, ast.Call) else node
    if isinstance(named, ast.Attribute) and named.end_lineno != named.value.end_lineno:
        yield named.end_lineno or 0, (named.end_col_offset or 0) - len(named.attr.encode())


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _has_body(node: ast.stmt) -> bool:
    return bool(getattr(node, "body", None))


def _of_node(source: Source, node: ast.expr | ast.stmt) -> Span:
    end_line = node.end_lineno or node.lineno
    return Span(source.path, node.lineno, node.col_offset, end_line, node.end_col_offset or node.col_offset)


def _whole_line(source: Source, line: Line) -> Span:
    lines = source.code.split("\n")
    text = lines[line.line - 1] if line.line <= len(lines) else ""
    start = len(text) - len(text.lstrip())
    return Span(source.path, line.line, start, line.line, len(text.rstrip().encode("utf-8", "surrogatepass")))


def _text(source: Source, span: Span) -> str:
    """What stands at a span, in one line and not too long."""
    lines = source.code.split("\n")[span.line - 1 : span.end_line]
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    tail = len(lines[-1].encode("utf-8", "surrogatepass")) - span.end_column if lines else 0
    text = " ".join(raw[span.column : len(raw) - tail].decode("utf-8", "replace").split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
