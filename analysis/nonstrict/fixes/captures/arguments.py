"""Pass what a traced function captures as an argument: through the helpers on the way, at every call in the project.

Regions read the state themselves, where Dynamo sees it: tensors become inputs of the graph, other values are guarded
(measured on torch 2.13.0).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.factories import tidied
from nonstrict.fixes.captures.given import kept_beside, of_factory, written
from nonstrict.fixes.captures.passable import (
    MARKERS,
    annotation_of,
    depends_on_mode,
    is_accepted,
    is_written,
    may_be_none,
    subject_of,
    usable,
)
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.uses import traced
from nonstrict.fixes.uses.signatures import Passing, passed
from nonstrict.fixes.uses.spots import chain, is_at, is_constant, is_rebound, origin, spelled, spot_of, steps_text
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import BOOL, NONE, Kind, Value, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Edit, Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.fixes.uses.signatures import Change, Extended
    from nonstrict.fixes.uses.spots import Spelled, Spot
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed


#: The attribute of a module that says whether it is in training.
MODE = ".training"


class Captured(NamedTuple):
    """What is captured: the expression that reads it, the variable with its steps, and what it holds.

    `test` is what is passed of a value that torch takes as no argument, or does not guard: ` is not None`, `.training`.
    """

    document: Document
    node: ast.expr
    spot: Spot
    value: Value
    test: str = ""


def pass_captured(context: Context) -> Iterator[Fix]:
    """Pass the global, the cell, or a part of what they hold, that a finding is about."""
    seen = subject_of(context)
    captured = captured_by(context, seen) if seen is not None and context.body.marker in MARKERS else None
    if seen is None or captured is None or not _may_pass(context, captured, seen.effect.place):
        return
    yield from captured_passed(context, _tested(captured) if may_be_none(context, captured.value) else captured)


def captured_passed(context: Context, captured: Captured) -> Iterator[Fix]:
    """Pass what an expression reads, under the best name that can be had."""
    title = f"Pass `{captured.document.text(captured.node)}{captured.test}` as an argument"
    for edits in passings(context, captured):
        yield Fix(title, Applicability.UNSAFE, edits)
        return


def passings(context: Context, captured: Captured) -> Iterator[tuple[Edit, ...]]:
    """The edits by which captured state is passed, under the best name first."""
    for _, _, edits in named_passings(context, captured):
        yield edits


def named_passings(context: Context, captured: Captured) -> Iterator[tuple[str, Extended, tuple[Edit, ...]]]:
    """The same, with the name, and the function that reads the state."""
    uses = context.documents.uses
    bodies = traced.passed_through(context)
    for name in dict.fromkeys(_names(captured)):
        passing = _Passing(uses, captured, name, bodies)
        change = passed(uses, captured.document, captured.node, passing)
        reads = _reads(context, change, captured, name) if change is not None else None
        if change is not None and reads is not None:
            functions = [function.node for function in change.functions]
            edits = tidied(uses, captured.document, captured.spot, functions, (*change.edits, *reads))
            yield name, change.functions[0], edits


class _Passing(Passing):
    """The state is passed under a name; callers outside of marked functions read it."""

    def __init__(self, uses: Uses, captured: Captured, name: str, bodies: frozenset[Span]) -> None:
        super().__init__(name, annotation_of(captured.value), bodies)
        self.uses = uses
        self.document = captured.document
        self.spot = captured.spot
        self.in_place = captured.value.kind is Kind.TENSOR
        self.suffix = _suffix(captured) + captured.test

    def written(self, function: Extended, call: Call) -> Spelled | None:
        known = spelled(self.uses, call.document, call.node, self.spot, self.suffix)
        if known is not None:
            return known
        given = of_factory(self.uses, self.document, call, self.spot)
        if given is not None:
            return written(self.uses, call, given, self.suffix)
        return kept_beside(self.uses, call, self.spot, self.suffix)

    def shares(self, function: Extended, override: Extended) -> bool:
        return True

    def reaches(self, document: Document, function: FunctionNode) -> bool:
        # A tensor that is changed in place is the same one afterwards.
        nodes = (node for node in ast.walk(function) if not (self.in_place and _is_changed(document, node)))
        return not any(_sets(node, self.spot) for node in nodes)

    def is_value(self, document: Document, node: ast.Name) -> bool:
        return not self.suffix and _is_same(self.uses, document, node, self.spot)


def _tested(captured: Captured) -> Captured:
    """The test whether a value is None, if that is what reads it."""
    outer = captured.document.parent(captured.node)
    if isinstance(outer, ast.Compare) and outer.left is captured.node and (test := _none_test(outer)):
        return captured._replace(test=test, value=BOOL)
    return captured


def _none_test(node: ast.Compare) -> str:
    right = node.comparators[0]
    if len(node.ops) != 1 or not isinstance(right, ast.Constant) or right.value is not None:
        return ""
    if isinstance(node.ops[0], ast.Is):
        return " is None"
    return " is not None" if isinstance(node.ops[0], ast.IsNot) else ""


def captured_by(context: Context, seen: Observed) -> Captured | None:
    """The expression that reads the captured state, else one in the same function; as much of it as can be passed."""
    place = seen.effect.place
    document = context.documents.document(seen.effect.path)
    whole = document.at(seen.effect.span, ast.AST) if document is not None else None
    if document is None or whole is None or place.seen_as not in (Root.GLOBAL, Root.CELL):
        return None
    function = document.function(whole)
    for length in range(len(place.path), -1, -1):
        holder = place._replace(path=place.path[:length])
        # Read under another name, the state is what that name was given; a part of it that is read is not.
        for part in ast.walk(whole) if length < len(place.path) or function is None else _both(whole, function):
            if isinstance(part, ast.expr) and (found := _at(context, document, part, holder)) is not None:
                known, exact = _without_unknown_keys(context, found)
                value = seen.effect.value if exact and length == len(place.path) else known.value
                held = join(known.value, NONE) if _begins_as_none(context, place) else known.value
                return known._replace(value=_with_none(value, held))
    return None


def _begins_as_none(context: Context, place: AccessPath) -> bool:
    """Whether a global is None until the program puts something there: what it is put is all that is known of it."""
    module = context.machine.project.module(place.file) if place.root is Root.GLOBAL and not place.path else None
    bindings = module.bindings.get(place.name, ()) if module is not None else ()
    return any(isinstance(one.node, ast.Constant) and one.node.value is None for one in bindings)


def _both(inner: ast.AST, outer: ast.AST) -> Iterator[ast.AST]:
    yield from ast.walk(inner)
    yield from ast.walk(outer)


def _at(context: Context, document: Document, node: ast.expr, place: AccessPath) -> Captured | None:
    """An expression, if it is what reads a place."""
    uses = context.documents.uses
    spot = spot_of(uses, document, node)
    if spot is None or not is_at(uses, spot, place):
        return None
    return Captured(document, node, spot, uses.value(document, node))


def _without_unknown_keys(context: Context, captured: Captured) -> tuple[Captured, bool]:
    """What of an expression depends on nothing local, and whether that is all of it."""
    if is_constant(captured.spot):
        return captured, True
    uses = context.documents.uses
    for shorter in reversed(chain(captured.node)):
        spot = spot_of(uses, captured.document, shorter)
        if spot is not None and is_constant(spot):
            return Captured(captured.document, shorter, spot, uses.value(captured.document, shorter)), False
    return captured, True


def _with_none(read: Value, held: Value) -> Value:
    """What is read, or None if the variable may hold that too: a read of None is no effect."""
    nothing = (one for one in held.alternatives() if one.kind is Kind.NONE)
    return join(read, next(nothing, read))


def _may_pass(context: Context, captured: Captured, place: AccessPath) -> bool:
    """Whether torch takes the value as an argument, and passing it makes no other finding of this one."""
    if is_written(context, place) or not is_accepted(context, captured.value):
        return False
    modules = [one for one in captured.value.alternatives() if one.kind is Kind.MODULE]
    # The mode of a module is not guarded either if the module is an argument.
    return not any(map(depends_on_mode, modules)) or context.body.mode_guarded


def _suffix(captured: Captured) -> str:
    """The steps behind the variable, as they are written."""
    return steps_text(captured.document, captured.node, len(captured.spot.steps))


def _is_changed(document: Document, node: ast.AST) -> bool:
    outer = document.parent(node)
    return isinstance(outer, ast.AugAssign) and outer.target is node


def _sets(node: ast.AST, spot: Spot) -> bool:
    """Whether something of the name of a variable, or of its last step, gets another value."""
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    last = spot.steps[-1] if spot.steps else ""
    if isinstance(node, ast.Attribute):
        return last == f".{node.attr}"
    if isinstance(node, ast.Subscript):
        return last == f"[{ast.unparse(node.slice)}]"
    return not last and isinstance(node, ast.Name) and node.id == spot.name


def _is_same(uses: Uses, document: Document, node: ast.expr, spot: Spot) -> bool:
    """Whether an expression names the same variable and steps."""
    found = spot_of(uses, document, node)
    return found is not None and _identity(uses, found) == _identity(uses, spot)


def _identity(uses: Uses, spot: Spot) -> Spot:
    """What names of several files share: where it comes from, unless one of them is bound anew, and may differ then."""
    first = origin(uses, spot) if isinstance(spot.scope, ast.Module) else spot
    apart = first != spot and (is_rebound(uses, first) or is_rebound(uses, spot))
    return spot if apart else first


def _names(captured: Captured) -> Iterator[str]:
    """Names for the parameter, the best one first: that of the variable, or of the attribute or entry."""
    spot = captured.spot
    last = spot.steps[-1] if spot.steps else ""
    word = last[1:] if last.startswith(".") else last.strip("[]").strip("'\"") if last else spot.name
    root = spot.name.lower()
    if captured.test == MODE:
        yield from ("training", *usable(f"{word}_training"))
    elif captured.test:
        yield from usable(f"has_{word}" if "not" in captured.test else f"no_{word}")
    else:
        yield from usable(word)
        yield from usable(f"{root}_{word}" if last else f"given_{word}")
    yield from usable(f"{root}_value")


def _reads(context: Context, change: Change, captured: Captured, name: str) -> tuple[Edit, ...] | None:
    """The edits of all reads of the state in the changed functions; None if one cannot be edited."""
    edits: list[Edit] = []
    for function in change.functions if captured.test != MODE else ():
        for node in _same_reads(context.documents.uses, function, captured.spot):
            read = _read(context, function, node, captured)
            if read is None:
                return None
            if function.document.text(read) != name:
                edits.append(replaced(function.document, read, name))
    return tuple(edits)


def _read(context: Context, function: Extended, node: ast.expr, captured: Captured) -> ast.expr | None:
    """What a name takes the place of at a use of the state; None where none can."""
    document = function.document
    formatted = any(isinstance(outer, ast.JoinedStr) for outer in document.around(node))
    outer = document.parent(node)
    # A tensor that is changed in place is the same one afterwards, also in a container.
    changed = isinstance(outer, ast.AugAssign) and outer.target is node and captured.value.kind is Kind.TENSOR
    if not (changed or isinstance(getattr(node, "ctx", None), ast.Load)):
        return None
    if formatted and (captured.spot.steps or captured.test):
        return None
    if captured.test:
        tests = isinstance(outer, ast.Compare) and outer.left is node and _none_test(outer) == captured.test
        return outer if isinstance(outer, ast.Compare) and tests else None
    if may_be_none(context, captured.value) and not _fails_with_none(outer, node):
        return None
    return None if _needs_number(captured.value, outer, node) else node


def _needs_number(value: Value, outer: ast.AST | None, node: ast.expr) -> bool:
    """Whether a number is looked up, or asked for its class: as an argument it may be symbolic (NST505, NST106)."""
    if all(one.kind is not Kind.NUMBER for one in value.alternatives()):
        return False
    if isinstance(outer, ast.Subscript):
        return outer.slice is node
    return isinstance(outer, ast.Call) and last_name(outer.func) in ("isinstance", "type", "id", "hash")


def _fails_with_none(outer: ast.AST | None, node: ast.expr) -> bool:
    """Whether a use of a value shows that it is not None when it is used."""
    if isinstance(outer, (ast.Attribute, ast.Subscript)):
        return outer.value is node
    return isinstance(outer, ast.BinOp) or (isinstance(outer, ast.Call) and outer.func is node)


def _same_reads(uses: Uses, function: Extended, spot: Spot) -> Iterator[ast.expr]:
    """The uses of the state in the body of a function."""
    body = function.node.body if isinstance(function.node.body, list) else [function.node.body]
    for node in (inner for part in body for inner in ast.walk(part)):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and _is_same(uses, function.document, node, spot):
            yield node
