"""The text of a program with its syntax tree, and edits of the text: comments stay where they are."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Edit(NamedTuple):
    """A part of a text, in bytes of its encoding, and what takes its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Program:
    """A text that parses."""

    text: str
    tree: ast.Module

    @staticmethod
    def of(text: str) -> Program | None:
        """A program, or None for what does not parse."""
        try:
            return Program(text, ast.parse(text))
        except (SyntaxError, ValueError):
            return None

    def offset(self, row: int, column: int) -> int:
        """Where a position of the tree is in the encoded text."""
        lines = self.text.encode().split(b"\n")
        return sum(len(line) + 1 for line in lines[: row - 1]) + column

    def replacing(self, node: ast.expr | ast.stmt | ast.alias | ast.arg, text: str) -> Edit:
        """The edit that puts a text in the place of a node."""
        start = self.offset(node.lineno, node.col_offset)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Edit(start, self.offset(node.end_lineno, node.end_col_offset), text)

    def following(self, node: ast.stmt, text: str) -> Edit:
        """The edit that puts a text behind a node."""
        end = self.replacing(node, "").end
        return Edit(end, end, text)

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return ast.get_source_segment(self.text, node) or ""

    def edited(self, edits: Iterable[Edit]) -> str:
        """The text after edits, which do not overlap."""
        data = self.text.encode()
        for edit in sorted(edits, reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data.decode()

    def lines_of(self, statement: ast.stmt) -> tuple[int, int]:
        """First and last row of a statement, with its decorators and the comments directly above it."""
        decorators = [node.lineno for node in getattr(statement, "decorator_list", [])]
        first = min([statement.lineno, *decorators])
        lines = self.text.split("\n")
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        assert statement.end_lineno is not None
        return first, statement.end_lineno

    def taken(self, statements: Iterable[ast.stmt]) -> tuple[list[str], str]:
        """The lines of some statements of the module, each as one text, and the text without them."""
        lines = self.text.split("\n")
        pieces: list[str] = []
        gone: set[int] = set()
        for statement in statements:
            first, last = self.lines_of(statement)
            pieces.append("\n".join(lines[first - 1 : last]))
            gone |= set(range(first, last + 1))
        return pieces, "\n".join(line for row, line in enumerate(lines, 1) if row not in gone)

    def after_imports(self) -> int:
        """The row behind the docstring and the imports with which the module begins; 0 for none."""
        row = 0
        for index, statement in enumerate(self.tree.body):
            documents = index == 0 and is_text(statement)
            if not documents and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                break
            row = statement.end_lineno or row
        return row


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text that stands for itself."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def names(tree: ast.AST) -> Iterator[ast.Name]:
    """Yield the names of a tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name))


def names_in_formats(tree: ast.AST) -> set[str]:
    """The names that stand in formatted strings: before Python 3.12 the tree does not say where."""
    return {name.id for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for name in names(node)}


def bound_otherwise(tree: ast.AST) -> set[str]:
    """The names that something binds whose place the tree does not tell, or that scopes declare as others'."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (*Definition, ast.alias)):
            name = node.asname or node.name.partition(".")[0] if isinstance(node, ast.alias) else node.name
            found.add(name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
    return found


def stored(tree: ast.AST) -> set[str]:
    """The names that a tree assigns or deletes, in whatever scope, and those of all parameters."""
    assigned = {name.id for name in names(tree) if not isinstance(name.ctx, ast.Load)}
    return assigned | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def looks_at_its_names(tree: ast.AST) -> bool:
    """Whether a program asks for names as text: it means something else under others."""
    asking = {"locals", "globals", "vars", "eval", "exec"}
    return any(name.id in asking for name in names(tree))


def rows_in_strings(text: str) -> set[int]:
    """The rows that begin within a string."""
    rows: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
            rows |= set(range(token.start[0] + 1, token.end[0] + 1))
    return rows


def indented(text: str) -> str:
    """A text one level deeper; strings keep what they say."""
    kept = rows_in_strings(text)
    lines = text.split("\n")
    return "\n".join(f"    {line}" if line.strip() and row not in kept else line for row, line in enumerate(lines, 1))
