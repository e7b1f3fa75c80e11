"""Whether autograd would see an operator made of a function otherwise than the function, in plain Python too.

A custom operator has no derivative until one is registered, and all its results with floating point numbers need
gradients if an argument does (`torch/_library/autograd.py` of torch 2.13): a backward pass through one raises "no
autograd formula was registered", where the function had a derivative or a result that needs no gradient. What it
declares to change counts as changed for autograd, also what the function changes by its address.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.program.domain.values import TENSORS, Flag, Kind
from nonstrict.program.linking.imports import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.code.scopes import Scopes
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.values import Value

#: What asks for gradients: methods and attributes of tensors, and functions by their last name.
_ASKS = ("backward", "requires_grad", "requires_grad_", "retain_grad")
_FUNCTIONS = frozenset(
    {
        *("torch.autograd.grad", "torch.autograd.backward", "torch.autograd.gradcheck"),
        *(f"torch.func.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")),
    }
)
#: The last names of those functions.
_LAST = frozenset(name.rpartition(".")[2] for name in _FUNCTIONS)
#: Words without which a file does not ask for gradients: `no_grad` is none of them.
_ASKING = (*_ASKS, *sorted(_LAST))
_CONTAINERS = (Kind.LIST, Kind.TUPLE)
_MAX_FILES = 200


def changes_gradients(uses: Uses, document: Document, body: MarkedBody, *, mutates: bool) -> bool:
    """Whether a function has results for autograd, or `mutates` arguments, and its callers may ask for gradients."""
    return (mutates or any(map(_may_need, _held(body.returned)))) and may_train(uses, document, body)


def may_train(uses: Uses, document: Document, body: MarkedBody) -> bool:
    """Whether a function may be given tensors that need gradients: a parameter, or what code that can call it made."""
    return _takes_parameters(body) or _asks_for_gradients(uses, document)


def _may_need(value: Value) -> bool:
    """Whether a result may be a tensor that can need gradients; truth values cannot."""
    return value.kind in (*TENSORS, Kind.UNKNOWN) and not value.flags & Flag.BOOLEAN


def _held(value: Value) -> Iterator[Value]:
    """What a result may be, and what it may hold."""
    for one in value.alternatives():
        if one.kind in _CONTAINERS and one.heap is not None:
            for held in one.heap.items.values():
                yield from held.alternatives()
        else:
            yield one


def _takes_parameters(body: MarkedBody) -> bool:
    """Whether a caller passes a parameter of a module, which is there to be trained."""
    given = (value for site in body.sites for value in site.arguments.values())
    return any(one.kind is Kind.PARAMETER for value in given for one in value.alternatives())


def _asks_for_gradients(uses: Uses, document: Document) -> bool:
    """Whether a file, or one that imports it in some steps, asks for gradients; also if these are too many to read."""
    asking = uses.documents.machine.elsewhere.holding(_ASKING, whole=True)
    held = _importing(uses, document.path).intersection(asking)
    if len(held) > _MAX_FILES:
        return True
    documents = (uses.documents.document(path) for path in sorted(held))
    return any(one is None or _asks(uses, one) for one in documents)


def _importing(uses: Uses, path: str) -> set[str]:
    """A file and those that import something named like it, or like one that does."""
    elsewhere = uses.documents.machine.elsewhere
    known = {path}
    pending = [path]
    while pending:
        for other in elsewhere.importing(stem_of(pending.pop())):
            if other not in known:
                known.add(other)
                pending.append(other)
    return known


def _asks(uses: Uses, document: Document) -> bool:
    """Whether a file asks for gradients, which is found out once for all who ask."""
    scopes = uses.scopes(document)
    return remembered(document.tree, "_nonstrict_asks_for_gradients", lambda _: _find(scopes))


def _find(scopes: Scopes) -> bool:
    text = scopes.text
    called = {*_LAST, *(alias.asname for _, alias in text.imports if alias.asname)}
    document = text.document
    return (
        any(node.attr in _ASKS for node in document.of(ast.Attribute))
        or any(node.arg == "requires_grad" and _is_true(node.value) for node in document.of(ast.keyword))
        or any(
            last_name(node.func) in called and scopes.dotted(node.func) in _FUNCTIONS for node in document.of(ast.Call)
        )
    )


def _is_true(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and node.value is False)
