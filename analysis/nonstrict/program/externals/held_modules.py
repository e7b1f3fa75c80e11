"""What containers and wrappers of modules are made of: the modules that their arguments hand them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import BASE_MODULES, nn_module
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import (
    NESTED_MODULES,
    NO_CONSTANT,
    PRIMITIVES,
    UNKNOWN,
    AbstractObject,
    Kind,
    Value,
    join,
)
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.state.frames import Frame

#: The parameter, and attribute, by which a layer writes its input.
_IN_PLACE = "inplace"
#: Modules of torch that call one that they were given, with the attribute that holds it.
_WRAPPERS = {"DistributedDataParallel": "module"}


def children(value: Value) -> list[tuple[object, Value]]:
    """The modules that an argument of a container hands it, by their keys: itself, or the elements of what iterates."""
    if value.kind not in (Kind.LIST, Kind.DICT, Kind.TUPLE, Kind.ITERATOR) or value.heap is None:
        return [(NO_CONSTANT, value)]
    if value.kind is Kind.DICT:
        return [*value.heap.items.items()] or _of_pairs(value.heap.element)
    return [(NO_CONSTANT, member) for member in value.heap.members()]


def _of_pairs(element: Value | None) -> list[tuple[object, Value]]:
    """What a dict holds of which only one element is known: a value, or the pairs that it was made of."""
    found: list[tuple[object, Value]] = []
    for member in element.alternatives() if element is not None else ():
        paired = member.heap.items.get(1) if member.kind is Kind.TUPLE and member.heap is not None else None
        found.append((NO_CONSTANT, member if paired is None else paired))
    return found


def is_in_place(module: Value) -> bool:
    """Whether a layer of torch is made to write its input: `nn.ReLU(inplace=True)`."""
    told = module.heap.attributes.get(_IN_PLACE) if module.heap is not None and module.dotted else None
    return told is not None and told.const is True


def hold(module: Value, given: list[Value], named: dict[str, Value]) -> None:
    """Put what a `Sequential`, `ModuleList` or `ModuleDict` is made of into it, and what a wrapper wraps."""
    known = nn_module(module.dotted) if module.dotted else None
    if known is None or module.heap is None:
        return
    if _IN_PLACE in named:
        module.heap.attributes[_IN_PLACE] = named[_IN_PLACE]
    for name, position in (*known.keeps, *known.copies):
        kept = given[position] if position < len(given) else named.get(name)
        if kept is not None:
            module.heap.attributes[name] = kept if (name, position) in known.keeps else _list_of(kept)
    if not known.container:
        return
    by_name = is_keyed(module)
    for value in given:
        for key, child in children(value):
            module.heap.store(key if isinstance(key, str) or by_name else len(module.heap.items), child)


def is_keyed(module: Value) -> bool:
    """Whether what a module of torch holds is found by keys: it is a `ModuleDict` or a `ParameterDict`."""
    return name_of(module).endswith("Dict")


def _list_of(layer: Value) -> Value:
    heap = AbstractObject()
    heap.store(NO_CONSTANT, layer)
    return Value(Kind.MODULE, FRESH, "torch.nn.ModuleList", heap=heap)


def may_call_others(value: Value, depth: int = NESTED_MODULES) -> bool:
    """Whether a module of torch may call one that is not of torch: it is no layer, or holds what may be one."""
    if value.kind is Kind.EXTERNAL:
        return False
    if value.kind is not Kind.MODULE or not value.dotted or value.dotted in BASE_MODULES or depth == 0:
        return value.kind not in PRIMITIVES and value.kind is not Kind.NONE
    known = nn_module(value.dotted)
    if known is None:
        return True
    kept = {name for name, _ in (*known.keeps, *known.copies)}
    attributes, members = (value.heap.attributes, value.heap.members()) if value.heap is not None else ({}, ())
    held = [*(attributes[name] for name in kept & attributes.keys()), *members]
    if known.container and not held:
        return True  # what `Sequential(*layers)` holds is not known
    return any(may_call_others(part, depth - 1) for one in held for part in one.alternatives())


def is_switched(name: str, positional: list[Value], keywords: dict[str, Value]) -> bool | None:
    """Whether the arguments of a layer switch on what depends on its mode; None where no argument does."""
    known = nn_module(name)
    if known is None or not known.mode_argument:
        return None
    given = [keywords[argument] for argument in known.mode_argument.split() if argument in keywords]
    if not given and 0 <= known.mode_position < len(positional):
        given = [positional[known.mode_position]]
    if not given:
        return known.mode_default
    return any(value.const is NO_CONSTANT or bool(value.const) for value in given)


def inherited(frame: Frame, module: Value) -> Value:
    """A module as an instance of the class of torch that it derives from, with what its constructions put into it."""
    held = classes.as_inherited(module)
    if held is module or held.heap is None or held.heap.element is not None:
        return held
    cls = module.of_class
    put = frame.machine.contracts.put_into(frame.machine, cls) if cls is not None else None
    if put is None:
        return held
    heap = AbstractObject()
    heap.store(NO_CONSTANT, put)
    return held._replace(heap=heap)


def as_layer(name: str, positional: list[Value]) -> Value | None:
    """What `torch.nn.Linear.forward(module, ...)` calls: the module as one of that class."""
    owner, _, last = name.rpartition(".")
    module = positional[0] if positional and last in ("forward", "__call__") and nn_module(owner) is not None else None
    if module is None or module.kind is not Kind.MODULE:
        return None
    return classes.as_inherited(module)._replace(ref=owner)


def any_of(module: Value, *, attributes: bool) -> Value | None:
    """Any of the modules that a module holds as entries, and those in its attributes if they are asked for."""
    heap = module.heap
    if heap is None:
        return None
    if module.dotted and heap.element is not None:
        return heap.element
    held = [*heap.items.values(), *([heap.loose] if heap.loose is not None else [])]
    held += heap.attributes.values() if attributes else []
    found: Value | None = None
    for value in held:
        for one in value.alternatives():
            found = join(found, one) if one.kind is Kind.MODULE else found
    return found


def called(module: Value, depth: int = 0) -> Iterator[Value]:
    """The modules that calling a `Sequential` or a wrapper calls, those of inner ones among them; else none.

    What may not be there, or is one of several, is left out.
    """
    held = classes.as_inherited(module) if module.kind is Kind.MODULE else module
    if held.heap is None or depth > NESTED_MODULES:
        return
    name = name_of(held)
    inside = [held.heap.attributes.get(_WRAPPERS[name], UNKNOWN)] if name in _WRAPPERS else held.heap.members()
    for child in inside if name in _WRAPPERS or name == "Sequential" else ():
        if child.kind is Kind.MODULE:
            yield child
            yield from called(child, depth + 1)


def name_of(module: Value) -> str:
    """The class of a module of torch; "" for those of the program."""
    known = module.kind is Kind.MODULE and isinstance(module.ref, str) and module.ref.startswith("torch.nn.")
    return module.dotted.rpartition(".")[2] if known else ""
