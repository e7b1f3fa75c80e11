"""Pass what a traced function reads of an argument or of its bound object: `module.training`, `self.factor`.

Callers write the same of the object that they pass. Dynamo guards what the region reads. What is read further down, by
a layer or a `forward`, is in `guarded`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.steps import ANY_ENTRY
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.passable import (
    MARKERS,
    annotation_of,
    is_accepted,
    is_written,
    may_be_none,
    subject_of,
    usable,
)
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.uses import traced
from nonstrict.fixes.uses.calls import argument
from nonstrict.fixes.uses.signatures import Extended, Passing, home, passed
from nonstrict.fixes.uses.spots import Spelled, chain, root_of, spelled, spot_of, step, steps_text
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import BOOL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit, Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.fixes.uses.signatures import Change
    from nonstrict.program.domain.access_paths import AccessPath

_ORIGINS = frozenset({Root.ARGUMENT, Root.RECEIVER})


def pass_attribute(context: Context) -> Iterator[Fix]:
    """Pass an attribute of an argument, or of the object whose method is marked, as an argument of its own."""
    seen = subject_of(context)
    if seen is None or context.body.marker not in MARKERS or seen.effect.place.root not in _ORIGINS:
        return
    mode = seen.effect.event is Event.MODE
    value = BOOL if mode else seen.effect.value
    place = seen.effect.place.step(".training") if mode else seen.effect.place
    if is_accepted(context, value) and not may_be_none(context, value):
        yield from attribute_passed(context, seen.effect.span, place, annotation_of(value))


def attribute_passed(context: Context, read: Span, place: AccessPath, annotation: str) -> Iterator[Fix]:
    """Pass what is read somewhere of an argument, or of the object whose method it is."""
    document = context.documents.document(read.path)
    whole = document.at(read, ast.AST) if document is not None else None
    node = _reading(whole, place) if whole is not None else None
    if document is None or node is None or is_written(context, place):
        return
    for name in _names(node):
        passing = AttributePassing(context, name, annotation)
        change = passing.change(document, node)
        reads = passing.reads(change) if change is not None else None
        if change is not None and reads is not None:
            title = f"Pass `{document.text(node)}` as an argument"
            yield Fix(title, Applicability.UNSAFE, (*change.edits, *reads))
            return


def _reading(whole: ast.AST, place: AccessPath) -> ast.expr | None:
    """The expression that reads a place: the same last steps from a name that may be another one than the place's."""
    for node in ast.walk(whole):
        parts = chain(node)
        steps = tuple(step(part) for part in parts[1:])
        if steps and ANY_ENTRY not in steps and place.path[-len(steps) :] == steps:
            return parts[-1]
    return None


def _names(node: ast.expr) -> Iterator[str]:
    """Names for the parameter: that of the attribute or entry, else with that of the object before it."""
    parts = chain(node)
    words = [step(part).strip(".[]'\"") for part in parts[1:]]
    root = root_of(node)
    yield from usable(words[-1])
    yield from usable("_".join([root.id if root is not None else "", *words]))


class AttributePassing(Passing):
    """The attribute is passed; in each changed function it is that of another parameter, or of a part of one."""

    def __init__(self, context: Context, name: str, annotation: str) -> None:
        super().__init__(name, annotation, traced.passed_through(context))
        self.uses: Uses = context.documents.uses
        #: for each changed function the parameter, and the steps from it; these as they are written
        self.meanings: dict[FunctionNode, tuple[str, tuple[str, ...]]] = {}
        self.written_as: dict[tuple[str, ...], str] = {}

    def change(self, document: Document, node: ast.expr) -> Change | None:
        """The change that passes what an expression reads."""
        holder = home(self.uses, document, node, self)
        if holder is None or not self._means(holder, document, node, ()):
            return None
        return passed(self.uses, document, node, self)

    def change_of(self, function: Extended, parameter: str, steps: tuple[str, ...]) -> Change | None:
        """The change that passes what some steps from a parameter of a function lead to."""
        first = function.node.body[0] if isinstance(function.node.body, list) else function.node.body
        scope = scope_of(function.node)
        is_given = parameter in scope.parameters and parameter not in scope.assigned
        if not is_given or home(self.uses, function.document, first, self) != function:
            return None
        self.meanings[function.node] = (parameter, steps)
        self.written_as[steps] = "".join(steps)
        return passed(self.uses, function.document, first, self)

    def reads(self, change: Change) -> tuple[Edit, ...] | None:
        """The edits of the reads in the changed functions; None if one is no plain read."""
        edits: list[Edit] = []
        for function in change.functions:
            parameter, steps = self.meanings[function.node]
            for node in ast.walk(function.node):
                if not isinstance(node, (ast.Attribute, ast.Subscript)):
                    continue
                if not self._is(function, node, parameter, steps):
                    continue
                around = function.document.around(node)
                if not isinstance(node.ctx, ast.Load) or any(isinstance(outer, ast.JoinedStr) for outer in around):
                    return None
                edits.append(replaced(function.document, node, self.name))
        return tuple(edits)

    def _is(self, function: Extended, node: ast.expr, parameter: str, steps: tuple[str, ...]) -> bool:
        spot = spot_of(self.uses, function.document, node)
        return spot is not None and spot[1:] == (function.node, parameter, steps)

    def _means(self, function: Extended, document: Document, node: ast.expr, steps: tuple[str, ...]) -> bool:
        """Note what the parameter is in a function: `node` there, and more steps; whether that can be."""
        parts, root = chain(node), root_of(node)
        if root is None or self.uses.scopes(document).text.binder(root, root.id) is not function.node:
            return False
        scope = scope_of(function.node)
        if root.id not in scope.parameters or root.id in scope.assigned:
            return False
        own = tuple(step(part) for part in parts[1:])
        text = steps_text(document, node, len(own))
        self.written_as.setdefault((*own, *steps), text + self.written_as.get(steps, ""))
        meaning = (root.id, (*own, *steps))
        return ANY_ENTRY not in own and self.meanings.setdefault(function.node, meaning) == meaning

    def agrees(self, function: Extended, call: Call, caller: Extended) -> bool:
        """Whether what the caller passes has the attribute that the caller gets."""
        parameter, steps = self.meanings[function.node]
        document, given = given_for(function, call, parameter)
        return given is not None and document is call.document and self._means(caller, document, given, steps)

    def shares(self, function: Extended, override: Extended) -> bool:
        """The same parameter of a method that overrides another one has the attribute too."""
        meaning = self.meanings[function.node]
        scope = scope_of(override.node)
        if _index(function.node, meaning[0]) != _index(override.node, meaning[0]) or meaning[0] in scope.assigned:
            return False
        return self.meanings.setdefault(override.node, meaning) == meaning

    def written(self, function: Extended, call: Call) -> Spelled | None:
        """The attribute of what a call passes."""
        parameter, steps = self.meanings[function.node]
        document, given = given_for(function, call, parameter)
        if given is None or not chain(given):
            return None
        suffix = self.written_as[steps]
        called = call.node.func  # a module, or a method of what stands in front of it
        is_there = document is call.document and call.bound is None
        if is_there or given in (called, getattr(called, "value", None)):
            return Spelled(document.text(given) + suffix)
        spot, root = spot_of(self.uses, document, given), root_of(given)
        if spot is None or root is None:
            return None
        own = steps_text(document, given, len(chain(given)) - 1)
        return (
            spelled(self.uses, call.document, call.node, spot, own + suffix)
            if len(spot.steps) == own.count(".")
            else None
        )


def given_for(function: Extended, call: Call, parameter: str) -> tuple[Document, ast.expr | None]:
    """What a call passes for a parameter, the object of a bound method for its first one, and where that is written."""
    given = argument(function.node, call, parameter)
    if given is None and call.bound is not None and _index(function.node, parameter) == 0:
        return call.bound.document, call.bound.node
    return call.document, given


def _index(function: FunctionNode, parameter: str) -> int | None:
    """Where a parameter can be passed by position; None if it cannot."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    return names.index(parameter) if parameter in names else None
