"""A pasted text as messages of torch: which pages each belongs to, and which places it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.runs.told import Frame, frames_in, guard_told
from nonstrict.explain.blocks import USER_CODE, blocks, by_writer
from nonstrict.explain.library import Kind, library, named, page
from nonstrict.explain.templates import PLACE, matches, squeezed, squeezed_text, words_of
from nonstrict.explain.topics import is_vague, topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.explain.cleaning import Line

#: Of a text of so few lines each may be an excerpt of a message; so many messages may have it.
_FEW = 20
#: The exception before its message.
_RAISED = re.compile(r"^\s*(?:E\s+)?(?:[\w.]{1,80}(?:Error|Exception|Unsupported|Warning)\w{0,40}:\s*)+")
#: Ids that are meant: rules and addresses anywhere, and torch's in brackets, alone, or behind its own words.
_ID = re.compile(
    r"(?<![\w/\\.-])(NST\d{3})(?![\w/\\-])|/gb/(gb\d{4})\.html|[(\[`'\",] ?(GB\d{4})(?=[)\]`'\",])|"
    r"^\s*(GB\d{4})(?=:|\s*$)|(?i:graph[ -]break|unsupported:|explain) (GB\d{4})(?![\w/\\-])"
)
#: In a text of one line, such as a question, it may stand anywhere but behind a number, of which it would be the unit.
_ASKED = re.compile(r"(?<![\w/\\.-])(?<!\d )(GB\d{4})(?![\w/\\-])")
#: What comes behind the user's lines: an empty line, or the next guard.
_STACK_ENDS = re.compile(r"\n[ \t]*\n|\n[ \t]*\d+/\d+(?:_\d+)?: ")
_SPACE = re.compile(r"\s*")
_AT = re.compile(
    r"(?:in user code at |function \S+ in |function: '[^']*' \()(?P<path>[^\n()]+?\.(?:py|ipynb|md)):(?P<line>\d+)"
)
_MADE = re.compile(r"# (?P<path>[^\s#:]+\.py):(?P<line>\d+) in (?P<name>[\w<>]+)")
_WARNED = re.compile(r"^[ \t]*(?P<path>\S+\.py):(?P<line>\d+): ", re.MULTILINE)
_FAILED = re.compile(r"^[ \t]*(?:-|last reason:) (?P<guard>\d+/\d+(?:_\d+)?: .*)$", re.MULTILINE)
_BARE_GUARD = re.compile(
    r"^\s*(?:tensor '.*' (?:size|rank|dtype|stride|requires_grad) mismatch|___check_\w+\(|GLOBAL_STATE changed|"
    r"BACKEND_MATCH failure|[LG]\['\w+'\])"
)


class Guard(NamedTuple):
    """A guard that failed, as a program would write it, and what it asks of: `("self", "step")`."""

    text: str
    sources: tuple[tuple[str, ...], ...]


class Message(NamedTuple):
    """One thing that torch said.

    `pages` are the ids of those that fit, the most telling first, `rules` the codes of the rules that report such
    things. `line` is where it stands in the text, from 1, and `quote` what stands there. `places` name lines of the
    user's, the innermost last; `around` is whatever else of its traceback names a line. `general` are pages that say
    less than a rule among `pages`, and hold also where that rule finds nothing.
    """

    pages: tuple[str, ...]
    rules: frozenset[str]
    line: int
    quote: str
    places: tuple[Frame, ...] = ()
    around: tuple[Frame, ...] = ()
    guard: Guard | None = None
    general: tuple[str, ...] = ()


class _Found(NamedTuple):
    """A page that a line fits."""

    page: str
    at: int
    guard: Guard | None = None


def messages(lines: Sequence[Line]) -> list[Message]:
    """The messages of a text, in its order: what is said twice of the same places, once."""
    lines = by_writer(lines)
    told = _templates(lines)
    telling = {index for index, found in told.items() if not all(is_vague(one.page) for one in found)}
    kept: dict[object, Message] = {}
    for start, end in blocks(lines, telling):
        block = lines[start:end]
        found = [one for index in range(start, end) for one in told.get(index, ())]
        found += _ids(block, start, asked=len(lines) == 1) + _guards(block, start)
        if not found:
            continue
        message = _message(sorted(found, key=lambda one: one.at), lines, block)
        where = tuple((frame.path, frame.line) for frame in message.places[-1:])
        kept.setdefault((message.pages, where, message.guard and message.guard.sources), message)
    return sorted(kept.values(), key=lambda one: one.line)


def _templates(lines: Sequence[Line]) -> dict[int, list[_Found]]:
    """The pages of the texts that stand in the lines, by line. Lines that are the same are looked at once."""
    first: dict[str, int] = {}
    again: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        known = first.setdefault(line.text, index)
        if known != index:
            again.setdefault(known, []).append(index)
    kept = list(first.values())
    texts = [lines[index].text for index in kept]
    known = library()
    where = squeezed(texts)
    found: dict[int, list[_Found]] = {}
    for match in matches(known.templates, where, words_of(texts, len(where.text))):
        at = kept[where.line_at(match.start)]
        for index in (at, *again.get(at, ())):
            found.setdefault(index, []).extend(_Found(owner, index) for owner in known.owners[match.number])
    if not found and len(lines) <= _FEW:
        return {index: pages for index, line in enumerate(lines) if (pages := _excerpts(line.text, index))}
    return found


def _excerpts(line: str, index: int) -> list[_Found]:
    """The pages of the texts of which a line is only a part, as people quote them: without their end."""
    known, quoted = library(), squeezed_text(_RAISED.sub("", line).strip(" .\"'`…"))
    numbers = [number for number, template in enumerate(known.templates) if template.contains(quoted)]
    return [_Found(owner, index) for number in numbers[:_FEW] for owner in known.owners[number]]


def _ids(block: Sequence[Line], start: int, *, asked: bool) -> list[_Found]:
    """The pages whose ids stand in a message: torch's, and codes of rules."""
    patterns = (_ID, _ASKED) if asked else (_ID,)
    found: list[_Found] = []
    for index, line in enumerate(block, start):
        if "GB" in line.text or "NST" in line.text or "/gb/" in line.text:
            ids = (one for pattern in patterns for one in pattern.finditer(line.text))
            names = dict.fromkeys(next(filter(None, one.groups())).upper() for one in ids)
            found += [_Found(name, index) for name in names if named(name) is not None]
    return found


def _guards(block: Sequence[Line], start: int) -> list[_Found]:
    """The guard that failed for the newest code of a function."""
    text = "\n".join(line.text for line in block)
    match = _FAILED.search(text)
    if match is not None:
        at, reason = text.count("\n", 0, match.start()), match["guard"]
    else:
        at = next((index for index, line in enumerate(block) if _BARE_GUARD.match(line.text)), -1)
        reason = block[at].text.strip() if at >= 0 else ""
    told = guard_told(reason)
    if told is None:
        return []
    fits = guard_topic(told.text)
    return [_Found(fits, start + at, Guard(told.text, told.sources))] if fits else []


def guard_topic(guard: str) -> str:
    """The topic that a guard belongs to; "" if none is known."""
    best, length = "", -1
    for name, topic in topics().items():
        for text in topic.guards:
            literal = len(text.replace(PLACE, ""))
            if literal > length and fits(text, guard):
                best, length = name, literal
    return best


def fits(text: str, guard: str) -> bool:
    """Whether a text with places is all of a guard."""
    return re.fullmatch(".*".join(re.escape(part) for part in text.split(PLACE)), guard, re.DOTALL) is not None


def _message(found: Sequence[_Found], lines: Sequence[Line], block: Sequence[Line]) -> Message:
    pages = _ordered(found)
    first = lines[min(one.at for one in found)]
    guard = next((one.guard for one in found if one.guard is not None), None)
    rules = frozenset(code for one in found for code in page(one.page).rules)
    text = "\n".join(line.text.removeprefix("    - ") for line in block)
    around = tuple(dict.fromkeys(frames_in(text)))
    general = _general({one.page for one in found} - set(pages), pages)
    return Message(pages, rules, first.number, first.text.strip(), _places(text), around, guard, general)


def _general(left_out: Iterable[str], pages: Sequence[str]) -> tuple[str, ...]:
    """The vague pages that are about the same as a rule among the others."""
    rules = {name for name in pages if page(name).kind is Kind.RULE}
    return tuple(sorted(name for name in left_out if is_vague(name) and rules & set(page(name).rules)))


def _ordered(found: Iterable[_Found]) -> tuple[str, ...]:
    """The pages of a message: breaks and guards last, and no break that one of the rules is about."""
    pages = list(dict.fromkeys(one.page for one in found))
    guards = {one.page for one in found if one.guard is not None}
    rules = {name for name in pages if page(name).kind is Kind.RULE}
    told = [name for name in pages if page(name).kind is not Kind.BREAK or not rules & set(page(name).rules)]
    told = [name for name in told if not is_vague(name)] or told
    order = (Kind.TOPIC, Kind.RULE, Kind.BREAK)
    return tuple(sorted(told, key=lambda name: (name in guards, order.index(page(name).kind))))


def _places(text: str) -> tuple[Frame, ...]:
    """The lines of programs that a message names: those of the user's code where it says which these are."""
    users = [frame for one in USER_CODE.finditer(text) for frame in frames_in(_stack(text, one.end()))]
    if users:
        return tuple(dict.fromkeys(users))
    at = [Frame(one["path"].strip(), int(one["line"]), "") for one in _AT.finditer(text)]
    made = [Frame(one["path"], int(one["line"]), one["name"]) for one in _MADE.finditer(text)]
    if at or made:
        return tuple(dict.fromkeys((*at, *made[:1])))
    frames = list(frames_in(text))
    warned = [Frame(one["path"], int(one["line"]), "") for one in _WARNED.finditer(text)]
    return tuple(dict.fromkeys((*frames, *warned)))


def _stack(text: str, start: int) -> str:
    """The lines of the user's code that follow a position."""
    space = _SPACE.match(text, start)
    start = space.end() if space is not None else start
    end = _STACK_ENDS.search(text, start)
    return text[start : end.start()] if end is not None else text[start:]
