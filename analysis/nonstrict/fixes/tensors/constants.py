"""What a region computes of literals with functions of the standard library is computed once, by the module."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.hoisting import is_unconditional
from nonstrict.fixes.code.edits import above_definition, replaced
from nonstrict.fixes.code.names import bindings, bound, dotted, fresh, outermost
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

#: Modules whose functions give the same for the same arguments, wherever and whenever they are called.
_DETERMINISTIC = frozenset(
    {
        *("base64", "binascii", "bisect", "calendar", "cmath", "colorsys", "fractions", "hashlib", "html", "json"),
        *("keyword", "math", "operator", "statistics", "string", "struct", "textwrap", "unicodedata", "zlib"),
    }
)
_BUILTINS = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "pow", "round", "str", "sum"})
#: Values that a region can read from the module.
_READABLE = frozenset({Kind.NUMBER, Kind.BOOL, Kind.STRING})
#: Methods of what such functions return that give a string.
_TEXTS = frozenset({"hexdigest", "decode", "hex"})
_WRITTEN_OUT = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)
_PARTS = (*_WRITTEN_OUT, ast.Call, ast.keyword, ast.Attribute, ast.Name, ast.Subscript, ast.expr_context)


def compute_once(context: Context) -> Iterator[Fix]:
    """`digest = hashlib.md5(b"a").hexdigest()` of a region becomes `digest = DIGEST`, which the module computes."""
    document = context.document
    node = document.at(context.finding.span, ast.Call) if document is not None else None
    outer = outermost(document, node) if document is not None and node is not None else None
    if document is None or node is None or outer is None:
        return
    whole = _widest(document, node)
    if whole is None or isinstance(document.parent(whole), ast.Expr) or "\n" in document.text(whole):
        return
    above = document.tree.body[: document.tree.body.index(outer)]
    known = {name for statement in above for name in bindings(statement)}
    imported = {part.id for part in ast.walk(whole) if isinstance(part, ast.Name) and part.id not in _BUILTINS}
    if not imported <= known or not _is_readable(context, document, whole):
        return
    name = fresh(document, _name(document, whole), outer)
    added = above_definition(document, outer, f"{name} = {document.text(whole)}")
    if added is not None:
        title = f"Compute `{document.text(whole)}` once"
        # What a call may do without could raise where the module is imported.
        always = is_unconditional(document, whole, document.function(whole))
        sure = Applicability.SAFE if always else Applicability.UNSAFE
        yield Fix(title, sure, (added, replaced(document, whole, name)))


def _widest(document: Document, node: ast.expr) -> ast.expr | None:
    """The largest expression around a call that is made of literals and such calls; None if the call is not."""
    best: ast.expr | None = None
    current: ast.AST | None = node
    while isinstance(current, ast.expr) and _is_constant(document, current):
        best = current
        current = document.parent(current)
    return best


def _is_constant(document: Document, node: ast.expr) -> bool:
    for part in ast.walk(node):
        if not isinstance(part, _PARTS):
            return False
        if isinstance(part, ast.Call) and not _is_deterministic(document, part.func):
            return False
        if isinstance(part, ast.Name) and not dotted(document, part) and not _is_builtin(document, part.id):
            return False
    return True


def _is_deterministic(document: Document, function: ast.expr) -> bool:
    name = dotted(document, function)
    if name:
        return name.partition(".")[0] in _DETERMINISTIC
    if isinstance(function, ast.Name):
        return _is_builtin(document, function.id)
    return isinstance(function, ast.Attribute) and isinstance(function.value, (ast.Call, ast.Constant))


def _is_builtin(document: Document, name: str) -> bool:
    return name in _BUILTINS and name not in bound(document)


def _is_readable(context: Context, document: Document, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TEXTS:
        return True
    return context.documents.uses.value(document, node).kind in _READABLE


def _name(document: Document, node: ast.expr) -> str:
    """A name for a constant: that of the variable it is assigned to, else of the function that is called."""
    statement = document.parent(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id.upper()
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    called = calls[-1].func
    return (called.attr if isinstance(called, ast.Attribute) else ast.unparse(called)).upper()
