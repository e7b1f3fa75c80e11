"""The places that a text of torch names, in the project as it is here: files of elsewhere by how their paths end."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.runs.places import Anchor, Project
from nonstrict.knowledge.torch_packages import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.confirm.runs.told import Frame


#: A folder of Windows that holds the standard library in `Lib`.
_PYTHON = re.compile(r"(?:c?python|anaconda|miniconda|miniforge|mambaforge)-?3[\w.-]*", re.IGNORECASE)


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
        candidates, sure = ((path,), True) if path is not None else self._ending(frame)
        if not candidates and _in_torch(_parts(frame.path)) >= 0:
            return None
        if len(candidates) != 1 or not sure:
            return Unplaced(frame.path, frame.line, candidates)
        code = self._project.code(candidates[0])
        text = code.text(frame.line) if code is not None else ""
        edited = bool(frame.text) and frame.text != text
        return Place(frame.path, candidates[0], frame.line, frame.name, text, edited)

    def _ending(self, frame: Frame) -> tuple[tuple[str, ...], bool]:
        """The files whose paths end as one does for the longest, and whether that is enough.

        Of several those count that have the line that is quoted. Where only the names of the files agree, a quoted
        line has to stand in the file; where none is quoted, the file has to lie at the top of the project.
        """
        wanted = _parts(frame.path)
        if self._by_name is None:
            self._by_name = {}
            for path in self._listed():
                self._by_name.setdefault(os.path.basename(path), []).append(os.path.abspath(path))
        lengths = {path: _common(wanted, _parts(path)) for path in self._by_name.get(wanted[-1], ())}
        most = max(lengths.values(), default=0)
        if (at := _in_torch(wanted)) >= 0 and most < len(wanted) - at:
            return (), False
        best = [path for path, length in lengths.items() if length == most]
        if len(best) > 1 and frame.text:
            same = [path for path in best if (code := self._project.code(path)) and code.text(frame.line) == frame.text]
            best = same or best
        return tuple(sorted(best)), most > 1 or any(self._may_be(path, frame) for path in best)

    def _may_be(self, path: str, frame: Frame) -> bool:
        """Whether a file that is only called like one of another machine may be that file."""
        if not frame.text:
            return os.path.dirname(path) == self._project.root
        code = self._project.code(path)
        return code is not None and code.found(Anchor("", "", 0, frame.text), frame.line)[0] > 0


def _parts(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many names two paths end with alike."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


def _is_foreign(path: str) -> bool:
    """Whether a path is that of an installed library, of Python itself, or of no file."""
    parts = _parts(path)
    installed = {"site-packages", "dist-packages"} & set(parts)
    standard = any(one.startswith("python3.") for one in parts[:-1]) and "lib" in parts
    windows = "Lib" in parts and any(map(_PYTHON.fullmatch, parts[: parts.index("Lib")]))
    return bool(installed) or standard or windows or path.startswith("<") or not parts[-1]


def _in_torch(parts: Sequence[str]) -> int:
    """Where in a path the source of torch begins; -1 if it does not lie there."""
    found = (at for at, (one, after) in enumerate(pairwise(parts)) if one == "torch" and after in PACKAGES)
    return next(found, -1)
