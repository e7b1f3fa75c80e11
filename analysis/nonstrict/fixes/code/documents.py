"""The text and the tree of one file as a fix sees them: where a node stands, what surrounds it, how it is written."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.walk import children
from nonstrict.findings import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.text.source import Source

Node = TypeVar("Node", bound=ast.AST)


class Document:
    """One file that parses, with one tree of the whole text.

    The trees of the analysis are made piece by piece, and without what is never reached; an edit needs its
    surroundings, so a file that is to be changed is parsed once more.
    """

    def __init__(self, source: Source, tree: ast.Module) -> None:
        self.source = source
        self.path = source.path
        self.code = source.code
        self.tree = tree

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the code, without line ends."""
        return self.source.lines

    @property
    def nodes(self) -> list[ast.AST]:
        """All nodes but operators and contexts (`Add`, `Load`), outer ones before inner ones."""
        return self._family[0]

    def of(self, kind: type[Node], *others: type[Node]) -> Sequence[Node]:
        """All nodes of some kinds, outer ones before inner ones; none of these has kinds below it (`ast.Name`)."""
        if others:
            kinds = (kind, *others)
            return [node for node in cast("list[Node]", self.nodes) if node.__class__ in kinds]
        return cast("list[Node]", self._by_kind.get(kind, []))

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[node.__class__].append(node)
        return dict(found)

    @property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return self._family[1]

    @cached_property
    def _family(self) -> tuple[list[ast.AST], dict[ast.AST, ast.AST]]:
        """All nodes, and the node around each."""
        nodes: list[ast.AST] = [self.tree]
        parents: dict[ast.AST, ast.AST] = {}
        for node in nodes:
            inner = children(node)
            nodes += inner
            parents.update(dict.fromkeys(inner, node))
        return nodes, parents

    @cached_property
    def _starts(self) -> list[int]:
        """Offsets of the lines into the code, in characters."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node; None for the module."""
        return self._parents.get(node)

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the innermost first."""
        while (node := self._parents.get(node)) is not None:  # type: ignore[assignment]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that is or holds a node; None for the module."""
        return next((one for one in (node, *self.around(node)) if isinstance(one, ast.stmt)), None)

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around a node; None at the level of the module or of a class."""
        return next((one for one in self.around(node) if isinstance(one, FunctionNode)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which a statement stands, itself included."""
        holder = self._parents.get(statement)
        for _, value in ast.iter_fields(holder) if holder is not None else ():
            if isinstance(value, list) and statement in (block := cast("list[ast.stmt]", value)):
                return block
        return [statement]

    def at(self, span: Span, *kinds: type[Node]) -> Node | None:
        """The outermost node of one of some kinds that has exactly the range of a span; None if there is none."""
        if span.path != self.path:
            return None
        starting = self._by_start.get((span.line, span.column), ())
        return next((node for node in starting if isinstance(node, kinds) and self.span(node) == span), None)

    @cached_property
    def _by_start(self) -> dict[tuple[int, int], list[ast.AST]]:
        found: defaultdict[tuple[int, int], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            line: int | None = getattr(node, "lineno", None)
            if line is not None:
                found[line, node.col_offset].append(node)  # type: ignore[attr-defined]
        return dict(found)

    def names_within(self, start: int, end: int) -> list[ast.Name]:
        """The names between two positions in `code`, in the order of the text."""
        offsets, names = self._names
        found = names[bisect_left(offsets, start) : bisect_left(offsets, end)]
        return [name for name in found if self.bounds(name)[1] <= end]

    @cached_property
    def _names(self) -> tuple[list[int], list[ast.Name]]:
        """Where the names of the file begin, and the names."""
        names = [(self.bounds(node)[0], node) for node in self.of(ast.Name)]
        names.sort(key=lambda one: one[0])
        return [offset for offset, _ in names], [name for _, name in names]

    @cached_property
    def imported(self) -> Mapping[str, str]:
        """What the imports at the top level bind, as dotted names."""
        found: dict[str, str] = {}
        for statement in self.tree.body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    root = alias.name.partition(".")[0]
                    found[alias.asname or root] = alias.name if alias.asname else root
            elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
                found |= {alias.asname or alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
        return found

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that assignments, definitions and imports bind, in any scope."""
        names = {node.id for node in self.of(ast.Name) if isinstance(node.ctx, ast.Store)}
        names.update(node.name for node in self.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for node in self.of(ast.Import, ast.ImportFrom):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        return frozenset(names)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of the parameters of all functions."""
        return frozenset(node.arg for node in self.of(ast.arg))

    def span(self, node: ast.AST) -> Span:
        """The range of a node."""
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        end_line: int = getattr(node, "end_lineno", None) or line
        end_column: int = getattr(node, "end_col_offset", None) or column
        return Span(self.path, line, column, end_line, end_column)

    def offset(self, line: int, column: int) -> int:
        """The position in `code`, in characters, of a line and a column in bytes."""
        text = self.lines[line - 1]
        points = (
            column if text.isascii() else len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        )
        return self._starts[line - 1] + points

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column in bytes of a position in `code`."""
        line = bisect_right(self._starts, offset) - 1
        line = min(line, len(self.lines) - 1)
        before = self.lines[line][: offset - self._starts[line]]
        return line + 1, len(before.encode("utf-8", "surrogatepass"))

    def range(self, start: int, end: int) -> Span:
        """The span between two positions in `code`."""
        return Span(self.path, *self.position(start), *self.position(end))

    def bounds(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends in `code`, in characters."""
        span = self.span(node)
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def begins_cell(self, offset: int) -> bool:
        """Whether the line of a position is the first of its notebook cell or fence, or of the file."""
        line = self.position(offset)[0]
        return line in {1, *(cell.first for cell in self.source.cells)}

    def ends_cell(self, offset: int) -> bool:
        """Whether the line of a position is the last of its notebook cell or fence, or of the file."""
        line = self.position(offset)[0]
        return line in {len(self.lines), *(cell.first + cell.lines - 1 for cell in self.source.cells)}

    def text(self, node: ast.AST) -> str:
        """A node as it is written."""
        start, end = self.bounds(node)
        return self.code[start:end]

    def indentation(self, statement: ast.stmt) -> str:
        """The blanks before a statement; those of its line where it stands behind another one (`if x: y`)."""
        line = self.lines[first_line(statement) - 1]
        return line[: len(line) - len(line.lstrip())]

    @cached_property
    def step(self) -> str:
        """What one level of indentation is in this file: that of the first block, else four blanks."""
        for node in self.nodes:
            body: list[ast.stmt] = getattr(node, "body", []) if isinstance(node, ast.stmt) else []
            if isinstance(node, ast.stmt) and body and body[0].lineno > node.lineno:
                outer, inner = self.indentation(node), self.indentation(body[0])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "


def first_line(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
