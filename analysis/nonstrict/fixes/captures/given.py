"""What a function was given when it was made, by a factory or a partial, as the code that calls it writes the same.

A name or an attribute is written as the caller sees it: `self.scale` of `self.run = make(self.scale)` is `model.scale`
where `model.run` is called. Anything else gets a name first, before the function is made.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.fixes.code.edits import before, replaced
from nonstrict.fixes.code.names import fresh
from nonstrict.fixes.uses.calls import argument
from nonstrict.fixes.uses.spots import (
    Spelled,
    Spot,
    chain,
    is_constant,
    is_rebound,
    root_of,
    spelled,
    spot_of,
    steps_text,
)
from nonstrict.program.objects.parameters import default_nodes
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.calls import Call, Kept
    from nonstrict.fixes.uses.references import Uses


class Given(NamedTuple):
    """An argument of the call that makes a function, and a name for it."""

    document: Document
    node: ast.expr
    name: str


def of_factory(uses: Uses, document: Document, call: Call, spot: Spot) -> Given | None:
    """What the factory of a called function was given for one of its parameters, which nothing sets anew."""
    made = next((one for one in call.made if one.factory is spot.scope), None)
    if made is None or spot.name not in scope_of(made.factory).parameters or _is_set(made.factory, spot.name):
        return None
    node, bound = argument(made.factory, made.call, spot.name), made.call.bound
    if node is not None:
        return Given(made.call.document, node, spot.name)
    if bound is not None and scope_of(made.factory).parameters[0] == spot.name:
        return Given(*bound, spot.name)
    default = default_nodes(made.factory.args).get(spot.name)
    return Given(document, default, spot.name) if default is not None else None


def _is_set(function: FunctionNode, name: str) -> bool:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name)
    return any(not isinstance(node.ctx, ast.Load) for node in nodes)


def written(uses: Uses, call: Call, given: Given, suffix: str = "") -> Spelled | None:
    """How the code around a call writes what a function was given; None if it cannot."""
    document, node = given.document, given.node
    if isinstance(node, ast.Constant) and not suffix:
        return Spelled(document.text(node))
    spot = spot_of(uses, document, node)
    if spot is None or not is_constant(spot):
        return _named(uses, call, given, suffix)
    known = _held(uses, call, document, node)
    if known is not None:
        return Spelled(known + suffix)
    if _varies(uses, document, spot):
        return None
    suffix = steps_text(document, node, len(spot.steps)) + suffix
    return spelled(uses, call.document, call.node, spot, suffix) or kept_beside(uses, call, spot, suffix)


def kept_beside(uses: Uses, call: Call, spot: Spot, suffix: str) -> Spelled | None:
    """A variable that cannot be seen where a function is called, as the attribute that is set to it.

    `self.scale` of `self.scale = scale` and `self.run = run`, in one function.
    """
    kept = call.kept
    name = kept.set_on if kept is not None else None
    if kept is None or not isinstance(name, ast.Name) or not isinstance(spot.scope, FunctionNode):
        return None
    scopes = uses.scopes(kept.document)
    here = spot.path == kept.document.path and scopes.text.binder(name, name.id) is spot.scope
    if not here or not _is_called_on(call, kept) or len(list(scopes.text.bindings(spot.scope, spot.name))) != 1:
        return None
    for read in scopes.text.reads(spot.scope, spot.name):
        statement = kept.document.parent(read)
        if isinstance(spot.scope, ast.Lambda) or statement not in spot.scope.body:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is read else None
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == name.id:
            return Spelled(f"{call.document.text(kept.called_on)}.{target.attr}{suffix}")
    return None


def _held(uses: Uses, call: Call, document: Document, node: ast.expr) -> str | None:
    """An attribute of the object that keeps the function, as an attribute of the object that it is called on."""
    root, kept = root_of(node), call.kept
    if root is None or kept is None or kept.document is not document or not isinstance(kept.set_on, ast.Name):
        return None
    scopes = uses.scopes(document)
    same = root.id == kept.set_on.id and scopes.text.binder(root, root.id) is scopes.text.binder(kept.set_on, root.id)
    if not same or not _is_called_on(call, kept):
        return None
    return call.document.text(kept.called_on) + steps_text(document, node, len(chain(node)) - 1)


def _is_called_on(call: Call, kept: Kept) -> bool:
    """Whether a call takes the function from the object that keeps it, and names that object."""
    return bool(chain(kept.called_on)) and any(part is kept.called_on for part in ast.walk(call.node.func))


def _varies(uses: Uses, document: Document, spot: Spot) -> bool:
    """Whether a variable is bound more than once: the function has what it held when the function was made."""
    if isinstance(spot.scope, ast.Module):
        return is_rebound(uses, spot)
    return len(list(uses.scopes(document).text.bindings(spot.scope, spot.name))) != 1


def _named(uses: Uses, call: Call, given: Given, suffix: str) -> Spelled | None:
    """A variable of the module for an expression, before the statement that makes the function."""
    document, node = given.document, given.node
    statement = document.statement(node)
    if not isinstance(statement, ast.Assign) or statement not in document.tree.body or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    deferred = any(
        isinstance(one, (ast.Lambda, ast.ListComp, ast.DictComp, ast.IfExp)) for one in document.around(node)
    )
    if not isinstance(target, ast.Name) or deferred or isinstance(node, (ast.GeneratorExp, ast.NamedExpr)):
        return None
    name = fresh(document, f"{target.id}_{given.name}", call.document.tree)
    edit = before(document, statement, [f"{name} = {_as_statement(document.text(node))}"])
    made = spelled(uses, call.document, call.node, Spot(document.path, document.tree, name), suffix)
    if edit is None or made is None:
        return None
    return Spelled(made.text, (edit, replaced(document, node, name), *made.edits))


def _as_statement(text: str) -> str:
    """An expression that stood between brackets, so that it can stand alone."""
    try:
        tree_of(text)
    except SyntaxError:
        return f"({text})"
    return text if len(tree_of(text).body) == 1 else f"({text})"
