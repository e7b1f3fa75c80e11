"""Whether tensors may be changed in place behind an expression of a function, by it or by what it calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.fixes.code.pure import is_pure_call

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.tensors.kinds import Kinds

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def may_change_later(document: Document, kinds: Kinds, function: FunctionNode, node: ast.expr) -> bool:
    """Whether anything that runs behind an expression may change a tensor; a call that is not known may do so."""
    repeated = any(isinstance(outer, _LOOPS) for outer in document.around(node))
    start = (node.lineno, node.col_offset)
    parts = (one for one in own_scope(function) if isinstance(one, (ast.Call, ast.stmt)))
    later = (one for one in parts if repeated or (one.lineno, one.col_offset) > start)
    return any(_may_change(document, kinds, one) for one in later)


def _may_change(document: Document, kinds: Kinds, node: ast.Call | ast.stmt) -> bool:
    if isinstance(node, ast.Call):
        return not is_pure_call(document, node)
    if isinstance(node, ast.AugAssign):
        return not kinds.is_number(node.target)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    stored = (part for target in targets if target is not None for part in ast.walk(target))
    return any(
        isinstance(part, ast.Subscript) or (isinstance(part, ast.Attribute) and part.attr == "data") for part in stored
    )
