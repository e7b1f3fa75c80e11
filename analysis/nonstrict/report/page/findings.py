"""Findings on the page: what each says, its code, how torch comes to it, what experiments showed, how it is mended."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.report import sightings
from nonstrict.report.fingerprints import fingerprints
from nonstrict.report.fixes import is_fixable, trust
from nonstrict.report.page.code import difference, frame, line
from nonstrict.report.page.markup import NOTHING, Markup, element, joined, link, plain, prose
from nonstrict.report.page.markup import path as in_lines
from nonstrict.report.style import shown_position
from nonstrict.report.summary import plural
from nonstrict.report.verdicts import details, sentence, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic, LocatedFix, Location, RelatedLocation, Verdict
    from nonstrict.report.context import Context

#: What findings have for a verdict that no experiment was made of.
UNTRIED = "none"
_DIGITS = 10


class Named(NamedTuple):
    """A finding, and what links on the page know it by: the same in each run while its line stays the same."""

    anchor: str
    diagnostic: Diagnostic


def named(diagnostics: Sequence[Diagnostic], context: Context) -> list[Named]:
    """The findings with their names."""
    taken: set[str] = set()
    found: list[Named] = []
    for diagnostic, whole in zip(diagnostics, fingerprints(diagnostics, context), strict=True):
        short = f"{diagnostic.code}-{whole[:_DIGITS]}"
        anchor = f"{diagnostic.code}-{whole}" if short in taken else short
        taken.add(anchor)
        found.append(Named(anchor, diagnostic))
    return found


def findings(found: Sequence[Named], context: Context) -> Markup:
    """All findings, file by file."""
    files: list[Markup] = []
    for path, group in groupby(found, key=lambda one: one.diagnostic.location.path):
        own = list(group)
        count = element("span", plural(len(own), "finding"), class_="quiet")
        head = element("h3", element("code", in_lines(context.relative(path))), " ", count)
        files.append(element("section", head, *(_finding(one, context) for one in own), class_="file"))
    return joined(*files)


def verdict_of(diagnostic: Diagnostic) -> str:
    """The word by which findings are filtered for their verdicts."""
    return diagnostic.verdict.status.value if diagnostic.verdict is not None else UNTRIED


def position(where: Location, context: Context) -> str:
    """`path:row:column` from the working directory, with the cell of a notebook."""
    return shown_position(plain(context.relative(where.path)), where.row, where.column, where.cell)


def _finding(one: Named, context: Context) -> Markup:
    found = one.diagnostic
    severity = found.severity.label
    return element(
        "article",
        element("p", *_chips(found, context), class_="chips"),
        element("h4", prose(found.message), id=f"{one.anchor}-what"),
        element("p", *_where(one, context), class_="where"),
        frame(found.location, context.lines),
        *_advice(found),
        *_verdict(found),
        *_places(found, context),
        *(_fix(fix, found, context) for fix in found.fixes),
        class_=f"finding {severity}",
        id=one.anchor,
        tabindex=-1,
        aria_labelledby=f"{one.anchor}-what",
        data_severity=severity,
        data_rule=found.code,
        data_file=context.relative(found.location.path),
        data_verdict=verdict_of(found),
    )


def _chips(found: Diagnostic, context: Context) -> Iterator[Markup]:
    severity, url = found.severity.label, context.url(found.code)
    yield element("span", severity, class_=f"chip {severity}")
    yield link(found.code, url) if url is not None else element("span", found.code)
    yield element("span", found.name, class_="quiet")
    if found.verdict is not None:
        yield element("span", tag(found.verdict), class_=f"chip {found.verdict.status.value}")
    if found.sighting is not None:
        yield element("span", sightings.tag(found.sighting), class_="chip")
    if is_fixable(found, context):
        yield element("span", "fixable", class_="chip")


def _where(one: Named, context: Context) -> Iterator[Markup]:
    yield element("a", in_lines(position(one.diagnostic.location, context)), href=f"#{one.anchor}")
    if one.diagnostic.function:
        yield joined(" in ", element("code", one.diagnostic.function))


def _advice(found: Diagnostic) -> Iterator[Markup]:
    for name, content in (("note", found.note), ("help", found.help)):
        if content:
            yield element("p", element("b", name), " ", prose(content), class_=name)


def _verdict(found: Diagnostic) -> Iterator[Markup]:
    if found.verdict is not None:
        yield _tried(found.verdict, found.function)
    if found.sighting is not None:
        told = sightings.sentence(found, sightings.date)
        yield element("div", element("p", element("b", "real run"), " ", prose(told)), class_="verdict")


def _tried(verdict: Verdict, function: str) -> Markup:
    more = [element("li", prose(one)) for one in details(verdict)]
    return element(
        "div",
        element("p", element("b", "experiment"), " ", prose(sentence(verdict, function))),
        element("ul", *more) if more else NOTHING,
        class_=f"verdict {verdict.status.value}",
    )


def _places(found: Diagnostic, context: Context) -> Iterator[Markup]:
    """How torch comes there, and what else shows it."""
    groups = (
        ("how torch gets there", "ol", found.related[: found.links]),
        ("see also", "ul", found.related[found.links :]),
    )
    for name, kind, places in groups:
        if places:
            items = element(kind, *(element("li", *_place(one, context)) for one in places))
            yield element("div", element("b", name), items, class_="places")


def _place(one: RelatedLocation, context: Context) -> Iterator[Markup]:
    where = element("span", in_lines(position(one.location, context)), class_="at")
    yield joined(prose(one.message), " ", where, line(one.location, context.lines))


def _fix(fix: LocatedFix, found: Diagnostic, context: Context) -> Markup:
    title = element("summary", element("b", f"fix{trust(fix)}"), " ", prose(fix.title))
    return element("details", title, difference(fix, found.location, context), class_="fix", open=True)
