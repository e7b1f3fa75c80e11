"""Reading TOML files, and finding again where in them a key or a value stands."""

from __future__ import annotations

import re
import sys
from typing import Any

from nonstrict.settings.errors import ConfigurationError, Place, invalid

_POSITION = re.compile(r"\s*\(at line (\d+), column (\d+)\)|\s*\(at end of document\)")
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(#.*)?$")


def parsed(path: str, text: str, advice: str = "correct the file") -> dict[str, Any]:
    """The document; `advice` is what to do where it cannot be read.

    Raises:
        ConfigurationError: the text is not TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        position = _POSITION.search(message)
        if position and position[1]:
            row, column = int(position[1]), int(position[2])
        else:
            row, column = max(text.count("\n"), 1), 1
        reason = _POSITION.sub("", message)
        message = f"The file is not valid TOML: {reason}"
        finding = invalid(path, Place(row, column), message, advice)
        raise ConfigurationError(f"{path}:{row}:{column}: not valid TOML: {reason}", (finding,)) from None
    except RecursionError:
        finding = invalid(path, Place(), "The file is nested too deeply", advice)
        raise ConfigurationError(f"{path}: nested too deeply", (finding,)) from None


def place_of(text: str, table: tuple[str, ...], key: str, part: str = "") -> Place:
    """Where `key` of a table stands, or `part` of its value; the first line where the search fails.

    `table` is the path of the table ((`tool`, `nonstrict`), or () at the top of the file).
    """
    lines = text.split("\n")
    here: tuple[str, ...] = ()
    fallback = Place(1, 1, max(len(lines[0].rstrip()), 1))
    dotted = (*table, key)
    for index, line in enumerate(lines):
        header = _HEADER.match(line)
        if header:
            here = _names(header[1])
            if here == dotted:
                return _part_after(lines, index, part) or Place(index + 1, 1, len(line.rstrip()))
            if here == table:
                fallback = Place(index + 1, 1, len(line.rstrip()))
            continue
        match = re.match(r"(\s*)([^=#]+?)\s*=", line)
        if match and here + _names(match[2]) == dotted:
            return _part_after(lines, index, part) or Place(index + 1, len(match[1]) + 1, len(match[2]))
    return fallback


def _part_after(lines: list[str], start: int, part: str) -> Place | None:
    """The first quoted or bare occurrence of `part` on or after a line, before the next table."""
    if not part:
        return None
    pattern = re.compile(rf"""(?<![\w.-])["']?{re.escape(part)}["']?(?![\w.-])""")
    for index in range(start, len(lines)):
        if index > start and _HEADER.match(lines[index]):
            return None
        match = pattern.search(lines[index])
        if match:
            return Place(index + 1, match.start() + 1, match.end() - match.start())
    return None


def _names(dotted: str) -> tuple[str, ...]:
    """The names of a dotted key, quotes removed."""
    return tuple(
        quoted or single or bare
        for quoted, single, bare in re.findall(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))\s*(?:\.|$)""", dotted)
    )


def find_quoted(text: str, part: str) -> Place | None:
    """The first place where a whole string or bare key is `part`."""
    return _part_after([line if not _HEADER.match(line) else "" for line in text.split("\n")], 0, part)
