"""Fixes as patches that `git apply` and `patch -p1` take, in the directory from which paths are shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.fixes.applying import CannotApply, applied
from nonstrict.report.difference import unified
from nonstrict.report.style import one_line
from nonstrict.text.decode import decode
from nonstrict.text.source import SourceKind, UnreadableSource, read_bytes, source_kind

if TYPE_CHECKING:
    from nonstrict.findings import LocatedEdit, LocatedFix
    from nonstrict.report.context import Context

#: What stands between quotes in a name for what a patch could not hold otherwise.
_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}


class Patch(NamedTuple):
    """A patch, or why there is none."""

    text: str
    reason: str = ""


def patch(fix: LocatedFix, context: Context) -> Patch:
    """What a fix changes, in all files or in none."""
    files: dict[str, list[LocatedEdit]] = {}
    for edit in fix.edits:
        files.setdefault(edit.location.path, []).append(edit)
    try:
        return Patch("".join(_of_file(path, files[path], context) for path in sorted(files)))
    except CannotApply as error:
        return Patch("", one_line(str(error)))


def _of_file(path: str, edits: list[LocatedEdit], context: Context) -> str:
    """The patch of one file. Raises `CannotApply` where there can be none."""
    name = context.relative(path)
    if source_kind(path) is SourceKind.NOTEBOOK:
        raise CannotApply(f"{name} is a notebook")
    if os.path.isabs(name):
        raise CannotApply(f"{name} is outside of this directory")
    try:
        before = read_bytes(context.absolute(path))
    except UnreadableSource as error:
        raise CannotApply(f"{name} cannot be read: {error.reason}") from None
    if decode(before).text != context.lines.text(path):
        raise CannotApply(f"{name} is not what was checked")
    after = applied(name, before, edits)
    names = _named("a/", name), _named("b/", name)
    return unified(names, _utf8(name, before), _utf8(name, after))


def _utf8(name: str, data: bytes) -> str:
    """The text of a file as a patch holds it: byte for byte, also a byte order mark."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise CannotApply(f"{name} is not encoded in UTF-8") from None


def _named(side: str, name: str) -> str:
    """A name at the head of a patch, between quotes with escapes of C where it must be; a tab ends one with blanks."""
    if name.isprintable() and not set(name) & {'"', "\\"}:
        return f"{side}{name}\t" if " " in name else f"{side}{name}"
    return f'"{side}{"".join(map(_escaped, name))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
