"""Decorators that a marker cannot stand beside: another order, or one of them less."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.code.lists import parameters_of, without_element
from nonstrict.fixes.marks.markers import unused_after
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.marks.applications import Applied

_DISABLING = frozenset({"disable", "_disable_dynamo", "disallow_in_graph"})
_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_BINDING = frozenset({"builtins.classmethod", "builtins.staticmethod"})
#: What a body may do without any rule that has something to say about it.
_HARMLESS = frozenset({Event.CALLED, Event.UNSEEN, Event.SHAPE, Event.INPUT_WRITE, Event.DROPPED, Event.HELPER})


def reconcile(context: Context) -> Iterator[Fix]:
    """Make a marker and the other decorators of its function compatible."""
    stack, marker = context.body.applied.stack, context.body.marker
    for applied in (*stack.above, *stack.below):
        if marker == "nonstrict" and applied.kind == "leaf":
            yield from _without(context, applied)
            return
    for applied in stack.above:
        if applied.kind == "disable" and applied.name.rpartition(".")[2] in _DISABLING:
            if _is_silent_enabled(context):
                yield from _swapped(context, applied, "disable")
            return
        if applied.name == "builtins.classmethod":
            yield from _static(context, applied)
            return
    for applied in stack.below:
        swaps = applied.name in _PROPERTIES or (marker == "in-graph" and applied.name in _BINDING)
        if swaps:
            if _takes_self(context) or applied.name in _BINDING:
                yield from _swapped(context, applied, applied.name.rpartition(".")[2], marker_up=False)
            return
        if applied.name == "builtins.classmethod":
            yield from _static(context, applied)
            return


def _found(context: Context, applied: Applied) -> tuple[Document, ast.expr, ast.expr] | None:
    """The marker and another decorator, or the calls that stand for them."""
    document = context.document
    if document is None or applied.span.path != document.path:
        return None
    marker, other = document.at(context.finding.span, ast.expr), document.at(applied.span, ast.expr)
    return (document, marker, other) if marker is not None and other is not None else None


# -- another order ----------------------------------------------------------------------------------------------------


def _swapped(context: Context, applied: Applied, other: str, *, marker_up: bool = True) -> Iterator[Fix]:
    found = _found(context, applied)
    if found is None:
        return
    document, marker, decorator = found
    decorators: list[ast.expr] = getattr(document.parent(marker), "decorator_list", [])
    upper, lower = (decorator, marker) if marker_up else (marker, decorator)
    if upper in decorators and lower in decorators:
        if decorators.index(lower) != decorators.index(upper) + 1:
            return
        edits = (
            replaced(document, upper, document.text(lower)),
            replaced(document, lower, document.text(upper)),
        )
    elif _wraps(upper, lower) and isinstance(upper, ast.Call) and isinstance(lower, ast.Call):
        edits = (
            replaced(document, upper.func, document.text(lower.func)),
            replaced(document, lower.func, document.text(upper.func)),
        )
    else:
        return
    order = f"Put `{context.body.api}` above `{other}`" if marker_up else f"Put `{other}` above `{context.body.api}`"
    yield Fix(order, Applicability.SAFE, edits)


def _wraps(outer: ast.expr, inner: ast.expr) -> bool:
    """Whether one call is the only argument of another, and has one itself."""
    if not isinstance(outer, ast.Call) or not isinstance(inner, ast.Call) or outer.keywords or inner.keywords:
        return False
    return outer.args == [inner] and len(inner.args) == 1


def _is_silent_enabled(context: Context) -> bool:
    """Whether no rule has anything to say about the function once compilers get to see it."""
    old = context.body.mark
    mark = Mark(old.kind, old.api, old.target, old.path, old.offset, old.node, old.function, spelling=old.spelling)
    mark.calls = old.calls
    body = MarkedBody(context.machine, mark, context.body.torch)
    quiet = not any(True for _ in body.observed(*(event for event in Event if event not in _HARMLESS)))
    return quiet and not any(one.refused for one in (*body.boundary_arguments, *body.boundary_results))


def _takes_self(context: Context) -> bool:
    """Whether a marked method may have its `self` as an input."""
    function = context.body.mark.function
    return function is not None and function.owner is not None and classes.is_module(function.owner)


# -- one decorator less -----------------------------------------------------------------------------------------------


def _without(context: Context, applied: Applied) -> Iterator[Fix]:
    """Drop `leaf_function` where the function is marked with `nonstrict_trace` too."""
    found = _found(context, applied)
    if found is None:
        return
    document, marker, leaf = found
    function = document.parent(marker)
    if isinstance(function, ast.FunctionDef) and leaf in function.decorator_list:
        registers = any(isinstance(one, ast.Attribute) and one.attr == "register_fake" for one in walk(document.tree))
        edit = None if registers else _dropped(document, leaf)
        if edit is not None:
            unused = unused_after(document, leaf)
            edits = (edit, unused) if unused is not None else (edit,)
            yield Fix("Drop `leaf_function`", Applicability.UNSAFE, edits)
    elif isinstance(leaf, ast.Call) and _wraps(leaf, marker):
        yield Fix("Drop `leaf_function`", Applicability.UNSAFE, (replaced(document, leaf, document.text(marker)),))


def _dropped(document: Document, decorator: ast.expr) -> Edit | None:
    """The edit that takes out the line, or lines, of a decorator."""
    start, end = document.bounds(decorator)
    first = document.code.rfind("\n", 0, start) + 1
    line_end = document.code.find("\n", end)
    rest = document.code[end:line_end].strip()
    if line_end < 0 or document.code[first:start].strip() != "@" or (rest and not rest.startswith("#")):
        return None
    return Edit(document.range(first, line_end + 1), "")


# -- class methods ----------------------------------------------------------------------------------------------------


def _static(context: Context, applied: Applied) -> Iterator[Fix]:
    """A class method that only reads plain attributes of its class becomes a static one."""
    found = _found(context, applied)
    function = found[0].parent(found[1]) if found is not None else None
    if found is None or not isinstance(function, ast.FunctionDef) or not function.args.args:
        return
    document, _, decorator = found
    owner = document.parent(function)
    if not isinstance(owner, ast.ClassDef) or not isinstance(document.parent(owner), ast.Module):
        return
    name = function.args.args[0].arg
    uses = [node for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name) and node.id == name]
    constants = _constants(owner)
    for use in uses:
        around = document.parent(use)
        if not isinstance(around, ast.Attribute) or around.attr not in constants or isinstance(around.ctx, ast.Store):
            return
    if uses and _has_derived(context, owner.name):
        return  # they may have constants of their own
    edits = [replaced(document, use, owner.name) for use in uses]
    first = without_element(document, parameters_of(document, function), document.bounds(function.args.args[0])[0])
    if first is not None:
        edits += [replaced(document, decorator, "staticmethod"), first]
        yield Fix(f"Make `{function.name}` a static method", Applicability.UNSAFE, tuple(edits))


def _has_derived(context: Context, name: str) -> bool:
    """Whether a class of the project inherits from one of this name, as far as can be told."""
    holding = context.documents.uses.holding(name)
    bases = (base for one in holding or () for node in one.of(ast.ClassDef) for base in node.bases)
    return holding is None or any(last_name(base) == name for base in bases)


def _constants(owner: ast.ClassDef) -> frozenset[str]:
    """The attributes of a class that are numbers or strings."""
    found: set[str] = set()
    for statement in owner.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(getattr(statement, "value", None), ast.Constant):
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)
