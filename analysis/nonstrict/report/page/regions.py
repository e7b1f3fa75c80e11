"""Compiled regions on the page: their graphs and breaks in order, options, callers, and what was not looked into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report import sightings
from nonstrict.report.compiled import text_of
from nonstrict.report.page.findings import position
from nonstrict.report.page.markup import NOTHING, Markup, element, joined, path, prose
from nonstrict.report.regions import KINDS, breaking, described, figures, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.coverage import Callee, Part, Region
    from nonstrict.findings import Location, Related
    from nonstrict.report.compiled import RegionReport
    from nonstrict.report.context import Context
    from nonstrict.report.regions import Shown


def regions(shown: Shown, anchors: Mapping[Location, str], context: Context) -> Markup:
    """The regions that were looked at; `anchors` are the findings on the page by where they are."""
    looked = [region for region in shown.looked.regions if not region.missed]
    return joined(*(_region(region, shown, anchors, context) for region in looked))


def missed(shown: Shown, context: Context) -> list[Markup]:
    """The places where it is not known what is compiled, and why."""
    return [
        joined(_at(shown.at(region.span), {}, context), " ", prose(region.missed))
        for region in shown.looked.regions
        if region.missed
    ]


def measured(shown: Shown | None, context: Context) -> Markup:
    """What experiments saw of regions that are not on the page by themselves."""
    there = {region.key for region in shown.looked.regions} if shown is not None else set[object]()
    left = [one for one in context.measured if one.predicted is None or one.predicted.key not in there]
    return joined(*map(_seen, sorted(left, key=lambda one: (one.location, one.measured.function))))


def _seen(report: RegionReport) -> Markup:
    return element("div", element("b", "experiment"), element("pre", text_of(report)), class_="verdict")


def _region(region: Region, shown: Shown, anchors: Mapping[Location, str], context: Context) -> Markup:
    tone = "wasted" if region.wasted else "broken" if region.breaks else "whole"
    chips = figures(region) if region.graphs is not None else ()
    run = shown.run_of(region)
    seen = [one for one in context.measured if one.predicted is not None and one.predicted.key == region.key]
    return element(
        "article",
        element(
            "h3", element("code", region.function), *(joined(" ", element("span", one, class_="chip")) for one in chips)
        ),
        element("p", "compiled at ", _at(shown.at(region.span), anchors, context), class_="where"),
        element("p", element("code", ", ".join(map(written, region.options)))) if region.options else NOTHING,
        element("p", "Nothing is compiled: ", prose(region.wasted)) if region.wasted else NOTHING,
        element("ol", *_parts(region.parts, shown, anchors, context), class_="parts") if region.parts else NOTHING,
        _breaks(region, shown, anchors, context),
        element("p", sightings.ran(run[1], run[0], sightings.date)) if run is not None else NOTHING,
        *map(_seen, seen),
        *_lists(region, shown, anchors, context),
        class_=f"region {tone}",
    )


def _parts(parts: Sequence[Part], shown: Shown, anchors: Mapping[Location, str], context: Context) -> Iterator[Markup]:
    """The parts in order, those of functions that are compiled by themselves deeper."""
    for part in parts:
        where = shown.at(part.span)
        kind = element("span", KINDS[part.kind], class_=f"kind {part.kind}")
        content = (kind, " ", prose(described(part)), " ", _at(where, anchors, context, rows=part.kind != "break"))
        yield element("li", *content, class_=f"depth{min(part.depth, 6)}")


def _breaks(region: Region, shown: Shown, anchors: Mapping[Location, str], context: Context) -> Markup:
    """The breaks by themselves, where they are not among the parts."""
    there = {part.span for part in region.parts if part.kind == "break"}
    items = [
        element("li", prose(breaking(one)), " ", _at(shown.at(one.span), anchors, context))
        for one in region.breaks
        if one.span not in there
    ]
    return _list("breaks", items)


def _lists(region: Region, shown: Shown, anchors: Mapping[Location, str], context: Context) -> Iterator[Markup]:
    groups: tuple[tuple[str, Sequence[Related | Callee]], ...] = (
        ("compiled again for", region.varying),
        ("called at", region.callers),
        ("marked functions", region.marked),
        ("not analyzed", region.unseen),
    )
    for name, places in groups:
        items = [element("li", prose(one.message), " ", _at(shown.at(one.span), anchors, context)) for one in places]
        yield _list(name, items)


def _list(name: str, items: Sequence[Markup]) -> Markup:
    return element("div", element("b", name), element("ul", *items), class_="places") if items else NOTHING


def _at(where: Location, anchors: Mapping[Location, str], context: Context, *, rows: bool = False) -> Markup:
    """A place, which is a link if a finding is there."""
    shown = position(where, context)
    if rows:
        first = position(where, context).rpartition(":")[0]
        shown = first if where.end_row == where.row else f"{first}-{where.end_row}"
    anchor = anchors.get(where)
    told = path(shown)
    return element("a", told, href=f"#{anchor}") if anchor is not None else element("span", told, class_="at")


def counted(shown: Shown) -> str:
    """`1 not compiled, 2 with breaks`: what becomes of those that were looked at; empty if none was."""
    looked = [region for region in shown.looked.regions if not region.missed]
    kinds = (
        ("not compiled", sum(bool(one.wasted) for one in looked)),
        ("with breaks", sum(bool(one.breaks) and not one.wasted for one in looked)),
        ("without breaks", sum(not one.breaks and not one.wasted for one in looked)),
    )
    return ", ".join(f"{count:,} {name}" for name, count in kinds if count)
