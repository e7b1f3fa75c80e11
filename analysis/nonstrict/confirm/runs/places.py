"""The files of a project as a run knew them: under which path, and whether the code is the same."""

from __future__ import annotations

import ast
import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.recorded import function_hashes, functions_in
from nonstrict.confirm.runs.told import steps_of
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nonstrict.confirm.runs.told import Frame
    from nonstrict.text.source import Source

_LIBRARIES = frozenset({"site-packages", "dist-packages"})


class Anchor(NamedTuple):
    """A line by what stays when code around it is edited.

    `function` is the innermost one around it ("" at the top level), `source` the hash of its text, `row` how many of
    its lines stand before, blank ones not counted, and `text` what stands there.
    """

    function: str
    source: str
    row: int
    text: str


class Code:
    """The code of a file of the project, as it is now."""

    def __init__(self, source: Source) -> None:
        """Look at the functions of a file only when somebody asks."""
        self._source = source
        self._lines = source.code.split("\n")

    @cached_property
    def _functions(self) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        try:
            return list(functions_in(tree_of(self._source.code, path=self._source.path), ""))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []

    @cached_property
    def _by_name(self) -> dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for full, node in self._functions:
            found.setdefault(full, []).append(node)
        return found

    @cached_property
    def _hashes(self) -> dict[str, str]:
        try:
            return function_hashes(self._source.code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}

    def text_is(self, code: str) -> bool:
        """Whether this is the code of a file."""
        return self._source.code == code

    def text(self, line: int) -> str:
        """What stands on a line, without blanks around it; "" behind the end."""
        return self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""

    def column(self, line: int, characters: int) -> int:
        """The column, in UTF-8 bytes, of a position in `text(line)`."""
        raw = self._lines[line - 1]
        indent = len(raw) - len(raw.lstrip())
        return len(raw[: indent + characters].encode("utf-8", "surrogatepass"))

    def named(self, line: int, name: str) -> str:
        """The qualified name of the function called `name` whose code begins at a line, or lies around it."""
        own = [(full, node) for full, node in self._functions if node.name == name and _spans(node, line)]
        best = max(own, key=lambda one: one[1].lineno, default=None)
        return best[0] if best is not None else name

    def begin(self, name: str, line: int) -> int:
        """The first line of the function of this qualified name that lies around a line; the line, if none does."""
        own = (node for full, node in self._functions if full == name and _spans(node, line))
        return max((_first(node) for node in own), default=line)

    def last(self, name: str, line: int) -> int:
        """The last line of that function."""
        own = (node for full, node in self._functions if full == name and _spans(node, line))
        return max((node.end_lineno or node.lineno for node in own), default=line)

    def first_use(self, source: tuple[str, ...], function: str, line: int) -> int:
        """The first line on which that function reads a variable, or goes most of the steps behind it; 0 if none."""
        nodes = (node for full, node in self._functions if full == function and _spans(node, line))
        body = [one for node in nodes for statement in node.body for one in ast.walk(statement)]
        for length in range(len(source), 0, -1):
            uses = [one.lineno for one in body if isinstance(one, ast.expr) and steps_of(one) == source[:length]]
            if uses:
                return min(uses)
        return 0

    def anchor(self, line: int) -> Anchor:
        """What a line can be found by."""
        around = [(full, node) for full, node in self._functions if _spans(node, line)]
        name, node = max(around, key=lambda one: one[1].lineno, default=("", None))
        if node is None:
            return Anchor("", "", 0, self.text(line))
        return Anchor(name, self._hashes.get(name, ""), self._row(_first(node), line), self.text(line))

    def found(self, anchor: Anchor, line: int) -> tuple[int, bool]:
        """Where a line that was at `line` is now (0: nowhere), and whether the code around it was edited."""
        if not anchor.function:
            same = [number for number, text in enumerate(self._lines, 1) if text.strip() == anchor.text]
            return (min(same, key=lambda number: abs(number - line)), False) if same else (0, True)
        own = self._by_name.get(anchor.function, [])
        if anchor.source and self._hashes.get(anchor.function) == anchor.source:
            there = (self._at(node, anchor.row) for node in own)
            return next((at for at in there if self.text(at) == anchor.text), 0), False
        same = [at for node in own for at in _rows(node) if self.text(at) == anchor.text]
        return (min(same, key=lambda number: abs(number - line)), True) if same else (0, True)

    def _row(self, first: int, line: int) -> int:
        return sum(bool(self.text(number)) for number in range(first, line))

    def _at(self, node: ast.FunctionDef | ast.AsyncFunctionDef, row: int) -> int:
        return dict(enumerate(at for at in _rows(node) if self.text(at))).get(row, 0)


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Where the code of a function begins: at its decorators."""
    return min((node.lineno, *(one.lineno for one in node.decorator_list)))


def _rows(node: ast.FunctionDef | ast.AsyncFunctionDef) -> range:
    return range(_first(node), (node.end_lineno or node.lineno) + 1)


def _spans(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return line in _rows(node)


def _on_disk(path: str) -> Code | None:
    from nonstrict.text.source import UnreadableSource, read_source

    try:
        return Code(read_source(path))
    except UnreadableSource:
        return None


class Project:
    """The files below a root, by the paths of a run; `maps` say which beginnings of paths stand for which here."""

    def __init__(
        self,
        root: str,
        maps: Sequence[tuple[str, str]] = (),
        code_of: Callable[[str], Code | None] | None = None,
    ) -> None:
        """Read files only when a run names them; `code_of` gives their code where not only the disk counts."""
        self._code_of = code_of or _on_disk
        self.root = os.path.abspath(root)
        self._roots = tuple(os.path.join(one, "") for one in dict.fromkeys((self.root, os.path.realpath(root))))
        self._maps = sorted(maps, key=lambda one: -len(one[0]))
        self._codes: dict[str, Code | None] = {}
        self._paths: dict[str, str | None] = {}
        #: Files of the run that are no library's and were not found here.
        self.missing: set[str] = set()

    def path(self, filename: str) -> str | None:
        """The absolute path of a file of the project that a run knew by this name; None if it is no such."""
        if filename not in self._paths:
            self._paths[filename] = self._path(filename)
        return self._paths[filename]

    def _path(self, filename: str) -> str | None:
        if not filename or filename.startswith("<"):
            return None
        name = filename.replace("\\", "/")
        for old, new in self._maps:
            if name == old or name.startswith(old.rstrip("/") + "/"):
                name = os.path.join(new, name[len(old) :].lstrip("/"))
                break
        absolute = os.path.normpath(os.path.join(self.root, name))
        below = next((absolute[len(root) :] for root in self._roots if absolute.startswith(root)), None)
        if _LIBRARIES & set(name.split("/")):
            return None
        if below is None or self.code(os.path.join(self.root, below)) is None:
            if name.startswith("/") or name[1:2] == ":":
                self.missing.add(filename)
            return None
        return os.path.join(self.root, below)

    def ending(self, name: str) -> str | None:
        """The file of the project whose path in the run ends so, of those that were asked for; None if not just one."""
        tail = "/" + name.lstrip("/")
        known = {path for given, path in self._paths.items() if path and given.replace("\\", "/").endswith(tail)}
        return next(iter(known)) if len(known) == 1 else None

    def code(self, path: str) -> Code | None:
        """The code of a file, None if it cannot be read."""
        if path not in self._codes:
            self._codes[path] = self._code_of(path)
        return self._codes[path]

    def of_project(self, frames: Iterable[Frame]) -> Iterator[tuple[str, Frame]]:
        """Those lines of a traceback that are the project's, with their paths here."""
        for frame in frames:
            path = self.path(frame.path) or self.ending(frame.path)
            if path is not None:
                yield path, frame

    def suggestion(self) -> str:
        """A mapping that would find a missing file below the root; "" if none would."""
        for filename in sorted(self.missing):
            parts = filename.replace("\\", "/").split("/")
            for start in range(1, len(parts)):
                if os.path.isfile(os.path.join(self.root, *parts[start:])):
                    return f"--map {'/'.join(parts[:start]) or '/'}={os.path.relpath(self.root)}"
        return ""
