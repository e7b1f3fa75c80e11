"""Code that moves from a function to its callers: the same code with other names for what the function was given."""

from __future__ import annotations

import ast
import builtins
import keyword
from typing import TYPE_CHECKING

from nonstrict.fixes.code.edits import comment_behind, comments_above
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from nonstrict.fixes.code.documents import Document


def is_simple(node: ast.expr) -> bool:
    """Whether an expression can be written anywhere, and twice: a name, a literal, an attribute of such."""
    if isinstance(node, ast.Attribute):
        return is_simple(node.value)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, (ast.Name, ast.Constant))


def names_in(node: ast.AST) -> set[str]:
    """The names that occur in a part of the code."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def free_name(scope: ast.AST, wanted: str, besides: AbstractSet[str] = frozenset()) -> str:
    """A name that nothing in a function or module has: the wanted one, else with a number behind it."""
    taken = names_in(scope) | besides | {part.arg for part in ast.walk(scope) if isinstance(part, ast.arg)}
    taken |= {name for part in ast.walk(scope) if isinstance(part, (ast.Global, ast.Nonlocal)) for name in part.names}
    wanted = own_name(wanted)
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def own_name(wanted: str) -> str:
    """A name that is no keyword and hides nothing built in: `max_value` for `max`."""
    return f"{wanted}_value" if keyword.iskeyword(wanted) or hasattr(builtins, wanted) else wanted


def root(node: ast.AST) -> ast.Name | None:
    """The name that a chain of attributes and subscripts begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def statement_text(
    document: Document, statement: ast.stmt, instead: tuple[ast.expr, str] | None = None, *, comments: bool = True
) -> str:
    """A statement as it is written, without its indentation, `instead` a part of it another text.

    The `comments` above and behind it come with it.
    """
    start, end = document.bounds(statement)
    text = document.code[start:end]
    if instead is not None:
        first, last = document.bounds(instead[0])
        text = document.code[start:first] + instead[1] + document.code[last:end]
    indent = document.indentation(statement)
    lines = f"{text}{comment_behind(document, statement) if comments else ''}".split("\n")
    above = comments_above(document, statement) if comments else []
    return "\n".join([*above, lines[0], *(line.removeprefix(indent) for line in lines[1:])])


def substituted(text: str, texts: Mapping[str, str]) -> str | None:
    """Statements with other expressions for some names; None if they cannot be written in all places."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found: list[tuple[int, int, str]] = []
    for part in ast.walk(tree_of(text)):
        if isinstance(part, ast.Name) and part.id in texts:
            line = lines[part.lineno - 1].encode("utf-8", "surrogatepass")
            start = starts[part.lineno - 1] + len(line[: part.col_offset].decode("utf-8", "replace"))
            if not text.startswith(part.id, start):
                return None  # in an f-string, whose parts have no exact place before Python 3.12
            found.append((start, start + len(part.id), texts[part.id]))
    wanted = _Renamed(texts).visit(tree_of(text))
    for start, end, other in sorted(found, reverse=True):
        text = text[:start] + other + text[end:]
    try:
        return text if ast.dump(tree_of(text)) == ast.dump(wanted) else None
    except SyntaxError:
        return None


class _Renamed(ast.NodeTransformer):
    """A tree with other expressions for some names."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """The expression for a name, in the context of the name."""
        if node.id not in self._texts:
            return node
        other = tree_of(self._texts[node.id], "eval").body
        for part in (other,) if isinstance(other, (ast.Name, ast.Attribute, ast.Subscript)) else ():
            part.ctx = node.ctx
        return other


def enclosed(text: str) -> str:
    """An expression that can be an operand or an element: in parentheses unless it holds together by itself."""
    node = tree_of(text, "eval").body
    holds = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set)
    if isinstance(node, holds) or (isinstance(node, ast.Tuple) and node.col_offset == 0 and _is_wrapped(text)):
        return text
    return f"({text})"


def _is_wrapped(text: str) -> bool:
    """Whether the first parenthesis of a text is closed by its last one."""
    if not text.startswith("(") or not text.endswith(")"):
        return False
    try:
        tree_of(text[1:-1].strip() or "0", "eval")
    except SyntaxError:
        return False
    inner = tree_of(text, "eval").body
    return isinstance(inner, ast.Tuple) and not (inner.elts and inner.elts[0].col_offset < 1)
