"""Pasted text as lines: without colors, and without what loggers, test runners and CI services put before a line."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Longer lines are cut: no text of torch is so long.
_LONGEST_LINE = 20_000
#: So much of a text is looked at to tell whether it is one.
_HEAD = 1 << 16
#: So many characters of a text in UTF-16 are Latin at least: every second byte is 0.
_LATIN = 0.9
_ESCAPES = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
#: What may stand before a line, one after the other.
_BEFORE = re.compile(
    r"""(?:
    \ufeff
    | [ \t]*>[ ]?                                              # quoted, in a mail or an issue
    | E(?:[ ]{2,7}|$)                                          # pytest
    | (?:[ ]{2,})?[|+][ ]                                      # an exception group
    | \d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:[ ]|\t|$)
    | \[\d{4}-\d\d-\d\d[ ]\d\d:\d\d:\d\d[.,]\d+\][ ]?
    | (?P<writer>
        \[(?:rank|default)\d+\]:
        | \(\w+[ ]pid=\d+(?:,[ ]ip=[\d.]+)?\)(?=[ ])
        | [\w.-]+-\d+(?=[ ]+\|[ ])                             # docker compose
      )(?:(?<=\d)[ ]+\|)?[ ]?
    | [^\t\n]{1,60}\t[^\t\n]{1,60}\t(?=\d{4}-)                 # jobs of a CI service
    | \#\#\[\w+\]
    | [VDIWECF]\d{4}[ ][\d:.]+[ ]+\d+[ ][^\n]*?:\d+\](?:[ ]|$)  # torch's loggers
    | \[\d+/\d+(?:_\d+)?\][ ]?
    | \[__\w+\](?:[ ]|$)
    | torch\.[\w.]+:[ ]\[\w+\][ ]?                             # the same in older releases
    | (?:DEBUG|INFO|WARNING|ERROR|CRITICAL)(?::torch[\w.]*:|[ ]+torch[\w.]*:\w+\.py:\d+[ ])
    )*""",
    re.VERBOSE,
)
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00a0", "''\"\" ")


class Line(NamedTuple):
    """A line of a pasted text: its number, from 1, and what stands in it but for what was put before it.

    `writer` is the rank, the worker or the container that a prefix names, where several write at once.
    """

    number: int
    text: str
    writer: str = ""


class NoTextError(Exception):
    """What was given is no text."""


def decoded(content: bytes) -> str:
    """Bytes as text: UTF-8, or UTF-16, as some shells write it, with a mark or without one.

    Raises:
        NoTextError: they are no text.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    head = content[:_HEAD]
    if b"\0" in head:
        for encoding, low, high in (("utf-16-le", head[::2], head[1::2]), ("utf-16-be", head[1::2], head[::2])):
            if b"\0" not in low and high.count(0) >= _LATIN * len(high):
                return content.decode(encoding, "replace")
        raise NoTextError("This is a binary file and no text.")
    return content.decode("utf-8-sig", "replace")


def cleaned(text: str) -> list[Line]:
    """The lines of a text, without the empty ones at its end."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if not plain.isascii():
        plain = plain.translate(_QUOTES)
    if "\x1b" in plain or "\x9b" in plain:
        plain = _ESCAPES.sub("", plain)
    plain = _CONTROLS.sub("", plain)
    return [_line(number, text) for number, text in enumerate(plain.rstrip("\n").split("\n"), 1)]


def _line(number: int, text: str) -> Line:
    text = text[:_LONGEST_LINE]
    found = _BEFORE.match(text)
    return Line(number, text[found.end() :], found["writer"] or "") if found is not None else Line(number, text)
