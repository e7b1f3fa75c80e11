"""Several cases of the corpus as one: a function that calls what each of them marks, marked in their place.

Each case keeps its names, with its number behind them, and what its `main` does; the function gets the arguments of all
of them. Cases of other shapes are left out: those whose region does more than call a marked function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

MARKER = "torch._dynamo.nonstrict_trace"


class Part(NamedTuple):
    """A case that can be merged: its statements, its marked function and region, and what it is first called with."""

    path: Path
    body: tuple[ast.stmt, ...]
    marked: ast.FunctionDef
    region: ast.FunctionDef
    first: tuple[ast.expr, ...]


class Merged(NamedTuple):
    """A program made of several cases, and the case of each of its lines that comes from one."""

    text: str
    origins: dict[int, Path]


def part_of(path: Path) -> Part | None:
    """A case as a part of others; None if it has another shape."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    functions = [one for one in body if isinstance(one, ast.FunctionDef)]
    marking = {MARKER, *_imported_markers(body)}
    marked = [one for one in functions if _marks(one, marking)]
    regions = [one for one in functions if any("torch.compile" in ast.unparse(mark) for mark in one.decorator_list)]
    mains = [one for one in functions if one.name == "main" and not one.args.args]
    if not len(marked) == len(regions) == len(mains) == 1 or not _only_hands_on(regions[0], marked[0]):
        return None
    calls = _calls_of(mains[0], regions[0].name)
    if not calls or calls[0].keywords or any(len(one.args) != len(calls[0].args) for one in calls):
        return None
    first = [_closed(argument, mains[0]) for argument in calls[0].args]
    if any(one is None for one in first) or sum(_mentions(one, marking) for one in body) > 1:
        return None
    return Part(path, tuple(body), marked[0], regions[0], tuple(one for one in first if one is not None))


def _imported_markers(body: Sequence[ast.stmt]) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.ImportFrom) and one.module == "torch._dynamo":
            yield from (alias.asname or alias.name for alias in one.names if alias.name == "nonstrict_trace")


def _marks(function: ast.FunctionDef, marking: Collection[str]) -> bool:
    return len(function.decorator_list) == 1 and ast.unparse(function.decorator_list[0]) in marking


def _mentions(statement: ast.stmt, marking: Collection[str]) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return False
    return any(isinstance(one, ast.expr) and ast.unparse(one) in marking for one in ast.walk(statement))


def _closed(argument: ast.expr, main: ast.FunctionDef) -> ast.expr | None:
    """An argument of a call in terms of torch alone, with the variables of `main` written out."""
    assigned = [one for one in main.body if isinstance(one, ast.Assign)]
    values = {one.targets[0].id: one.value for one in reversed(assigned) if isinstance(one.targets[0], ast.Name)}
    written = ast.parse(ast.unparse(argument), mode="eval").body
    for _ in range(3):
        written = _Writing(values).visit(written)
    names = {one.id for one in ast.walk(written) if isinstance(one, ast.Name)}
    return written if names <= {"torch"} else None


class _Writing(ast.NodeTransformer):
    """Puts what variables hold in their place."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._values.get(node.id)
        return ast.parse(ast.unparse(value), mode="eval").body if value is not None else node


def _calls_of(tree: ast.AST, name: str) -> list[ast.Call]:
    return [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _calls(one, name)]


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _only_hands_on(region: ast.FunctionDef, marked: ast.FunctionDef) -> bool:
    """Whether a region calls the marked function once with what it is given, and only computes with the result."""
    if len(region.body) != 1 or not isinstance(region.body[0], ast.Return):
        return False
    names = [one.arg for one in region.args.args]
    calls = [one for one in ast.walk(region.body[0]) if isinstance(one, ast.Call)]
    own = len(calls) == 1 and _calls(calls[0], marked.name) and not calls[0].keywords
    return own and [ast.unparse(one) for one in calls[0].args] == names == [one.arg for one in marked.args.args]


def merged(parts: Sequence[Part]) -> Merged:
    """One program of several parts."""
    pieces: list[tuple[str, Path | None]] = [("import torch", None)]
    offsets = [sum(len(one.first) for one in parts[:number]) for number in range(len(parts))]
    everything = [ast.unparse(argument) for part in parts for argument in part.first]
    for number, part in enumerate(parts):
        rename = _Renaming(_bound(part), f"_{number}", part, offsets[number], everything, number)
        for statement in part.body:
            if statement is part.region or _is_guard(statement):
                continue
            changed = rename.visit(ast.parse(ast.unparse(statement)))
            pieces.append((ast.unparse(changed), part.path))
    names = [f"a{number}" for number in range(len(everything))]
    results = [
        f"{part.marked.name}_{number}({', '.join(names[offsets[number] : offsets[number] + len(part.first)])})"
        for number, part in enumerate(parts)
    ]
    given = ", ".join(names)
    pieces += [
        (f"@{MARKER}\ndef merged({given}):\n    return {', '.join(results)}", None),
        (f"@torch.compile(fullgraph=True)\ndef forward({given}):\n    return merged({given})", None),
        ("def main():\n" + "\n".join(f"    main_{number}()" for number in range(len(parts))), None),
        ("if __name__ == '__main__':\n    main()", None),
    ]
    lines: list[str] = []
    origins: dict[int, Path] = {}
    for text, path in pieces:
        own = text.split("\n")
        if path is not None:
            origins |= {len(lines) + number: path for number in range(1, len(own) + 1)}
        lines += [*own, "", ""]
    return Merged("\n".join(lines), origins)


def _bound(part: Part) -> frozenset[str]:
    """The names that a case binds at its top level, but for those of modules."""
    found: set[str] = set()
    for statement in part.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            found.add(statement.name)
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
            found |= {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and _stores(one)}
    return frozenset(found)


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_guard(statement: ast.stmt) -> bool:
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return text or (isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test))


class _Renaming(ast.NodeTransformer):
    """Numbers the names of a case, takes its marker away, and calls the common region in place of its own."""

    def __init__(
        self, names: frozenset[str], suffix: str, part: Part, offset: int, everything: list[str], number: int
    ) -> None:
        self._names, self._suffix, self._part = names, suffix, part
        self._offset, self._everything, self._number = offset, everything, number

    def _new(self, name: str) -> str:
        return name + self._suffix if name in self._names else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new(node.id)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = list(map(self._new, node.names))
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new(node.arg)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._new(node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name == self._part.marked.name:
            node.decorator_list = []
        node.name = self._new(node.name)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not _calls(node, self._part.region.name):
            return self.generic_visit(node)
        own = [ast.unparse(self.visit(argument)) for argument in node.args]
        given = [*self._everything[: self._offset], *own, *self._everything[self._offset + len(own) :]]
        return ast.parse(f"forward({', '.join(given)})[{self._number}]", mode="eval").body
