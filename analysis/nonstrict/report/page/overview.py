"""The head of the page, the findings in numbers, the controls that filter them, and what was not looked at."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nonstrict import __version__
from nonstrict.findings import INTERNAL_FAULT, Severity, Status
from nonstrict.report.fixes import is_fixable, is_hidden
from nonstrict.report.page.findings import UNTRIED, verdict_of
from nonstrict.report.page.markup import NOTHING, Markup, element, joined, link, path, plain, prose, void
from nonstrict.report.page.regions import counted, missed
from nonstrict.report.summary import answered_by, plural
from nonstrict.report.verdicts import counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.coverage import Counts
    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context
    from nonstrict.report.page.findings import Named

_SEVERITIES = sorted(Severity, reverse=True)


def title(diagnostics: Sequence[Diagnostic]) -> str:
    """What a window with the page is called."""
    return f"{plural(len(diagnostics), 'finding') if diagnostics else 'No findings'} - nonstrict"


def head(diagnostics: Sequence[Diagnostic], context: Context) -> Markup:
    """The heading, and for which torch the findings hold."""
    from nonstrict.knowledge.releases import BASE, shown

    told = f"nonstrict {__version__}"
    if context.torches:
        torches = [torch or f"{shown(BASE)} (assumed, none was found)" for torch in context.torches]
        told = f"{told}, for torch {' and '.join(torches)}. {answered_by(context.torches)}"
    touched = len({one.location.path for one in diagnostics})
    found = f"{plural(len(diagnostics), 'finding')} in {touched:,} of" if diagnostics else "No findings in"
    heading = f"{found} {plural(context.files, 'file')}" if diagnostics or context.files else "No files were checked"
    return element("header", element("h1", heading), element("p", told.strip(), class_="quiet"))


# -- in numbers -------------------------------------------------------------------------------------------------------


def overview(diagnostics: Sequence[Diagnostic], context: Context) -> Markup:
    """The findings in numbers, and what was looked at."""
    figures = element("dl", *_figures(diagnostics, context), class_="figures")
    if not diagnostics:
        return figures
    return joined(
        figures, element("div", _by_rule(diagnostics, context), _by_file(diagnostics, context), class_="tables")
    )


def _figures(diagnostics: Sequence[Diagnostic], context: Context) -> Iterator[Markup]:
    found = Counter(one.severity for one in diagnostics)
    for severity in _SEVERITIES:
        yield _figure(f"{severity.label}s", found[severity], kind=severity.label if found[severity] else "")
    looked = context.looked if context.looked is not None else _looked(context)
    if looked is not None:
        aside = counted(context.regions) if context.regions is not None else ""
        aside += f"; {looked.missed:,} not analyzed" if looked.missed else ""
        yield _figure("regions analyzed", looked.regions, aside.removeprefix("; "))
        yield _figure("marked functions", looked.marked)
    verdicts = counts(diagnostics)
    if verdicts:
        yield _figure("tried in experiments", sum(verdicts.values()), _listed(verdicts))
    ready = sum(is_fixable(one, context) for one in diagnostics)
    hidden = sum(is_hidden(one, context) for one in diagnostics)
    if ready or hidden:
        yield _figure("fixable with --fix", ready, f"{hidden:,} more with --unsafe-fixes" if hidden else "")
    if context.fixing.fixed:
        yield _figure("fixed", len(context.fixing.fixed))
    if context.known:
        yield _figure("in the baseline", context.known)


def _looked(context: Context) -> Counts | None:
    return context.regions.looked.counts if context.regions is not None else None


def _figure(name: str, count: int, aside: str = "", kind: str = "") -> Markup:
    more = element("small", aside) if aside else NOTHING
    return element("div", element("dt", name, more), element("dd", f"{count:,}"), class_=f"figure {kind}".strip())


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in numbers.items())


def _by_rule(diagnostics: Sequence[Diagnostic], context: Context) -> Markup:
    rows: list[Markup] = []
    names = {one.code: one.name for one in diagnostics}
    for code, own in _groups(diagnostics, {one: one.code for one in diagnostics}):
        url = context.url(code)
        rule = element("th", link(code, url) if url is not None else code, " ", names[code], scope="row")
        rows.append(element("tr", rule, *_numbers(own, f"#rule={code}")))
    return _table("By rule", "rule", rows)


def _by_file(diagnostics: Sequence[Diagnostic], context: Context) -> Markup:
    from urllib.parse import quote

    rows: list[Markup] = []
    for name, own in _groups(diagnostics, {one: plain(context.relative(one.location.path)) for one in diagnostics}):
        file = element("th", element("code", path(name)), scope="row")
        rows.append(element("tr", file, *_numbers(own, f"#file={quote(name, safe='/')}")))
    return _table("By file", "file", rows)


def _groups(diagnostics: Sequence[Diagnostic], names: Mapping[Diagnostic, str]) -> list[tuple[str, list[Diagnostic]]]:
    """The findings by name, those with most first."""
    groups: dict[str, list[Diagnostic]] = {}
    for one in diagnostics:
        groups.setdefault(names[one], []).append(one)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def _numbers(own: Sequence[Diagnostic], address: str) -> Iterator[Markup]:
    found = Counter(one.severity for one in own)
    for severity in _SEVERITIES:
        count = found[severity]
        yield element("td", f"{count:,}" if count else "", class_=severity.label if count else None)
    yield element("td", element("a", f"{len(own):,}", href=address, aria_label=f"show {plural(len(own), 'finding')}"))


def _table(caption: str, first: str, rows: Sequence[Markup]) -> Markup:
    names = (*(f"{severity.label}s" for severity in _SEVERITIES), "all")
    heads = [element("th", first, scope="col"), *(element("th", name, scope="col") for name in names)]
    body = joined(element("thead", element("tr", *heads)), element("tbody", *rows))
    return element(
        "div",
        element("table", element("caption", caption), body),
        class_="table",
        role="region",
        aria_label=caption,
        tabindex=0,
    )


# -- filters ----------------------------------------------------------------------------------------------------------


def filters(found: Sequence[Named], context: Context) -> Markup:
    """The controls, which a program on the page brings to life."""
    own = [one.diagnostic for one in found]
    severities = Counter(one.severity for one in own)
    boxes = [
        _box("severity", severity.label, f"{severity.label} ({severities[severity]:,})")
        for severity in _SEVERITIES
        if severities[severity]
    ]
    names = {one.code: f"{one.code} {one.name}" for one in own}
    rules = Counter(one.code for one in own)
    files = Counter(plain(context.relative(one.location.path)) for one in own)
    verdicts = Counter(verdict_of(one) for one in own)
    tried = [(one.value, one.value) for one in Status] + [(UNTRIED, "without experiment")]
    controls = [
        _labelled("Search", void("input", type="search", name="q", spellcheck="false"), "search"),
        element("fieldset", element("legend", "Severity"), *boxes),
        _choice("Rule", "rule", [(code, f"{names[code]} ({rules[code]:,})") for code in sorted(rules)]),
        _choice("File", "file", [(name, f"{name} ({count:,})") for name, count in sorted(files.items())]),
    ]
    if verdicts.keys() != {UNTRIED}:
        options = [(value, f"{name} ({verdicts[value]:,})") for value, name in tried if verdicts[value]]
        controls.append(_choice("Verdict", "verdict", options))
    told = element("output", plural(len(own), "finding"), name="told", aria_live="polite")
    keys = _box("shortcuts", "on", joined("keys: ", *_keys()), class_="keys")
    row = element("div", *controls, class_="controls")
    told = element("p", told, element("button", "Reset", type="reset"), keys, class_="told")
    return element(
        "form", row, told, id="filters", autocomplete="off", role="search", aria_label="Filter findings", hidden=True
    )


def _keys() -> Iterator[Markup]:
    for key, meaning in (("/", "search"), ("j", "next"), ("k", "previous")):
        yield joined(element("kbd", key), f" {meaning} ")


def _box(name: str, value: str, label: str, class_: str | None = None) -> Markup:
    box = void("input", type="checkbox", name=name, value=value, checked=True)
    return element("label", box, " ", label, class_=class_)


def _choice(label: str, name: str, options: Iterable[tuple[str, str]]) -> Markup:
    listed = [
        element("option", "all", value=""),
        *(element("option", plain(told), value=value) for value, told in options),
    ]
    return _labelled(label, element("select", *listed, name=name))


def _labelled(label: str, control: Markup, class_: str | None = None) -> Markup:
    return element("label", element("span", label), " ", control, class_=class_)


# -- what is missing --------------------------------------------------------------------------------------------------


def not_looked_at(found: Sequence[Named], context: Context) -> Markup:
    """What could not be read, done or told: findings are only to be had where somebody looked."""
    items = [joined(prose(one)) for one in context.failures]
    items += [
        joined(element("a", one.diagnostic.code, href=f"#{one.anchor}"), " ", prose(one.diagnostic.message))
        for one in found
        if one.diagnostic.code == INTERNAL_FAULT
    ]
    shown = context.regions
    if shown is not None:
        items += missed(shown, context)
        unseen = sum(len(region.unseen) for region in shown.looked.regions)
        if unseen:
            items.append(joined(f"{plural(unseen, 'place')} in analyzed regions: they are listed there."))
    elif context.looked is not None and context.looked.missed:
        items.append(prose(f"{plural(context.looked.missed, 'region')}: `nonstrict regions` says why."))
    if not items:
        return NOTHING
    return element("ul", *(element("li", item) for item in items), class_="missing")
