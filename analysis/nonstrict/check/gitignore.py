"""`.gitignore` files, as git reads them: compiled to one regular expression per file, nearest file last.

A reader of its own because importing a general one takes longer than walking a thousand files; a test holds it
against `pathspec`. Semantics: https://git-scm.com/docs/gitignore.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_SPECIAL = frozenset("*?[\\")


class IgnoreFile(NamedTuple):
    """The patterns of one file; `base` is its directory with a closing separator.

    `names` are literal names ignored at any depth; `rules` the rest, in order, as (regex, negated, only directories).
    `literal` says that `names` is all there is, which is the common and fast case.
    """

    base: str
    names: frozenset[str]
    directory_names: frozenset[str]
    rules: tuple[tuple[re.Pattern[str], bool, bool], ...]

    def verdict(self, name: str, path: str, is_directory: bool) -> bool | None:
        """True if ignored, False if a `!` pattern takes it back, None if the file does not say."""
        if name in self.names or (is_directory and name in self.directory_names):
            return True
        relative = path[len(self.base) :].replace(os.sep, "/")
        for regex, negated, only_directories in self.rules:
            if (is_directory or not only_directories) and regex.match(relative):
                return not negated
        return None


def read_ignore_file(path: str, directory: str) -> IgnoreFile | None:
    """The patterns of a file for an absolute directory; None if it cannot be read or has none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    return compile_patterns(lines, directory)


def compile_patterns(lines: list[str], directory: str) -> IgnoreFile | None:
    """The patterns of a `.gitignore` in an absolute directory, the last one first; None if there are none."""
    parsed = [parts for line in lines if (parts := _parse(line))]
    if not parsed:
        return None
    base = directory.rstrip(os.sep) + os.sep
    if not any(negated for _, negated, _, _ in parsed):
        literal = [entry for entry in parsed if entry[3]]
        names = frozenset(text for text, _, only_directories, _ in literal if not only_directories)
        directories = frozenset(text for text, _, only_directories, _ in literal if only_directories)
        parsed = [entry for entry in parsed if not entry[3]]
        return IgnoreFile(base, names, directories, _merged(parsed))
    rules = tuple(
        (re.compile(_regex(text)), negated, only_directories) for text, negated, only_directories, _ in reversed(parsed)
    )
    return IgnoreFile(base, frozenset(), frozenset(), rules)


def _merged(parsed: list[tuple[str, bool, bool, bool]]) -> tuple[tuple[re.Pattern[str], bool, bool], ...]:
    """The rules as one expression for everything and one for directories: order says nothing without negation."""
    merged: list[tuple[re.Pattern[str], bool, bool]] = []
    for only_directories in (False, True):
        regexes = [_regex(text) for text, _, directories, _ in parsed if directories == only_directories]
        if regexes:
            merged.append((re.compile("|".join(regexes)), False, only_directories))
    return tuple(merged)


def _parse(line: str) -> tuple[str, bool, bool, bool] | None:
    """(pattern, negated, only directories, literal name) of a line; None for blanks and comments."""
    stripped = line.rstrip()
    if line[len(stripped) :].startswith(" ") and stripped.endswith("\\"):
        stripped += " "
    if not stripped or stripped.startswith("#"):
        return None
    negated = stripped.startswith("!")
    text = stripped[negated:]
    only_directories = text.endswith("/")
    text = text.rstrip("/") if only_directories else text
    if not text:
        return None
    return text, negated, only_directories, "/" not in text and not _SPECIAL.intersection(text)


def _regex(text: str) -> str:
    """A regular expression for the whole relative path that a pattern means."""
    anchored = "/" in text
    text = text.removeprefix("/")
    if not anchored:
        return f"(?:.*/)?{_segment(text)}\\Z"
    pieces = text.split("/")
    parts: list[str] = []
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        if piece == "**":
            parts.append(".+" if last else "(?:.*/)?")
        else:
            parts.append(_segment(piece) + ("" if last else "/"))
    return "".join(parts) + "\\Z"


def _segment(text: str) -> str:
    """A regular expression for one name of a pattern."""
    parts: list[str] = []
    index = 0
    while index < len(text):
        character = text[index]
        if character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "\\" and index + 1 < len(text):
            index += 1
            parts.append(re.escape(text[index]))
        elif character == "[" and (end := text.find("]", index + 2)) > 0:
            body = text[index + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            parts.append("[" + ("^/" + body[1:] if body[0] in "!^" else body) + "]")
            index = end
        else:
            parts.append(re.escape(character))
        index += 1
    return "".join(parts)
