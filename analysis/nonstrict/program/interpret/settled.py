"""Conditions on attributes of objects that a script makes: the object tells which branch runs."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts.comparing import COMPARISONS
from nonstrict.facts.scopes import rebound_inside
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.domain import constant_folding
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import CONTAINERS, NO_CONSTANT, NUMBER, Flag, Kind, Value
from nonstrict.program.domain.write import How
from nonstrict.program.objects.naming import dotted
from nonstrict.truth import of_condition

if TYPE_CHECKING:
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame

_OPEN = frozenset({Kind.UNKNOWN, Kind.UNION, Kind.EXTERNAL_METHOD})


def truth(frame: Frame, test: ast.expr) -> bool | None:
    """Whether a condition holds for the objects at hand; None where they do not tell, or are not known one by one.

    Options that are variables are left open, and so are parameters where no call is followed: both ways of a script are
    looked at.
    """
    if not frame.static or not (frame.at_module_level or frame.caller is not None):
        return None
    return of_condition(test, partial(_of_part, frame))


def constant(frame: Frame, test: ast.expr) -> bool | None:
    """Whether a condition of traced code holds that only asks for what never varies; None for any other.

    That is a global constant that nothing in the project puts something else in the place of, such as a flag that stays
    False, and what follows from the release of torch.
    """
    return of_condition(test, partial(_constant, frame))


def _constant(frame: Frame, test: ast.expr) -> bool | None:
    if not isinstance(test, _ASKING) or not _may_vary_little(test):
        return None
    value = frame.machine.evaluate(frame, test)
    if isinstance(test, ast.Compare) and not value.flags & Flag.RELEASE:
        return _compared(frame, test)
    if value.const is NO_CONSTANT or not isinstance(value.const, (bool, int, float, str, type(None))):
        return None
    return bool(value.const) if value.flags & Flag.RELEASE or _stays(frame, value.place) else None


def _compared(frame: Frame, test: ast.Compare) -> bool | None:
    """Whether a comparison of a name that stays what it is with a literal holds: `_hook is not None`, `VERBOSE > 1`."""
    right = test.comparators[0]
    if len(test.ops) != 1 or not isinstance(right, ast.Constant) or isinstance(test.left, ast.Constant):
        return None
    value = frame.machine.evaluate(frame, test.left)
    held = None if value.kind is Kind.NONE else value.const
    if held is NO_CONSTANT or not _stays(frame, value.place):
        return None
    compare = COMPARISONS.get(type(test.ops[0]))
    try:
        return bool(compare(held, right.value)) if compare is not None else None
    except TypeError:
        return None


_ASKING = (ast.Name, ast.Attribute, ast.Compare, ast.Call)


def _may_vary_little(test: ast.expr) -> bool:
    """Whether nothing is called in a condition that is given what is computed."""
    calls = [node for node in walk(test) if isinstance(node, ast.Call)]
    return all(
        isinstance(part, (ast.Constant, ast.Name, ast.Attribute, ast.Call)) for call in calls for part in call.args
    )


def _stays(frame: Frame, place: AccessPath) -> bool:
    """Whether nothing is seen to put something else at a place.

    That is a name at the top level of a module which is bound once, or an attribute that the constructor of a global
    object sets.
    """
    if place.root is not Root.GLOBAL or len(place.path) > 1:
        return False
    module = frame.machine.project.module(place.file)
    if module is None:
        return False
    if place.path:
        return _stays_in_object(frame, frame.machine.global_value(module, place.name), place)
    bindings = module.bindings.get(place.name, ())
    if len(bindings) != 1 or bindings[0].conditional or not isinstance(bindings[0].node, ast.Constant):
        return False
    # A literal cannot be changed in place.
    return _is_final(bindings[0].annotation) or not _is_rebound(frame, module, place)


def _stays_in_object(frame: Frame, holder: Value, place: AccessPath) -> bool:
    """Whether an attribute of an object of the program keeps what the constructor puts there."""
    name = place.path[0][1:]
    cls = holder.of_class if holder.kind in (Kind.OBJECT, Kind.MODULE) else None
    if cls is None or holder.heap is None or name not in holder.heap.attributes:
        return False
    # Whatever writes there puts something else in: neither None nor a constant is changed in place.
    mutations = frame.machine.mutations
    return not mutations.attribute_writes_of(cls, name) and not mutations.is_written(place)


def _is_rebound(frame: Frame, module: Module, place: AccessPath) -> bool:
    """Whether a name is bound anew, also by what does so before anything compiled runs."""
    if frame.machine.mutations.is_written(place, rebound=True):
        return True
    own = frame.machine.mutations.writes_told(module, place.name)
    return any(
        write.how is How.REBOUND for write in (*own, *frame.machine.mutations.foreign_writes(module, place.name))
    )


def _is_final(annotation: ast.expr | None) -> bool:
    named = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return named is not None and last_name(named) == "Final"


def _of_part(frame: Frame, test: ast.expr) -> bool | None:
    if isinstance(test, ast.Compare):
        return _of_comparison(frame, test)
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
        held = _held(frame, test.args[0])
        return False if held is not None and held.kind is Kind.NONE else None
    held = _held(frame, test)
    if held is None:
        return None
    size = _size(held)
    if held.kind is Kind.NONE or size is not None:
        return bool(size)
    return bool(held.const) if held.const is not NO_CONSTANT else None


def _of_comparison(frame: Frame, test: ast.Compare) -> bool | None:
    """Comparisons with None, and of how much a container holds with a literal."""
    right = test.comparators[0]
    if len(test.ops) != 1 or not isinstance(right, ast.Constant):
        return None
    if isinstance(test.left, ast.Call) and dotted(frame, test.left.func) == "builtins.len" and len(test.left.args) == 1:
        counted = _held(frame, test.left.args[0])
        size = _size(counted) if counted is not None else None
        count = NUMBER._replace(const=size if size is not None else NO_CONSTANT)
        return constant_folding.compared(test.ops[0], count, frame.machine.evaluate(frame, right))
    if right.value is not None:
        return None
    held = _held(frame, test.left)
    if held is None or held.kind in _OPEN:
        return None
    return (held.kind is Kind.NONE) is isinstance(test.ops[0], (ast.Is, ast.Eq))


def _size(held: Value) -> int | None:
    """How many entries a list, tuple, set or dictionary has that was made here; None if that is not known.

    Of empty ones only literals are known to be: what others were made of may not have been seen.
    """
    heap = held.heap
    if held.kind not in CONTAINERS | {Kind.TUPLE} or heap is None or heap.open or heap.unsure or heap.loose is not None:
        return None
    if heap.items:
        return len(heap.items)
    return 0 if heap.element is None and held.flags & Flag.LITERAL else None


def _is_given(frame: Frame, name: str) -> bool:
    """Whether a variable tells what an object is made with: one of a constructor, or a parameter of what was called."""
    if frame.function is None or frame.scope is None:
        return False
    made_here = frame.at_module_level and frame.function.name == "__init__"
    return made_here or (frame.caller is not None and name in frame.scope.parameters)


def _given_around(frame: Frame, name: str) -> Value | None:
    """What a function around this one was called with, as `enabled` in what `marker(enabled=False)` returns."""
    inside = frame
    while inside.scope is not None and name not in inside.scope.local and inside.function is not None:
        around = inside.function.closure
        if around is None or name in inside.scope.nonlocal_names:
            return None
        if around.scope is not None and name in around.scope.parameters:
            changed = around.function is None or name in rebound_inside(around.function.node)
            return around.env.get(name) if around.caller is not None and not changed else None
        inside = around
    return None


def _held(frame: Frame, node: ast.expr) -> Value | None:
    """What an attribute of an object that was made here holds, or what its constructor was given."""
    if isinstance(node, ast.NamedExpr):
        return _held(frame, node.value)
    if isinstance(node, ast.Name):
        given = frame.env.get(node.id) if _is_given(frame, node.id) else _given_around(frame, node.id)
        return given if given is not None and given.place.root is Root.FRESH else None
    if not isinstance(node, ast.Attribute) or not frame.at_module_level:
        return None
    holder = frame.machine.evaluate(frame, node.value)
    if holder.kind not in (Kind.OBJECT, Kind.MODULE) or holder.place.root is not Root.FRESH:
        return None
    known = holder.heap is not None and node.attr in holder.heap.attributes
    return frame.machine.evaluate(frame, node) if known else None
