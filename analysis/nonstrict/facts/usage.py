"""Evidence in a function's text for what its parameters are: members that only some kind of object has.

Tensors, lists, dicts, and the contexts of autograd (`torch.autograd.function.FunctionCtx` of torch 2.13).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import is_tensor_only_member, tensor_method
from nonstrict.models.members import CHANGING

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode

_DICT_MEMBERS = frozenset({"items", "keys", "setdefault", "popitem", "update"})
_CONTEXT_MEMBERS = frozenset(
    {
        "save_for_backward",
        "save_for_forward",
        "saved_tensors",
        "needs_input_grad",
        "mark_dirty",
        "mark_non_differentiable",
        "set_materialize_grads",
    }
)


def used_as(function: FunctionNode) -> dict[str, str]:
    """For each name with evidence, `tensor`, `list`, `dict` or `context`; contradicting evidence gives nothing.

    A context is given attributes of any name, those of tensors among them: they do not contradict its own.
    """
    return remembered(function, "_nonstrict_usage", _collect)


def _collect(function: FunctionNode) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    body = function.body if isinstance(function.body, list) else [function.body]
    called: set[ast.AST] = set()
    for statement in body:
        for node in walk(statement):
            kind = name = ""
            if isinstance(node, ast.Call):
                called.add(node.func)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node not in called and tensor_method(node.attr) is not None:
                    continue  # `box.mean`, not called, is the mean that something else holds
                kind, name = _member_kind(node.attr), node.value.id
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                kind, name = _subscript_kind(node.slice), node.value.id
            if kind:
                found.setdefault(name, set()).add(kind)
    contexts = {name: "context" for name, kinds in found.items() if "context" in kinds}
    return {name: next(iter(kinds)) for name, kinds in found.items() if len(kinds) == 1} | contexts


def _member_kind(attribute: str) -> str:
    if attribute in _DICT_MEMBERS:
        return "dict"
    if attribute in _CONTEXT_MEMBERS:
        return "context"
    if attribute in CHANGING["list"] and attribute not in {"sort", "clear", "pop", "remove"}:
        return "list"
    # Storages have these too, but a marked function cannot take one.
    return "tensor" if attribute in {"data_ptr", "resize_", "tolist"} or is_tensor_only_member(attribute) else ""


def _subscript_kind(index: ast.expr) -> str:
    if isinstance(index, ast.Constant) and isinstance(index.value, str):
        return "dict"
    if isinstance(index, ast.Tuple) and any(isinstance(part, (ast.Slice, ast.Constant)) for part in index.elts):
        return "tensor"
    return ""
