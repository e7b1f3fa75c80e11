"""How what a region uses varies in a rehearsal of the file that calls it, told in the words of the table of guards."""

from __future__ import annotations

import ast
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.findings import Related
from nonstrict.program.contracts.regions import drawn_flags, idle_paths, sizes, types_passed
from nonstrict.program.domain.access_paths import VIEW, Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.rehearsal import layers
from nonstrict.program.rehearsal.rehearsing import Rehearsed, is_script, rehearse
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Definition,
    Instance,
    Tensor,
    is_known,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.rehearsal.stage import Given
    from nonstrict.program.rehearsal.things import Closure, Thing
    from nonstrict.program.state.machine import Machine

_SEVERAL = 2
_ANY = "[]"
#: Containers in one another are looked into so far: one may hold itself.
_NESTED = 4
#: For these sizes torch compiles by themselves, whatever others are.
_APART = frozenset({0, 1})
#: What is done with the entries of a container where it is said of the container.
_OF_ENTRIES = frozenset({Use.KEY, Use.FORMAT})
_NOTED = "called with another one here"
_NUMBERS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "str"}


class Rehearsals:
    """The rehearsals of a machine's program, by file."""

    def __init__(self) -> None:
        self._known: dict[str, Rehearsed] = {}

    def of(self, machine: Machine, path: str) -> Rehearsed:
        """What a file does if it is run as a script."""
        if path not in self._known:
            module = machine.project.module(path)
            acts = module is not None and is_script(module)
            none = Rehearsed((), complete=False)
            self._known[path] = rehearse(machine.project, module) if module is not None and acts else none
        return self._known[path]


class Seen(NamedTuple):
    """How something varies in the calls that were seen: what the table of guards calls it, and how many ways.

    `sure` says that all calls are known, and what each of them has there. `evidence` is the last call with another one.
    """

    kind: str
    number: int
    evidence: tuple[Related, ...] = ()
    sure: bool = False
    of_objects: bool = False


def calls(region: Interpreted) -> Sequence[Given]:
    """The calls of a region in the rehearsal of its file; none where each application has compilations of its own.

    Where the first one is given no tensor, and others are, it is not known whether Dynamo gives the region up at once.
    """
    found = _calls(region)
    holding = [_holds_tensor([*one.held.values()], _NESTED) for one in found]
    return () if holding and not holding[0] and any(holding) else found


def _holds_tensor(things: Iterable[Thing], inside: int) -> bool:
    for one in things if inside else ():
        several = plain_dict(one)
        held = [*several.values()] if several is not None else sequence(one)
        if isinstance(one, (Tensor, Instance)) or (held is not None and _holds_tensor(held, inside - 1)):
            return True
    return False


def _calls(region: Interpreted) -> Sequence[Given]:
    function, mark = region.mark.function, region.mark
    if region.isolates:
        return ()
    if function is None:
        line = getattr(mark.node, "lineno", 0) + mark.offset
        given = region.machine.part(Rehearsals).of(region.machine, mark.path).given
        return [one for one in given if one.function is None and one.site == (mark.path, line)]
    found = _calls_in(region, function, function.module.path)
    if found:
        return found
    elsewhere = (_calls_in(region, function, path) for path in sorted(_users(region.machine, function)))
    return max(elsewhere, key=len, default=())  # each is a program of its own


def _calls_in(region: Interpreted, function: Function, path: str) -> list[Given]:
    """The calls of a region where a file is run as a script."""
    given = region.machine.part(Rehearsals).of(region.machine, path).given
    place = function.module.path, function.node.lineno + function.offset
    return [one for one in given if one.function is not None and _defined(one.function) == place]


def _users(machine: Machine, function: Function) -> set[str]:
    """The files that import a function, or the class that it is a method of."""
    name = function.qualname.partition(".")[0]
    users = machine.elsewhere.users(function.module, name) if name in function.module.bindings else ()
    return {use.module.path for use in users}


def _defined(function: Closure) -> tuple[str, int]:
    return function.scope.path, function.node.lineno


class Kept(NamedTuple):
    """What the calls of a region have of something: what the table of guards calls it, and for each call which it is.

    That is None for a call of which it is not known. `last` is the first call with the last one of them.
    """

    kind: str
    keys: tuple[object, ...]

    @property
    def number(self) -> int:
        """How many ways there are."""
        return len({*self.keys} - {None})

    @property
    def last(self) -> int:
        """The call that is the first to have what no call before it had, and no later call is."""
        return max((self.keys.index(key) for key in {*self.keys} - {None}), default=0)


def kept(region: Interpreted, effect: Effect) -> Kept | None:
    """What the calls of a region have of what it uses; None where the rehearsal does not tell."""
    place = effect.place
    given = calls(region)
    if place.root not in (Root.ARGUMENT, Root.GLOBAL) or len(given) < _SEVERAL:
        return None
    if _is_settled(region, effect):
        return None
    size = sizes.at(place)
    path = place.path if size is None else size.tensor.path
    things = [at(_root(region, one, place), path) for one in given]
    known = [one for one in things if one is not UNKNOWN]
    found = _of_size(known, size.dimension) if size is not None else _of_things(known, effect.how)
    if found is None or len(known) < _SEVERAL:
        return None
    keys = iter(found[1])
    return Kept(found[0], tuple(next(keys) if one is not UNKNOWN else None for one in things))


def _is_settled(region: Interpreted, effect: Effect) -> bool:
    """Whether the first call may leave it as all others find it, or ends before it computes anything."""
    place = effect.place
    changed = (one.effect.place for one in region.observed(Event.WRITE, Event.LEAK))
    own = place.root is Root.GLOBAL and any((one.root, one.name) == (place.root, place.name) for one in changed)
    return own or (effect.how is Use.LENGTH and idle_paths.has_idle_path(region, {effect.node}))


def _root(region: Interpreted, call: Given, place: AccessPath) -> Thing:
    """What the parameter, or the variable around the function, holds at which a place begins."""
    if place.root is Root.ARGUMENT:
        return call.held.get(region.parameter_at(place), UNKNOWN)
    function = call.function
    return call.around.get(place.name, UNKNOWN) if function and function.scope.path == place.file else UNKNOWN


def of(region: Interpreted, effect: Effect) -> Seen | None:
    """How what a region uses varies; None where the rehearsal does not tell that it does."""
    found = kept(region, effect)
    if found is None or found.number < _SEVERAL:
        return None
    given = calls(region)
    is_attribute = effect.place.root is Root.ARGUMENT and "".join(effect.place.path[:1]).startswith(".")
    several = is_attribute and len({one.receiver for one in given}) > 1
    return Seen(found.kind, found.number, shown(given[found.last]), None not in found.keys, several)


def combinations(region: Interpreted, effects: Sequence[Effect]) -> int:
    """How many combinations there are of what a region uses, in the calls of which all of it is known."""
    found = [kept(region, one) for one in effects]
    known = [one.keys for one in found if one is not None]
    rows = {row for row in zip(*known, strict=True) if None not in row}
    return len(rows) if known and len(known) == len(found) else 0


def shown(call: Given) -> tuple[Related, ...]:
    """A call as evidence."""
    return (Related(span_of(call.path, 0, call.node), _NOTED),) if hasattr(call.node, "lineno") else ()


# -- what lives at a place ----------------------------------------------------------------------------------------


class Any(NamedTuple):
    """Any entry of a container: of those that it has."""

    holder: Thing
    entries: tuple[Thing, ...]


def at(thing: Thing, path: Sequence[str]) -> Thing:
    """What steps lead to, `Any` where one leads to any of several; `UNKNOWN` where nothing is known to be there."""
    for index, step in enumerate(path):
        if step == VIEW:
            return thing
        if step == _ANY:
            several = sequence(thing)
            inside = [at(one, path[index + 1 :]) for one in several or ()]
            if several is None or UNKNOWN in inside:
                return UNKNOWN
            return inside[0] if len(inside) == 1 else Any(thing, tuple(inside))
        if step.startswith("."):
            thing = _attribute(thing, step[1:])
        elif step.startswith("["):
            thing = _entry(thing, step[1:-1])
        else:
            return UNKNOWN
    return thing


def _attribute(thing: Thing, name: str) -> Thing:
    if not isinstance(thing, Instance):
        return UNKNOWN
    if name in thing.attributes:
        return thing.attributes[name]
    if layers.is_module(thing) and name in layers.entries(thing):
        return layers.entries(thing)[name]
    return thing.of.member(name) if isinstance(thing.of, Definition) and is_known(thing.of.member(name)) else UNKNOWN


def _entry(thing: Thing, key: str) -> Thing:
    try:
        told: Thing = ast.literal_eval(key)
    except (ValueError, SyntaxError):
        return UNKNOWN
    if isinstance(thing, Instance) and layers.is_module(thing):
        held = list(layers.entries(thing).values())
        return (
            held[told]
            if isinstance(told, int) and -len(held) <= told < len(held)
            else layers.entries(thing).get(told, UNKNOWN)
        )
    table, several = plain_dict(thing), sequence(thing)
    if table is not None:
        return table.get(told, UNKNOWN)
    is_there = several is not None and isinstance(told, int) and -len(several) <= told < len(several)
    return several[told] if is_there and several is not None and isinstance(told, int) else UNKNOWN


# -- how it differs -----------------------------------------------------------------------------------------------

#: What the table of guards calls things that differ, and for each call what it has of that; None where unknown.
_Differing = tuple[str, "list[object]"]


def _of_things(things: list[Thing], how: object) -> _Differing | None:
    if how is Use.LENGTH:
        return _of_lengths(things)
    if how in _OF_ENTRIES and all(sequence(one) is not None for one in things):
        things = [Any(one, tuple(sequence(one) or ())) for one in things]
    if things and all(isinstance(one, Any) for one in things):
        return _of_any([one for one in things if isinstance(one, Any)])
    if all(isinstance(one, Tensor) for one in things):
        return _of_tensors([one for one in things if isinstance(one, Tensor)])
    types = {type(one) for one in things}
    if types == {Tensor, type(None)}:
        return (types_passed.OPTIONAL, [one is None for one in things]) if how in types_passed.OF_OPTIONAL else None
    if types <= {int, float, bool} and len(types) > 1 and bool not in types:
        return (
            ("float", [*things]) if how is not Use.BRANCH else ("type of a plain value", [type(one) for one in things])
        )
    if len(types) == 1 and (kind := _NUMBERS.get(types.pop())):
        return kind, [*things]
    if types <= {int, float, type(None)} and type(None) in types:
        return "None or float", [*things]
    if all(isinstance(one, Instance) and "value" in one.attributes and "name" in one.attributes for one in things):
        return "enum", [one.attributes["name"] for one in things if isinstance(one, Instance)]
    return None


def _of_any(things: list[Any]) -> _Differing | None:
    """Numbers or texts in containers, all of them together."""
    types = {type(entry) for one in things for entry in one.entries}
    kind = _NUMBERS.get(types.pop()) if len(types) == 1 else None
    if kind == "bool":
        kind = drawn_flags.kind_of("tuple" if all(isinstance(one.holder, tuple) for one in things) else "list")
    return (kind, [one.entries for one in things]) if kind is not None else None


def _of_lengths(things: list[Thing]) -> _Differing | None:
    tables = [plain_dict(one) for one in things]
    if all(one is not None for one in tables):
        return "keys", [tuple(one) if one is not None else None for one in tables]
    several = [sequence(one) for one in things]
    if not all(one is not None for one in several):
        return None
    lengths: list[object] = [len(one) if one is not None else None for one in several]
    if all(isinstance(one, deque) for one in things):
        return "deque length", lengths
    if all(isinstance(one, tuple) for one in things):
        return "tuple length", lengths
    held = [entry for one in several for entry in one or ()]
    return ("list length" if any(isinstance(one, Tensor) for one in held) else "length of a list of numbers"), lengths


def _of_size(things: list[Thing], dimension: int | None) -> _Differing | None:
    """The sizes of tensors along a dimension, or along all of them."""
    shapes = [one.shape if isinstance(one, Tensor) else None for one in things]
    if dimension is None or dimension in _marked(things):
        return None
    return "size", [shape[dimension] if shape and -len(shape) <= dimension < len(shape) else None for shape in shapes]


def _of_tensors(things: list[Tensor]) -> _Differing | None:
    """What differs most between tensors: rank, sizes, dtype, what they are to autograd, how they lie in memory."""
    shapes = [one.shape for one in things]
    ranks: list[object] = [len(shape) if shape is not None else None for shape in shapes]
    found: list[_Differing] = [
        ("parameter", [one.parameter for one in things]),
        ("dtype", [one.dtype or None for one in things]),
        ("requires_grad", [one.requires_grad for one in things]),
        ("strides", [one.layout for one in things]),
    ]
    if len({*ranks} - {None}) > 1:
        found.append(("rank", ranks))
    else:
        found.append(_of_shapes(things, shapes))
    return max(found, key=lambda one: len({*one[1]} - {None}))


def _of_shapes(things: list[Tensor], shapes: list[tuple[int, ...] | None]) -> _Differing:
    known = [one for one in shapes if one is not None]
    marked = _marked(things)
    along = [set[int]() if at in marked else {*sizes} for at, sizes in enumerate(zip(*known, strict=True))]
    several = [sizes for sizes in along if len(sizes) > 1]
    if all(one.parameter for one in things):
        kind = "size of a parameter"
    elif len(several) > 1:
        kind = "two sizes"
    elif several and several[0] & _APART:
        kind = "size from 0"
    else:
        kind = "size"
    widest = max(range(len(along)), key=lambda at: len(along[at]), default=0)
    if not several:
        return kind, [shape and 0 for shape in shapes]
    return kind, [shape[widest] if shape else None for shape in shapes]


def _marked(things: Iterable[Thing]) -> frozenset[int]:
    """The dimensions that some tensor is marked dynamic in."""
    return frozenset[int]().union(*(one.marked for one in things if isinstance(one, Tensor)))
