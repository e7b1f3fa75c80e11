"""Stores: what is put at an attribute or an item, and what a call changes in place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event, Step, Unseen
from nonstrict.models.entries import Doing
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.values import (
    CALLABLES,
    CONTAINERS,
    GLOBALS,
    TENSOR_METADATA,
    TENSORS,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    join,
    traced,
)
from nonstrict.program.objects import classes, container_flow, coverage, known_tensors, namespaces, symbolic_slices

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: Events of reading state that the caller of a function, or a module, holds.
_READS = frozenset({Event.READ, Event.ATTRIBUTE})


def outer(place: AccessPath) -> bool:
    """Whether a write at a place is seen outside the body."""
    return place.captured or place.root is Root.ARGUMENT


def set_attribute(frame: Frame, node: ast.AST, base: Value, name: str, value: Value) -> None:
    """`base.name = value`."""
    if base.kind in TENSORS:
        frame.observer.attribute_stored(frame, node, base, name)
        _tensor_attribute(frame, node, base, name)
        return
    if base.kind in (Kind.PYTHON_MODULE, Kind.EXTERNAL) or (base.kind is Kind.SETTING and base.dotted):
        _module_attribute(frame, node, base, name, value)
        return
    if base.dotted == GLOBALS:
        write(frame, node, frame.module.place(name), value, Change.NAME)
        return
    if base.mark is not None and base.mark.function is not None:
        base = base._replace(kind=Kind.FUNCTION, ref=base.mark.function)
    if base.kind is Kind.CLASS or base.kind is Kind.FUNCTION:
        owner = base.of_class or base.function
        if owner is None:
            return
        place = (owner.place if isinstance(owner, Class) else owner.module.place(owner.name)).step(f".{name}")
        if base.place.root is not Root.FRESH or owner.closure is None:
            write(frame, node, place, value, Change.ATTRIBUTE)
        return
    setter = classes.setter_of(frame.machine, base, name)
    if setter is not None:
        frame.machine.call(frame, node, setter, [value], {})
        return
    place = base.place.step(f".{name}")
    known = base.heap.attributes.get(name) if base.heap is not None else None
    registered = known is not None and (bool(known.flags & Flag.REGISTERED) or known.kind is Kind.PARAMETER)
    if base.kind in (Kind.OBJECT, Kind.MODULE, Kind.INSTANCE, Kind.UNKNOWN) and outer(place):
        if base.kind is Kind.UNKNOWN and not base.place.captured and not _is_method(frame):
            coverage.note(frame, node, Unseen.WRITE)
            return
        write(frame, node, place, value, Change.ATTRIBUTE, registered=registered)
    if base.heap is not None and not registered and not _keeps_to_itself(frame, base):
        kept = value if base.place.root is Root.FRESH or frame.static else _forgotten(value)
        settles = name != namespaces.ANY and _settles(frame, base, known)
        known = known or _of_class(frame, base, name)
        base.heap.attributes[name] = kept if settles else join(known, kept)


def _of_class(frame: Frame, base: Value, name: str) -> Value | None:
    """What the class of an object binds under an attribute, which the object has until another is stored.

    What methods store on their own object may be a part of making it.
    """
    receiver = next((frame.env.get(one) for one in frame.scope.parameters[:1]), None) if frame.scope else None
    if base.of_class is None or (receiver is not None and receiver.heap is base.heap):
        return None
    found = classes.class_attribute(frame.machine, base.of_class, name, base.of_class.place.step(f".{name}"))
    return found if found is not None and found.kind not in CALLABLES else None


def _settles(frame: Frame, base: Value, known: Value | None) -> bool:
    """Whether a store surely happens, to an object that a script makes: nothing else is there afterwards.

    The same for what a copy still shares with the object that it is a copy of.
    """
    if base.place.root is Root.FRESH and known is not None and outer(known.place):
        return not any(around.branches for around in frame.around())
    followed = frame.static and frame.at_module_level and frame.function is not None
    return followed and base.place.root is Root.FRESH and not frame.branches


def _keeps_to_itself(frame: Frame, base: Value) -> bool:
    """Whether a write is one that only the region sees until it ends: what it calls reads what was there before."""
    return frame.region and base.place.captured


def _forgotten(value: Value) -> Value:
    """A traced value stored outside: what is there in a later call is not the value of this one."""
    return UNKNOWN if traced(value) else value.with_taint(frozenset())


def _is_method(frame: Frame) -> bool:
    function = frame.function
    return function is not None and function.owner is not None


def _spelled(node: ast.AST) -> str:
    """How an attribute is set: `x.data =`, `setattr(x, "data", y)`."""
    return ast.unparse(node) if isinstance(node, ast.Call) else f"{ast.unparse(node)} ="


def _tensor_attribute(frame: Frame, node: ast.AST, base: Value, name: str) -> None:
    of_argument = base.place.root is Root.ARGUMENT and not base.place.is_view
    # Whatever tensor it is, tracing records nothing of what `.data` is bound to.
    lost = name == "data" and not base.place.captured and not frame.static and not frame.opaque
    if of_argument or lost:
        frame.emit(Event.REBIND_DATA, node, base.place, base, _spelled(node))
    elif base.place.captured:
        event = Event.TENSOR_WRITE if name in TENSOR_METADATA else Event.WRITE
        frame.emit(event, node, base.place, base, f"{name} =")


def _module_attribute(frame: Frame, node: ast.AST, base: Value, name: str, value: Value) -> None:
    dotted = f"{base.ref}.{name}"
    if frame.static:
        frame.machine.contracts.replaced(frame.machine, dotted, value)
        return
    known = frame.machine.models.assignment(dotted)
    if known is not None:
        frame.emit(Event.TORCH_STATE if known.doing is Doing.TORCH_STATE else Event.IO, node, what=known.what)
        return
    path = frame.machine.project.find(base.dotted, frame.module)
    module = frame.machine.project.module(path) if path else None
    place = module.place(name) if module is not None else AccessPath(Root.GLOBAL, base.dotted, dotted)
    write(frame, node, place, value, Change.NAME)


def write(
    frame: Frame,
    node: ast.AST,
    place: AccessPath,
    value: Value,
    how: Change,
    what: str = "",
    *,
    registered: bool = False,
    entries: tuple[str, ...] = (),
) -> None:
    """Python state at a place changes, or `entries` of it; a traced tensor stored outside stays behind there."""
    if frame.static or not outer(place):
        return
    frame.summary.recorded.update((effect.key, place) for effect in value.taint if effect.event is Event.RANDOM)
    _only_changed(frame, node, place)
    if traced(value) and not registered:
        frame.emit(Event.LEAK, node, place, value, what, how=how, entries=entries)
    else:
        frame.emit(Event.WRITE, node, place, value, what, how=how, entries=entries)


def _only_changed(frame: Frame, node: ast.AST, place: AccessPath) -> None:
    """What a call gave that is changed at once was asked for to change it: `TREE.get("a", {}).update(b=1)`."""
    target = node.func if isinstance(node, ast.Call) else node
    asked = target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else None
    if not isinstance(asked, ast.Call):
        return
    effects = frame.summary.effects
    for key in [key for key, effect in effects.items() if effect.node is asked and effect.event in _READS]:
        held = effects[key].place
        if held[:3] == place[:3] and place.path[: len(held.path)] == held.path:
            del effects[key]


def _set_part(frame: Frame, node: ast.AST, tensor: Value, index: Value, value: Value) -> None:
    """`tensor[index] = value`."""
    if isinstance(index.const, str):
        return  # a class that holds tensors by name, as a `TensorDict`, has functions of torch for it too
    frame.sink(value)
    frame.observer.part_stored(frame, node, index)
    if isinstance(node, ast.Subscript) and not frame.region:
        symbolic_slices.stored(frame, node.slice, index)
    frame.written(node, tensor, "[...] =")
    if isinstance(node, ast.Subscript) and not (_is_known(node, index) and known_tensors.is_known(value)):
        known_tensors.forget(frame, node.value)


def set_item(frame: Frame, node: ast.AST, base: Value, index: Value, value: Value) -> None:
    """`base[index] = value`."""
    if base.kind is Kind.UNKNOWN and base.place.root is Root.ARGUMENT:
        coverage.note(frame, node, Unseen.WRITE)
    if base.kind in TENSORS:
        _set_part(frame, node, base, index, value)
        return
    if base.kind is Kind.NUMPY and frame.opaque:
        frame.written(node, base, "[...] =")
        return
    if base.kind is Kind.EXTERNAL and base.dotted == "os.environ":
        frame.emit(Event.IO, node, what="changes the environment")
        frame.observer.came_to(frame, node, Step.ENVIRONMENT_WRITE)
        return
    if (owner := namespaces.holder(base)) is not None:
        set_attribute(frame, node, owner, namespaces.named(index), value)
        return
    if classes.special(frame, node, base, "__setitem__", [index, value]) is not None:
        return
    opaque = base.kind is Kind.UNKNOWN and base.place.captured and not base.place.path
    array = base.kind is Kind.NUMPY and base.place.captured
    if base.kind in CONTAINERS:
        frame.observer.entry_stored(frame, node, base, index)
    if opaque or array or base.kind in CONTAINERS or base.kind in (Kind.OBJECT, Kind.INSTANCE):
        write(frame, node, base.place, value, Change.ITEM, entries=container_flow.entries_at(index))
    if base.heap is not None and not _keeps_to_itself(frame, base):
        kept = value if base.place.root is Root.FRESH or frame.static else _forgotten(value)
        base.heap.store(index.const, kept)


def _is_known(node: ast.Subscript, index: Value) -> bool:
    """Whether torch knows where something is stored."""
    return known_tensors.is_known(index) or symbolic_slices.is_ellipsis(node.slice)


def array_written(frame: Frame, node: ast.AST, array: Value, what: str) -> bool:
    """Whether an array of NumPy lives where a change of it is seen: that is noted."""
    if frame.opaque:
        frame.written(node, array, f"`{what}`")
    elif array.place.captured:
        write(frame, node, array.place, array, Change.METHOD, what)
    return frame.opaque or array.place.captured


def first_changed(frame: Frame, node: ast.AST, name: str, values: list[Value]) -> bool:
    """Whether a function changes the container or array that it is given first: that is noted."""
    if values[0].kind is Kind.NUMPY:
        return array_written(frame, node, values[0], name)
    if values[0].kind in CONTAINERS:
        by_key = values[0].kind is Kind.DICT and name in ("setitem", "delitem")
        entries = container_flow.entries_at(values[1]) if by_key and len(values) > 1 else ()
        write(frame, node, values[0].place, values[-1], Change.METHOD, name, entries=entries)
    return values[0].kind in CONTAINERS


def delete_attribute(frame: Frame, node: ast.AST, base: Value, name: str) -> None:
    """`del base.name`."""
    if base.kind in (Kind.OBJECT, Kind.MODULE) and outer(base.place):
        write(frame, node, base.place.step(f".{name}"), UNKNOWN, Change.DELETION)
