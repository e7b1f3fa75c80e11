"""Cuts the source text of a slice out of a file: kept statements with their comments, as they were written."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.confirm.drivers import Driver


class Cut(NamedTuple):
    """The text of a slice; `futures` are the features that it imports from `__future__`, which must come first."""

    text: str
    futures: tuple[str, ...]


class _Edit(NamedTuple):
    """Replaces the characters from `start` to `end` of a text."""

    start: int
    end: int
    text: str


def cut(text: str, tree: ast.Module, driver: Driver, *, cuda: bool, failing: Collection[int] = ()) -> Cut:
    """The text of what a driver keeps.

    Without `cuda`, what asks for a GPU asks for the CPU. Statements that start on a line of `failing` are imports that
    failed: they are allowed to.
    """
    positions = _Positions(text)
    futures: list[str] = []
    parts: list[str] = []
    before = 0
    for index, node in enumerate(tree.body):
        start, end = positions.of(node)
        if _is_future(node):
            futures += [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        elif index in driver.kept and (node.lineno, node.col_offset) not in driver.dropped:
            edits = [*_dropped(node, driver.dropped, positions), *(() if cuda else _on_cpu(node, positions))]
            own = _applied(text, start, end, edits)
            if node.lineno in failing and isinstance(node, (ast.Import, ast.ImportFrom)):
                own = f"try:\n    {own}\nexcept ImportError:\n    pass"
            parts.append(_comments(text, before, start) + own + positions.rest_of_line(end))
        before = end
    return Cut("\n".join(_spaced(parts)), tuple(futures))


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _spaced(parts: list[str]) -> Iterator[str]:
    """The parts with blank lines around definitions, as most code has them."""
    was_definition = False
    for number, part in enumerate(parts):
        code = next((line for line in part.split("\n") if line.strip() and not line.startswith("#")), "")
        definition = code.startswith(("def ", "class ", "async ", "@"))
        if number and (definition or was_definition):
            yield "\n"
        yield part
        was_definition = definition


class _Positions:
    """Offsets in a text of the positions of `ast`, whose columns are UTF-8 bytes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        for line in text.split("\n")[:-1]:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        end = self._text.find("\n", start)
        row = self._text[start : end if end >= 0 else len(self._text)]
        return start + len(row.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node starts, decorators included, and ends."""
        start = self.at(node.lineno, node.col_offset)
        for decorator in getattr(node, "decorator_list", ()):
            start = min(start, self._text.rfind("@", 0, self.at(decorator.lineno, decorator.col_offset)))
        return start, self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def rest_of_line(self, end: int) -> str:
        """A comment behind a position."""
        stop = self._text.find("\n", end)
        rest = self._text[end : stop if stop >= 0 else len(self._text)]
        return rest.rstrip() if rest.lstrip().startswith("#") else ""

    def lines(self, start: int, end: int) -> tuple[int, int] | None:
        """The whole lines of a range with nothing else on them, comments behind it included; None if there is more."""
        first = self._text.rfind("\n", 0, start) + 1
        stop = self._text.find("\n", end)
        stop = stop if stop >= 0 else len(self._text)
        rest = self._text[end:stop].strip()
        if self._text[first:start].strip() or (rest and not rest.startswith("#")):
            return None
        return first, min(stop + 1, len(self._text))


def _comments(text: str, before: int, start: int) -> str:
    """The comments that stand directly above a statement."""
    lines = text[before:start].split("\n")[1:-1]
    kept: list[str] = []
    for line in reversed(lines):
        if not line.lstrip().startswith("#"):
            break
        kept.insert(0, line)
    return "".join(f"{line}\n" for line in kept)


def _dropped(node: ast.stmt, dropped: Collection[tuple[int, int]], positions: _Positions) -> Iterator[_Edit]:
    """Edits that leave statements out; a block that loses all of them passes."""
    for part in ast.walk(node):
        for block in _blocks(part):
            gone = [one for one in block if (one.lineno, one.col_offset) in dropped]
            for number, one in enumerate(gone):
                start, end = positions.of(one)
                whole = positions.lines(start, end)
                needed = len(gone) == len(block) and number == 0
                yield _Edit(*whole, "") if whole and not needed else _Edit(start, end, "pass")


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block: Any = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield cast("list[ast.stmt]", block)


def _on_cpu(node: ast.stmt, positions: _Positions) -> Iterator[_Edit]:
    """Edits that put on the CPU what a program asks of a GPU."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.split(":")[0] == "cuda":
            yield _Edit(*positions.of(part), '"cpu"')
        function = part.func if isinstance(part, ast.Call) and not part.args else None
        if isinstance(part, ast.Call) and isinstance(function, ast.Attribute) and function.attr == "cuda":
            yield _Edit(positions.of(function.value)[1], positions.of(part)[1], ".cpu()")


def _applied(text: str, start: int, end: int, edits: list[_Edit]) -> str:
    """A range of a text with edits in it; of edits inside each other, the outer one."""
    parts: list[str] = []
    position = start
    for edit in sorted(edits, key=lambda one: (one.start, -one.end)):
        if edit.start < position:
            continue
        parts += [text[position : edit.start], edit.text]
        position = min(edit.end, end)
    parts.append(text[position:end])
    return "".join(parts).rstrip()
