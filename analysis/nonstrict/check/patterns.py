"""File patterns of settings, compiled: globs against names, or against whole paths."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.settings.model import Pattern


class PathMatcher:
    """Whether a file or directory matches one of some patterns.

    A glob without `/` matches the name of a file or directory anywhere; one with `/` matches paths relative to
    the directory of its configuration. `*` crosses directories, as in ruff. `suffixes` are the ends of names that
    match whatever comes before; `only_suffixes` says that there are no other patterns.
    """

    __slots__ = ("_name_globs", "_names", "_paths", "only_suffixes", "suffixes")

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        """Compile the patterns."""
        names: set[str] = set()
        suffixes: set[str] = set()
        name_globs: list[str] = []
        paths: list[str] = []
        for pattern in patterns:
            glob = pattern.glob.rstrip("/")
            if "/" in glob:
                paths.append(path_regex(pattern))
            elif not _is_glob(glob):
                names.add(glob)
            elif glob.startswith("*.") and not _is_glob(glob[1:]):
                suffixes.add(glob[1:])
            else:
                name_globs.append(glob_regex(glob))
        self._names = frozenset(names)
        self.suffixes = tuple(suffixes)
        self.only_suffixes = not (names or name_globs or paths)
        self._name_globs = _any_of(name_globs)
        self._paths = _any_of(paths)

    def matches(self, name: str, path: str) -> bool:
        """Whether the entry of this name, at this absolute path, matches."""
        return (
            name in self._names
            or (bool(self.suffixes) and name.endswith(self.suffixes))
            or (self._name_globs is not None and self._name_globs.fullmatch(name) is not None)
            or (self._paths is not None and self._paths.fullmatch(path.replace("\\", "/")) is not None)
        )

    def matches_any_part(self, path: str, root: str) -> bool:
        """Whether an absolute path matches, or, if it lies below `root`, a directory between the two."""
        inside = path.startswith(root.rstrip(os.sep) + os.sep)
        while path != root:
            parent, name = os.path.split(path)
            if self.matches(name, path):
                return True
            if not inside or parent == path:
                return False
            path = parent
        return False


def _is_glob(text: str) -> bool:
    return any(character in text for character in "*?[{")


def _any_of(regexes: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{regex})" for regex in regexes)) if regexes else None


def path_regex(pattern: Pattern) -> str:
    """A regular expression for the absolute paths, with `/`, that a pattern with a `/` means."""
    glob = pattern.glob.rstrip("/")
    if glob.startswith("/"):
        return glob_regex(glob)
    base = pattern.base.replace("\\", "/").rstrip("/")
    return re.escape(base) + "/" + glob_regex(glob.removeprefix("./"))


@lru_cache(maxsize=256)
def glob_regex(glob: str) -> str:
    """A regular expression for a glob: `*`, `**/`, `?`, `[...]`, `{a,b}`."""
    parts: list[str] = []
    index, depth = 0, 0
    while index < len(glob):
        character = glob[index]
        if glob.startswith("**/", index):
            parts.append("(?:.*/)?")
            index += 3
            continue
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "[" and (end := glob.find("]", index + 2)) > 0:
            body = glob[index + 1 : end].replace("\\", "\\\\")
            parts.append("[" + ("^" + body[1:] if body[0] in "!^" else body) + "]")
            index = end
        elif character == "{" and "}" in glob[index:]:
            parts.append("(?:")
            depth += 1
        elif character == "}" and depth:
            parts.append(")")
            depth -= 1
        elif character == "," and depth:
            parts.append("|")
        else:
            parts.append(re.escape(character))
        index += 1
    return "".join(parts)
