"""`nonstrict regions`: each compiled region with its graphs and breaks, what it is compiled again for, who calls it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.coverage import graphs_told
from nonstrict.report import sightings
from nonstrict.report.records import place_record
from nonstrict.report.style import Style, one_line, shown_position
from nonstrict.report.summary import looked_at, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.coverage import Break, Callee, Looked, Option, Part, Region
    from nonstrict.findings import Location, Measured, Related, Span
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import PlaceRecord, RegionRecord, RelatedRecord
    from nonstrict.text.source import Source

#: So many callers, and places that were not looked into, are listed; the rest is counted.
_LISTED = 5
#: What each kind of part is called.
KINDS = {"graph": "graph", "break": "break", "eager": "eager"}


class Shown(NamedTuple):
    """What is shown: the regions, the sources that they lie in, and whether their parts are shown in order.

    `runs` say when a real run compiled a function last, and what came of it: by absolute path and name.
    """

    looked: Looked
    sources: Mapping[str, Source]
    parts: bool = False
    runs: Mapping[tuple[str, str], tuple[float, Measured]] = {}

    def at(self, span: Span) -> Location:
        """Where a span is, for users."""
        return self.sources[span.path].locate(span)

    def run_of(self, region: Region) -> tuple[float, Measured] | None:
        """What the latest real run made of a region; None if none is known."""
        if region.defined is None:
            return None
        return self.runs.get((os.path.abspath(region.defined.path), region.function.replace(".<locals>", "")))

    def position(self, span: Span) -> str:
        """`path:row:column`."""
        where = self.at(span)
        return shown_position(where.path, where.row, where.column, where.cell)


def render(shown: Shown, output_format: str, context: Context) -> str:
    """The regions as `text` or `json`."""
    if output_format == "json":
        import json

        return json.dumps(records(shown, context), indent=2) + "\n"
    style = Style(context.color)
    blocks = ["\n".join(_block(region, shown, style)) for region in shown.looked.regions]
    return "".join(f"{block}\n\n" for block in blocks) + looked_at(shown.looked.counts, context.torches, told=True)


# -- text ---------------------------------------------------------------------------------------------------------


def _block(region: Region, shown: Shown, style: Style) -> Iterator[str]:
    if region.missed:
        yield not_looked_at(region, shown, style)
        return
    yield f"{shown.position(region.span)}: {style.paint('bold', region.function)}"
    if region.options:
        yield f"    {one_line(', '.join(map(written, region.options)))}"
    if region.graphs is not None:
        yield f"    {graphs(region)}"
        yield from _tree(region, shown) if shown.parts else _breaks(region, shown)
    if (run := shown.run_of(region)) is not None:
        yield f"    {one_line(sightings.ran(run[1], run[0]))}"
    yield from _listed("compiled again for", region.varying, shown)
    yield from _listed("called at", region.callers, shown)
    yield from _listed("marked functions", region.marked, shown)
    yield from _listed("not analyzed", region.unseen, shown)


def written(option: Option) -> str:
    """An option as code has it; `?` stands for a value that is not known."""
    return f"{option.name}={_value(option)}"


def _value(option: Option) -> str:
    if not option.known:
        return "?"
    if option.entries is not None:
        return "{" + ", ".join(f'"{one.name}": {_value(one)}' for one in option.entries) + "}"
    return f'"{option.value}"' if isinstance(option.value, str) else repr(option.value)


def not_looked_at(region: Region, shown: Shown, style: Style) -> str:
    """Where a region is that was not looked at, and why it was not."""
    return f"{shown.position(region.span)}: {style.paint('warning', 'not analyzed')}: {one_line(region.missed)}"


def graphs(region: Region) -> str:
    """`3 graphs, 2 breaks`: what becomes of a region, as far as its breaks are known."""
    why = f": {region.wasted}" if region.wasted else ""
    return ", ".join(figures(region)) + why


def figures(region: Region) -> tuple[str, ...]:
    """`3 graphs`, `2 breaks`: the same one by one."""
    breaks = (plural(len(region.breaks), "break"),) if region.breaks else ()
    return (_compiled(region), *breaks)


def _compiled(region: Region) -> str:
    least, most = region.graphs or (0, 0)
    if region.whole and region.breaks:
        return "does not compile" if any(not one.conditional for one in region.breaks) else "may not compile"
    if not most:
        return "nothing is compiled"
    return graphs_told(least, most)


def _breaks(region: Region, shown: Shown) -> Iterator[str]:
    for broken in region.breaks:
        yield f"      {shown.position(broken.span)}: {breaking(broken)}"


def breaking(broken: Break) -> str:
    """What breaks a graph, with torch's id, and what that costs."""
    named = f" ({broken.id})" if broken.id else ""
    where = "" if not broken.stops or broken.stops == "itself" else f" in {broken.stops}"
    stops = f"{where}, after which torch does not resume" if broken.stops else ""
    return f"{one_line(broken.construct)}{named}{stops}{', on some paths' if broken.conditional else ''}"


def _tree(region: Region, shown: Shown) -> Iterator[str]:
    """The parts of a region in order, those of functions that are compiled by themselves below the call."""
    for part in region.parts:
        where = shown.at(part.span)
        rows = f"{where.row}" if where.row == where.end_row else f"{where.row}-{where.end_row}"
        yield f"      {'  ' * part.depth}{KINDS[part.kind]} {one_line(where.path)}:{rows} {described(part)}".rstrip()


def described(part: Part) -> str:
    """What a part of a region is: the function of a graph, what breaks it, why something runs as plain Python."""
    around = f" in {part.around}" if part.around and part.around != "itself" else ""
    cause = {"graph": f"`{part.function}`", "break": part.cause, "eager": f"`{part.function}`, for {part.cause}"}
    return f"{one_line(cause[part.kind])}{around}{'' if part.sure else ', on some paths'}"


def _listed(heading: str, places: Sequence[Related | Callee], shown: Shown) -> Iterator[str]:
    if not places:
        return
    yield f"    {heading}:"
    for place in places[:_LISTED]:
        yield f"      {shown.position(place.span)}: {one_line(place.message)}"
    if len(places) > _LISTED:
        yield f"      and {len(places) - _LISTED} more"


# -- JSON ---------------------------------------------------------------------------------------------------------


def records(shown: Shown, context: Context) -> list[RegionRecord]:
    """The objects of all regions."""
    return [_record(region, shown, context) for region in shown.looked.regions]


def _record(region: Region, shown: Shown, context: Context) -> RegionRecord:
    least, most = region.graphs or (0, 0)
    return {
        "function": region.function or None,
        **_place(region.span, shown, context),
        "site": _place(region.site, shown, context),
        "defined": _place(region.defined, shown, context) if region.defined is not None else None,
        "analyzed": not region.missed,
        "reason": region.missed or region.wasted or None,
        "options": {one.name: _plain(one) for one in region.options if one.known},
        "options_not_known": list(_open_options(region.options)),
        "graphs": {"least": least, "most": most} if region.graphs is not None else None,
        "breaks": [
            {
                **_place(one.span, shown, context),
                "construct": one.construct,
                "id": one.id or None,
                "conditional": one.conditional,
                "stops": one.stops or None,
                "chain": _related(one.way, shown, context),
            }
            for one in region.breaks
        ],
        "parts": [
            {
                "kind": part.kind,
                "function": part.function,
                **_place(part.span, shown, context),
                "depth": part.depth,
                "conditional": not part.sure,
                "cause": part.cause or None,
                "stops": part.around or None,
            }
            for part in region.parts
        ],
        "observed": sightings.ran_record(run[1], run[0]) if (run := shown.run_of(region)) is not None else None,
        "recompilations": _related(region.varying, shown, context),
        "callers": _related(region.callers, shown, context),
        "marked": _related(region.marked, shown, context),
        "not_looked_into": _related(region.unseen, shown, context),
    }


def _plain(option: Option) -> object:
    entries = option.entries
    return option.value if entries is None else {one.name: _plain(one) for one in entries if one.known}


def _open_options(options: Sequence[Option], prefix: str = "") -> Iterator[str]:
    """The names of options whose values are not known: `mode`, `options.max_autotune`."""
    for one in options:
        if not one.known:
            yield prefix + one.name
        yield from _open_options(one.entries or (), f"{prefix}{one.name}.")


def _related(places: Sequence[Related | Callee], shown: Shown, context: Context) -> list[RelatedRecord]:
    return [{**_place(place.span, shown, context), "message": place.message} for place in places]


def _place(span: Span, shown: Shown, context: Context) -> PlaceRecord:
    return place_record(shown.at(span), context)
