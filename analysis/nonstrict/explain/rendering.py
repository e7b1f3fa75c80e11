"""Answers as text for people, and as records. Nothing of a pasted text reaches a terminal but what prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.confirm.runs.told import resumed_from
from nonstrict.explain.library import Kind
from nonstrict.explain.places import Place
from nonstrict.report.full import block
from nonstrict.report.records import records
from nonstrict.report.style import Style, one_line
from nonstrict.report.summary import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.explain.answering import Answer, Explained
    from nonstrict.explain.library import Page
    from nonstrict.explain.places import Unplaced
    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import ExplainedRecord, ExplainPageRecord, ExplainPlaceRecord

#: Of so many messages all is shown, and of each so many pages and findings.
_MESSAGES, _PAGES, _FINDINGS = 20, 2, 3
_QUOTED = 160
UNKNOWN = """\
Nothing known fits this text.
"""
_SEARCH = """\
Give the whole message of torch, from `Traceback` or the first line of the log on. torch's own pages are at
https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html; a message that is missing here can be reported
at https://github.com/nonstrict/nonstrict/issues.
"""


def text(told: Explained, context: Context) -> str:
    """All answers, a blank line after each; what to do where there are none."""
    if not told.answers:
        return UNKNOWN + "".join(_guesses(told.near)) + _SEARCH
    shown = told.answers[:_MESSAGES]
    seen: set[Diagnostic] = set()
    blocks = ["\n".join(_answer(one, context, seen)) + "\n" for one in shown]
    if left := len(told.answers) - len(shown):
        blocks.append(f"And {plural(left, 'more message')}: `--output-format json` has all of them.\n")
    return "\n".join(blocks)


def _guesses(near: tuple[Page, ...]) -> Iterator[str]:
    if near:
        yield "The nearest pages, by the words they share, which is a guess:\n"
        yield from (f"  {_heading(one)}\n    `{one.command}`\n" for one in near)


def _answer(answer: Answer, context: Context, seen: set[Diagnostic]) -> Iterator[str]:
    """The lines of an answer; findings that were `seen` are named again in a line."""
    style = Style(context.color)
    first, *others = answer.pages
    yield f"{style.paint('bold', _heading(first))}"
    quote = one_line(answer.message.quote)
    quote = quote if len(quote) <= _QUOTED else f"{quote[:_QUOTED]}..."
    yield f"  {style.paint('dim', f'line {answer.message.line}:')} {quote}"
    if answer.message.guard is not None:
        yield f"  {style.paint('blue', 'guard:')} `{one_line(answer.message.guard.text)}`"
    yield from _decided(answer, context, style)
    yield from _explained(first, style)
    for other in others[: _PAGES - 1]:
        yield f"  {style.paint('blue', 'and:')} {_heading(other)}"
        yield from _explained(other, style)
    if rest := others[_PAGES - 1 :]:
        yield f"  {style.paint('blue', 'also fits:')} {', '.join(f'`{one.command}`' for one in rest)}"
    yield from _place(answer, context, style)
    yield from _findings(answer, context, seen)


def _decided(answer: Answer, context: Context, style: Style) -> Iterator[str]:
    """Which rule it is, where a finding at the place tells."""
    own = (one for one in answer.found.findings if one.code in answer.message.rules)
    found = None if answer.found.nearby else next(own, None)
    if found is not None:
        where = f"{one_line(context.relative(found.location.path))}:{found.location.row}"
        yield f"  {style.paint('blue', 'here:')} {found.code} ({found.name}) at {where}, see below"


def _explained(page: Page, style: Style) -> Iterator[str]:
    if page.meaning:
        yield f"  {style.paint('blue', 'means:')} {page.meaning}"
    if page.way:
        yield f"  {style.paint('blue', 'do:')} {page.way}"
    yield f"  {style.paint('blue', 'more:')} {', '.join([f'`{page.command}`', *page.links[:1]])}"


def _heading(page: Page) -> str:
    return f"{page.id}: {page.title}" if page.kind is not Kind.TOPIC else f"{page.title} ({page.id})"


def _place(answer: Answer, context: Context, style: Style) -> Iterator[str]:
    place = answer.place
    if place is None:
        return
    if not isinstance(place, Place):
        yield f"  {style.paint('blue', 'place:')} {_unplaced(place, context)}"
        return
    name = resumed_from(place.function)[0]
    function = f" in `{one_line(name)}`" if name and not name.startswith("<") else ""
    yield f"  {style.paint('blue', 'place:')} {one_line(context.relative(place.path))}:{place.line}{function}"
    yield f"    {one_line(place.text)}"
    if place.edited:
        yield "    The text quotes another line: the code was edited since."


def _findings(answer: Answer, context: Context, seen: set[Diagnostic]) -> Iterator[str]:
    """What is found at the place."""
    if not isinstance(answer.place, Place):
        return
    if not answer.found.findings:
        yield "    nonstrict has no finding there."
        return
    where = "in the function around it, and none on the line" if answer.found.nearby else "there"
    yield f"    {plural(len(answer.found.findings), 'finding')} {where}:"
    for finding in answer.found.findings[:_FINDINGS]:
        if finding in seen:
            yield f"    {finding.severity.label}[{finding.code}] {one_line(finding.message)} (shown above)"
            continue
        seen.add(finding)
        yield ""
        yield from block(finding, context)
    if len(answer.found.findings) > _FINDINGS:
        path = one_line(context.relative(answer.place.path))
        yield f"    and {plural(len(answer.found.findings) - _FINDINGS, 'more finding')}: `nonstrict check {path}`"


def _unplaced(place: Unplaced, context: Context) -> str:
    given = f"{one_line(place.given)}:{place.line}"
    if not place.candidates:
        return f"{given} is no file of this project"
    names = [one_line(context.relative(path)) for path in place.candidates[:_FINDINGS]]
    more = f" and {len(place.candidates) - _FINDINGS} more" if len(place.candidates) > _FINDINGS else ""
    return f"{given} may be {'any of ' if len(place.candidates) > 1 else ''}{', '.join(names)}{more}"


def record(told: Explained, context: Context) -> ExplainedRecord:
    """The same as an object."""
    return {
        "messages": [
            {
                "row": one.message.line,
                "quote": one.message.quote,
                "pages": [_page_record(page) for page in one.pages],
                "guard": one.message.guard.text if one.message.guard is not None else None,
                "place": _place_record(one, context),
            }
            for one in told.answers
        ],
        "near": [_page_record(page) for page in told.near],
    }


def _page_record(page: Page) -> ExplainPageRecord:
    return {
        "kind": page.kind.value,
        "id": page.id,
        "title": page.title,
        "meaning": page.meaning,
        "advice": page.way or None,
        "rules": list(page.rules),
        "urls": list(page.links),
    }


def _place_record(answer: Answer, context: Context) -> ExplainPlaceRecord | None:
    place = answer.place
    if place is None:
        return None
    known = isinstance(place, Place)
    return {
        "given": place.given,
        "row": place.line,
        "filename": place.path if isinstance(place, Place) else None,
        "candidates": [place.path] if isinstance(place, Place) else list(place.candidates),
        "function": place.function or None if isinstance(place, Place) else None,
        "source": place.text if isinstance(place, Place) else None,
        "edited": isinstance(place, Place) and place.edited,
        "nearby": known and answer.found.nearby,
        "findings": records(answer.found.findings, context),
    }
