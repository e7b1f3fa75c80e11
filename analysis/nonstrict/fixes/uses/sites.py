"""The calls of a function as places where its work can be done: the statement around each, and its parameters there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.uses import traced
from nonstrict.knowledge.markers import MARKERS

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_DEFERRED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_HOPS = 3


class Site(NamedTuple):
    """A call, once for each time that its statement is executed; `function` is the caller, None for a module.

    `terms` are what the parameters of the called function are given.
    """

    document: Document
    call: ast.Call
    statement: ast.stmt
    function: FunctionNode | None
    terms: dict[str, ast.expr]

    def order(self, parameter: str) -> int:
        """When what a parameter is given is evaluated: before what stands behind it in the call."""
        return self.document.bounds(self.terms[parameter])[0]


def sites(uses: Uses, document: Document, function: _Definition) -> list[Site] | None:
    """All calls of a function; None if there are none, some are not known, or one has no place for more statements."""
    references = uses.of(document, function)
    if references.obstacles or references.overrides or not references.calls:
        return None
    found: list[Site] = []
    for call in references.calls:
        site = _site(call, function)
        if site is None or site.function is function or any(site.statement is other.statement for other in found):
            return None
        found.append(site)
    return found


def _site(call: Call, function: _Definition) -> Site | None:
    document, statement = call.document, call.document.statement(call.node)
    terms = _terms(call, function)
    if terms is None or not isinstance(statement, _SIMPLE) or not _is_certain(document, call.node, statement):
        return None
    return Site(document, call.node, statement, document.function(call.node), terms)


def _terms(call: Call, function: _Definition) -> dict[str, ast.expr] | None:
    """What a call passes for each parameter, defaults left out; None if that cannot be told."""
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    found: dict[str, ast.expr] = {}
    if call.bound is not None and names:
        called = call.node.func  # a module, or a method of what stands in front of it
        if call.bound.node not in (called, getattr(called, "value", None)):
            return None  # a bound method that was kept: its object may have another name here
        found[names.pop(0)] = call.bound.node
    if len(call.node.args) > len(names):
        return None
    found.update(zip(names, call.node.args, strict=False))
    for keyword in call.node.keywords:
        if keyword.arg is None:
            return None
        found[keyword.arg] = keyword.value
    return found


def _is_certain(document: Document, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether an expression is evaluated exactly once whenever its statement is."""
    inner = node
    for outer in document.around(node):
        if outer is statement:
            return True
        if isinstance(outer, (*_DEFERRED, ast.Await)):
            return False
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            return False
        if isinstance(outer, ast.BoolOp) and inner is not outer.values[0]:
            return False
        if isinstance(outer, ast.Compare) and inner not in (outer.left, outer.comparators[0]):
            return False
        inner = outer
    return False


def comes_first(site: Site) -> bool:
    """Whether nothing with an effect is evaluated in the statement before the call, nor beside it."""
    around = {id(outer) for outer in site.document.around(site.call)}
    others = (
        part
        for part in ast.walk(site.statement)
        if isinstance(part, (ast.Call, ast.Await, ast.NamedExpr)) and id(part) not in around
    )
    inside = {id(part) for part in ast.walk(site.call)}
    return all(id(part) in inside or is_pure(site.document, part) for part in others)


def is_unconditional(function: _Definition, statement: ast.stmt) -> bool:
    """Whether a statement is executed by every call that returns: at the level of the body, no `return` before it."""
    if statement not in function.body:
        return False
    earlier = function.body[: function.body.index(statement)]
    return not any(isinstance(part, ast.Return) for one in earlier for part in ast.walk(one))


def rebinds(function: FunctionNode, name: str) -> bool:
    """Whether a function gives a name of its own another value."""
    return any(
        isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        for part in ast.walk(function)
    )


class Regions:
    """Tells which functions are compiled, or called by compiled ones, and which are bodies of marked functions."""

    def __init__(self, context: Context, uses: Uses) -> None:
        self._uses = uses
        self._spans = traced.compiled(context)
        self._marked = traced.marked(context)

    def compiled(self, document: Document, function: FunctionNode | None, hops: int = _HOPS) -> bool:
        """Whether the compiler traces a function."""
        if function is None:
            return False
        if document.span(function) in self._spans or self._is_decorated(document, function):
            return True
        calls = self._uses.of(document, function).calls if hops else ()
        return any(
            self.compiled(call.document, caller, hops - 1)
            for call in calls
            if (caller := call.document.function(call.node)) is not None and caller is not function
        )

    def in_body(self, document: Document, function: FunctionNode | None, hops: int = _HOPS) -> bool:
        """Whether a function is marked, or called by a marked one: what it does happens while tracing."""
        if function is None:
            return False
        if document.span(function) in self._marked:
            return True
        calls = self._uses.of(document, function).calls if hops else ()
        return any(
            self.in_body(call.document, caller, hops - 1)
            for call in calls
            if (caller := call.document.function(call.node)) is not None and caller is not function
        )

    def _is_decorated(self, document: Document, function: FunctionNode) -> bool:
        decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
        names = (dotted(document, one.func if isinstance(one, ast.Call) else one) for one in decorators)
        return any(name in MARKERS and MARKERS[name].kind == "compiled" for name in names)
