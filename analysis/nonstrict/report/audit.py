"""`nonstrict audit` for people: obstacles under headings by family, then what was not looked into, then the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Severity
from nonstrict.report.context import renderer
from nonstrict.report.records import records
from nonstrict.report.style import Style, one_line, shown_position
from nonstrict.report.summary import plural
from nonstrict.rules.purity import FAMILIES, family

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.findings import Diagnostic, Location, RelatedLocation
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import AuditRecord
    from nonstrict.text.source import Source

#: So many places that were not looked into are listed; the rest is counted.
_LISTED = 20


class Audited(NamedTuple):
    """The answer about one function.

    `verdict` is `pure`, `obstacles` or `unknown`; `unseen` is what was not looked into, `hidden` the number of
    findings that settings or suppressions leave out. `lost` is what faults of nonstrict lost (NST904).
    """

    function: str
    marker: str
    location: Location
    verdict: str
    diagnostics: tuple[Diagnostic, ...]
    unseen: tuple[RelatedLocation, ...]
    hidden: int
    sources: Mapping[str, Source]
    lost: tuple[Diagnostic, ...] = ()

    @property
    def obstacles(self) -> tuple[Diagnostic, ...]:
        """The findings that are more than a note."""
        return tuple(found for found in self.diagnostics if found.severity > Severity.NOTE)


def render(audited: Audited, output_format: str, context: Context) -> str:
    """The answer in `full` or `json`; other formats hold the findings only."""
    if output_format == "json":
        import json

        return json.dumps(record_of(audited, context), indent=2) + "\n"
    if output_format != "full":
        return renderer(output_format)((*audited.diagnostics, *audited.lost), context)
    return "".join(f"{line}\n" for line in _lines(audited, context))


def record_of(audited: Audited, context: Context) -> AuditRecord:
    """The answer as a JSON object."""
    return {
        "function": audited.function,
        "filename": context.absolute(audited.location.path),
        "location": {"row": audited.location.row, "column": audited.location.column},
        "marker": audited.marker,
        "verdict": audited.verdict,
        "findings": [
            {"family": family(found["code"]), **found}
            for found in records((*audited.diagnostics, *audited.lost), context)
        ],
        "not_looked_into": [
            {
                "filename": context.absolute(unseen.location.path),
                "cell": unseen.location.cell,
                "location": {"row": unseen.location.row, "column": unseen.location.column},
                "message": unseen.message,
            }
            for unseen in audited.unseen
        ],
        "hidden": audited.hidden,
    }


def _lines(audited: Audited, context: Context) -> Iterator[str]:
    style = Style(context.color)
    yield from _findings(audited, context, style)
    if audited.unseen:
        yield style.paint("bold", "not analyzed")
        for unseen in audited.unseen[:_LISTED]:
            yield f"  {_position(unseen.location)}: {one_line(unseen.message)}"
        if len(audited.unseen) > _LISTED:
            yield f"  and {plural(len(audited.unseen) - _LISTED, 'more place')}"
        yield ""
    yield _answer(audited, style)
    if audited.hidden:
        count = plural(audited.hidden, "finding")
        yield f"{count} left out: suppressed in the code, or not selected in the settings."


def _findings(audited: Audited, context: Context, style: Style) -> Iterator[str]:
    groups: dict[str, list[Diagnostic]] = {}
    for diagnostic in (*audited.diagnostics, *audited.lost):
        groups.setdefault(family(diagnostic.code), []).append(diagnostic)
    blocks = renderer("full")
    for heading in (*FAMILIES.values(), "other"):
        if heading in groups:
            yield style.paint("bold", heading)
            yield ""
            yield blocks(groups[heading], context._replace(counts=False)).rstrip("\n")
            yield ""


def _answer(audited: Audited, style: Style) -> str:
    name = f"`{audited.function}` ({_position(audited.location)})"
    obstacles = audited.obstacles
    notes = len(audited.diagnostics) - len(obstacles)
    unseen = plural(len(audited.unseen), "place")
    were = "was" if len(audited.unseen) == 1 else "were"
    if audited.verdict == "obstacles":
        count = style.paint("error", plural(len(obstacles), "obstacle"))
        rest = f"; {unseen} {were} not analyzed" if audited.unseen else ""
        return f"{name}: {count} to marking it with `{audited.marker}`{rest}."
    worth = f" {plural(notes, 'note')} above: true, and harmless as things are." if notes else ""
    if audited.verdict == "unknown":
        found = style.paint("warning", "no obstacle found")
        if audited.lost:
            return f"{name}: {found} to marking it with `{audited.marker}`, but not everything was checked.{worth}"
        return f"{name}: {found} to marking it with `{audited.marker}`, but {unseen} {were} not analyzed.{worth}"
    return f"{name}: {style.paint('note', 'pure')}: safe to mark with `{audited.marker}`.{worth}"


def _position(location: Location) -> str:
    return shown_position(location.path, location.row, location.column, location.cell)
