"""The text of an open document as a source, reading anew only what an edit changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.outline import Outline
from nonstrict.text.epochs import epochs
from nonstrict.text.source import UnreadableSource, read_source, repaired, source_from_text

if TYPE_CHECKING:
    from nonstrict.program.domain.modules import Module
    from nonstrict.text.source import Source


class Text(NamedTuple):
    """A document: `shown` is what positions count in, `analysed` its state as one module, with its outline.

    `earlier` are the states that a notebook or a page had before a name was defined anew.
    """

    shown: Source
    analysed: Source
    outline: Outline | None = None
    earlier: tuple[Source, ...] = ()


def opened(path: str, text: str, before: Module | None) -> Text | None:
    """An open document, whose syntax errors are told; None if it is too large. `before` is its last state."""
    try:
        source = source_from_text(path, text)
    except UnreadableSource:
        return None
    if source.cells or source.problems:
        return _in_states(repaired(source))
    outline = _outline(source, before)
    if outline.parses():
        return Text(source, source, outline)
    fixed = repaired(source)
    return Text(fixed, fixed, _outline(fixed, before))


def on_disk(path: str) -> Text | None:
    """A file that is not open; None if it cannot be read."""
    try:
        source = read_source(path)
    except UnreadableSource:
        return None
    return entered(source)


def entered(source: Source) -> Text:
    """A source as a document."""
    return _in_states(repaired(source)) if source.cells or source.problems else Text(source, source)


def _outline(source: Source, before: Module | None) -> Outline:
    outline = Outline(source.code)
    if before is not None and "outline" in before.__dict__:
        outline.take_over(before.outline)
    return outline


def _in_states(source: Source) -> Text:
    states = epochs(source) if source.cells else []
    return Text(source, states[-1], None, tuple(states[:-1])) if states else Text(source, source)


def differing_lines(before: str, after: str) -> tuple[str, str]:
    """The lines in which two texts differ: what is left when those are gone that both begin with or end with."""
    first = _common(before, after)
    first = before.rfind("\n", 0, first) + 1
    last = _common(before[first:][::-1], after[first:][::-1])
    ends = len(before) - last, len(after) - last
    return tuple(  # pyright: ignore[reportReturnType]
        text[first : len(text) if (line := text.find("\n", end)) < 0 else line]
        for text, end in zip((before, after), ends, strict=True)
    )


def _common(left: str, right: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
