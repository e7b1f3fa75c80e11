"""Pasted text as lines: without colors, and without what loggers, test runners and CI services put before a line."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Longer lines are cut: no text of torch is so long.
_LONGEST_LINE = 20_000
#: So much of a text is looked at to tell whether it is one.
_HEAD = 1 << 16
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
    | \[(?:rank|default)\d+\]:[ ]?
    | \(\w+[ ]pid=\d+(?:,[ ]ip=[\d.]+)?\)[ ]
    | [\w.-]+-\d+[ ]+\|[ ]                                     # docker compose
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
    """A line of a pasted text: its number, from 1, and what stands in it but for what was put before it."""

    number: int
    text: str


class NoTextError(Exception):
    """What was given is no text."""


def decoded(content: bytes) -> str:
    """Bytes as text: UTF-8, or UTF-16 with a mark, as some shells write it.

    Raises:
        NoTextError: they are no text.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", "replace")
    if b"\0" in content[:_HEAD]:
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
    return [Line(number, _told(line)) for number, line in enumerate(plain.rstrip("\n").split("\n"), 1)]


def _told(line: str) -> str:
    line = line[:_LONGEST_LINE]
    found = _BEFORE.match(line)
    return line[found.end() :] if found is not None and found.end() else line
