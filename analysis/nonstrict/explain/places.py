"""The places that a text of torch names, in the project as it is here: files of elsewhere by how their paths end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.runs.places import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.confirm.runs.told import Frame


class Place(NamedTuple):
    """A line of the project that a text names.

    `given` is the path as the text has it; `path` that of the file here, absolute. `text` is what stands there, and
    `edited` says that the text quotes another line.
    """

    given: str
    path: str
    line: int
    function: str
    text: str
    edited: bool = False


class Unplaced(NamedTuple):
    """A line that a text names and the project does not have: no file is called so, or any of `candidates` may be."""

    given: str
    line: int
    candidates: tuple[str, ...] = ()


class Finder:
    """Looks for files of a project; `listed` gives the paths of all, and asked once, for names that are none here."""

    def __init__(self, root: str, listed: Callable[[], Iterable[str]]) -> None:
        """Read nothing yet."""
        self._project = Project(root)
        self._listed = listed
        self._by_name: dict[str, list[str]] | None = None

    def place(self, frame: Frame) -> Place | Unplaced | None:
        """Where a line is here; None for one of a library, or of no file."""
        if _is_foreign(frame.path):
            return None
        path = self._project.path(frame.path)
        candidates = (path,) if path is not None else self._ending(frame)
        if len(candidates) != 1:
            return Unplaced(frame.path, frame.line, candidates)
        code = self._project.code(candidates[0])
        text = code.text(frame.line) if code is not None else ""
        edited = bool(frame.text) and frame.text != text
        return Place(frame.path, candidates[0], frame.line, frame.name, text, edited)

    def _ending(self, frame: Frame) -> tuple[str, ...]:
        """The files whose paths end as one does for the longest; of several those that have the line that is quoted."""
        wanted = _parts(frame.path)
        if self._by_name is None:
            self._by_name = {}
            for path in self._listed():
                self._by_name.setdefault(os.path.basename(path), []).append(os.path.abspath(path))
        lengths = {path: _common(wanted, _parts(path)) for path in self._by_name.get(wanted[-1], ())}
        most = max(lengths.values(), default=0)
        best = [path for path, length in lengths.items() if length == most]
        if len(best) > 1 and frame.text:
            same = [path for path in best if (code := self._project.code(path)) and code.text(frame.line) == frame.text]
            best = same or best
        return tuple(sorted(best))


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many names two paths end with alike."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _is_foreign(path: str) -> bool:
    """Whether a path is that of a library, of Python itself, or of no file."""
    parts = _parts(path)
    installed = {"site-packages", "dist-packages"} & set(parts)
    standard = any(one.startswith("python3.") for one in parts[:-1]) and "lib" in parts
    return bool(installed) or standard or path.startswith("<") or not parts[-1]
