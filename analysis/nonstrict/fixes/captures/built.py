"""A tensor of the module that is made of literals, and never changed, is built by the function that reads it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.passable import is_written, subject_of
from nonstrict.fixes.code.edits import at_top_of_body
from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.uses.terms import names_in, statement_text
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.domain.access_paths import Root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
_SETTINGS = frozenset({"dtype", "device", "layout"})


def build_inside(context: Context) -> Iterator[Fix]:
    """`SCALE = torch.tensor(2.0)` of the module becomes the first statement of the function, too."""
    seen = subject_of(context)
    place = seen.effect.place if seen is not None else None
    if seen is None or place is None or place.seen_as is not Root.GLOBAL or place.path:
        return
    document = context.documents.document(seen.effect.path)
    node = document.at(seen.effect.span, ast.Name) if document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    if document is None or node is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    made = _made(context, document, node)
    if made is None or context.body.writers(place) or is_written(context, place):
        return
    if not names_in(made) & (scope_of(function).local | scope_of(function).global_names) and _is_own(function, node.id):
        edit = at_top_of_body(document, function, statement_text(document, made).split("\n"))
        if edit is not None:
            yield Fix(f"Build `{node.id}` in `{function.name}`", Applicability.UNSAFE, (edit,))


def _made(context: Context, document: Document, node: ast.Name) -> ast.Assign | None:
    """The statement that alone binds a name of the module, to a tensor made of literals."""
    bound = list(context.documents.uses.scopes(document).text.bindings(document.tree, node.id))
    statement = document.parent(bound[0]) if len(bound) == 1 else None
    if not isinstance(statement, ast.Assign) or statement.targets != bound or statement not in document.tree.body:
        return None
    call = statement.value
    operator = torch_function(dotted(document, call.func)) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or operator is None or operator.returns != "tensor":
        return None
    if operator.random or operator.uninitialised or operator.mutates:
        return None
    literal = all(isinstance(part, _LITERAL) for argument in call.args for part in ast.walk(argument))
    settled = all(
        word.arg in _SETTINGS and (isinstance(word.value, ast.Constant) or dotted(document, word.value))
        for word in call.keywords
    )
    return statement if literal and settled else None


def _is_own(function: FunctionNode, name: str) -> bool:
    """Whether a name of the module becomes one of a function by being bound in it, with nothing else in the way."""
    return not any(isinstance(part, (ast.Global, ast.Nonlocal)) and name in part.names for part in ast.walk(function))
