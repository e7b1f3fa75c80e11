"""The parts of a pasted text that are one message each: by who wrote them, and by what begins a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from nonstrict.explain.cleaning import Line

#: So many lines, at most, are read of one message.
_LONGEST = 2_000
_TRACEBACK = "Traceback (most recent call last)"
#: What begins a message.
_BEGINS = re.compile(
    r"\s*(?:Graph break (?:\([^)]*\) )?in user code at |Graph break from |Recompiling function |"
    r"torch\._dynamo hit config\.|skipping cudagraphs|Traceback \(most recent call last\)|"
    r"\S+\.py:\d+: [\w.]+: |(?:FAILED|ERROR) \S+\.py(?:::|[ ]|$))"
)
#: Behind these a traceback goes on.
_GOES_ON = ("The above exception was the direct cause", "During handling of the above exception")
#: An exception with its message, as Python prints it: classes of modules, and those that are called like one.
_EXCEPTION = re.compile(r"(?:(?:\w+\.)+[A-Z]\w*|[A-Z]\w*(?:(?<=Error)|(?<=Exception)|(?<=Unsupported)|(?<=Failed))): ")
#: What says that the lines of the user's code follow.
USER_CODE = re.compile(r"^[ \t]*-?[ \t]*(?:from user code:|User code traceback:|User stack trace:|User stack:|"
                       r"Graph break: from user code at:|This call originates from:)", re.MULTILINE)  # fmt: skip


def by_writer(lines: Sequence[Line]) -> list[Line]:
    """The lines of each rank, worker or container one behind the other, where several wrote at once.

    A line that names nobody belongs to the one before it: it is its end, wrapped.
    """
    groups: dict[str, list[Line]] = {}
    writer = ""
    for line in lines:
        writer = line.writer or writer
        groups.setdefault(writer, []).append(line if line.writer else line._replace(writer=writer))
    return [line for group in groups.values() for line in group]


def blocks(lines: Sequence[Line], telling: Collection[int]) -> Iterator[tuple[int, int]]:
    """The parts of a text that are one message each, as ranges of its lines; `telling` ones have a text of torch."""
    start, seen = 0, _Seen()
    for index, line in enumerate(lines):
        begins = _begins(lines, index) or seen.is_other(line.text)
        if index > start and (begins or index - start >= _LONGEST or line.writer != lines[index - 1].writer):
            yield start, index
            start, seen = index, _Seen()
        seen.add(line.text, telling=index in telling)
    if lines:
        yield start, len(lines)


class _Seen:
    """What a message has so far."""

    def __init__(self) -> None:
        self._traceback = False
        self._full = False
        self._last = ""

    def is_other(self, text: str) -> bool:
        """Whether a line is the exception of another message: one is there already, and no traceback leads to it."""
        return self._full and not self._traceback and not self._goes_on() and _EXCEPTION.match(text) is not None

    def add(self, text: str, *, telling: bool) -> None:
        """Take a line in."""
        raised = _EXCEPTION.match(text) is not None
        if text.strip().startswith((_TRACEBACK, *_GOES_ON)) or _is_title(text, "_", 5):
            self._traceback = True
        elif raised:
            self._traceback = False
        self._full = self._full or telling or raised or USER_CODE.match(text) is not None
        self._last = text.strip() or self._last

    def _goes_on(self) -> bool:
        """Whether the last line announces what was raised, as `backend='inductor' raised:` does."""
        return self._last.endswith("raised:")


def _begins(lines: Sequence[Line], index: int) -> bool:
    text = lines[index].text
    if _is_title(text, "=", 3) or _is_title(text, "_", 5) or (_is_title(text, "-", 3) and " Captured " in text):
        return True
    return _BEGINS.match(text) is not None and not _continues(lines, index)


def _is_title(text: str, mark: str, least: int) -> bool:
    """Whether a line is a title between marks, as pytest prints it: `=== FAILURES ===`."""
    head, tail = text[:least], text.rstrip()
    inner = tail.rstrip(mark)
    return head == mark * least and len(tail) - len(inner) >= least and inner.endswith(" ")


def _continues(lines: Sequence[Line], index: int) -> bool:
    before = (line.text.strip() for line in lines[max(0, index - 3) : index])
    return any(text.startswith(_GOES_ON) for text in before)
