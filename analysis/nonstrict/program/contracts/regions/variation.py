"""How a value that a region has from outside varies from call to call: what calls pass, who writes it in between.

Three answers: it is seen not to vary, it takes a few values, or many. What is not known varies for nobody.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Use
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import choosing, repeated, varying
from nonstrict.program.contracts.boundary.varying import growing_by
from nonstrict.program.contracts.regions import (
    between,
    callees,
    drawn_flags,
    idle_paths,
    instances,
    lengths,
    rates,
    rehearsed,
    sizes,
    types_passed,
)
from nonstrict.program.contracts.regions.parts import written_part
from nonstrict.program.contracts.regions.tensors import difference
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.held_inside import at_path
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.makers import in_words_of_call
from nonstrict.program.interpret.rounds import MANY, rounds
from nonstrict.program.objects.parameters import default_nodes, definition_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.sizes import Size
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.values import Value


class Varied(NamedTuple):
    """The values that something takes from call to call.

    `kinds` are those of the values as the table of guards names them, more than one where it is not known which.
    `number` is how many there are, `MANY` where nothing bounds them. With `of_objects` it is an attribute that is
    another one in other objects.
    """

    kinds: frozenset[str] = frozenset()
    number: int = 0
    evidence: tuple[Related, ...] = ()
    of_objects: bool = False


_NONE = Varied()
_SEVERAL_VALUES = 2
_SEVERAL = "called with several values here"
_MADE = "objects with other values are made here"
_OPTIONAL = "called with a tensor here, and without elsewhere"
_TYPED = "called with a value of another type here"
_FUNCTIONS = "called with several functions here"
_GROWS_HERE = "grows here between the calls"
_GROWS = "called with another length here"
OF_TENSORS = {
    "last size": "called with batches here; the last one is smaller",
    "rank": "called with tensors of another rank here",
    "strides": "called with a tensor of other strides here",
    "dtype": "called with a tensor of another dtype here",
    "requires_grad": "called with a tensor that requires gradients here",
    "parameter": "called with a parameter here",
    **dict.fromkeys(("size", "size from 0", "two sizes", "size of a parameter"), "called with several sizes here"),
}
_WRITTEN = "changes here between the calls"


def of(region: Interpreted, given: Effect) -> Varied:
    """How what a region uses varies, as far as a rehearsal, the calls of the region and who writes it tell."""
    seen, told = rehearsed.of(region, given), _told(region, given)
    if seen is None or (seen.number <= told.number and not seen.sure):
        return told
    return Varied(frozenset({seen.kind}), seen.number, told.evidence or seen.evidence, seen.of_objects)


def _told(region: Interpreted, given: Effect) -> Varied:
    """The same by the texts around the calls."""
    made = instances.told_apart(region, given.place)
    if made and (several := _given_to(region, made)).number > 1:
        return several
    is_passed = given.place.root is Root.ARGUMENT and not instances.is_kept_apart(region, given.place)
    passed = _passed(region, given) if is_passed else _NONE
    return passed if passed.number > 1 else _written(region, given)


# -- by calls -----------------------------------------------------------------------------------------------------


def _passed(region: Interpreted, given: Effect) -> Varied:
    """What the calls of the region pass, as an argument or as an attribute or entry of one."""
    function, place = region.mark.function, given.place
    name = region.parameter_at(place)
    if function is None:
        return _of_tensors(region, name)
    if (size := sizes.at(place)) is not None:
        return _of_size(region, name, size) if not size.tensor.path else _NONE
    default = _left_out(region, function, name)
    may_be_left_out = default is not None and default.kind is Kind.NONE and given.how in types_passed.OF_OPTIONAL
    optional = _of_optional(region, function, name) if may_be_left_out and not place.path else _NONE
    if may_be_left_out and given.how is Use.BRANCH:
        return optional
    if not place.path and (typed := _of_types(region, function, given)).number > 1:
        return typed
    of_entry = not any(step.startswith(".") for step in place.path)
    if given.value.is_tensor and of_entry:
        return max(_of_tensors(region, name, place.path), optional, key=lambda one: one.number)
    if given.value.kind is Kind.UNKNOWN and of_entry and (found := _of_tensors(region, name, place.path)).number > 1:
        return found
    if given.how is Use.CALL:
        return _of_callees(region, function, name)
    if given.how is Use.LENGTH and not place.path:
        return _of_container(region, function, given)
    return max(_of_flags(region, function, given), _of_plain(region, function, given), key=lambda one: one.number)


def _of_plain(region: Interpreted, function: Function, given: Effect) -> Varied:
    """Numbers, flags and texts that the calls pass, or the default where one leaves them out."""
    place, name = given.place, region.parameter_at(given.place)
    default = _left_out(region, function, name)
    passings = [_computed(one) for one in callers.passings(region.machine, function, name)]
    if not place.path and (number := rates.number(passings)) > 1:
        return Varied(frozenset({"float"}), number, _shown(passings))
    calls = [one for one in passings if place.path or not types_passed.is_of_array(one.value)]
    values = [value for one in calls for value in (at_path(one.value, place.path),) if value is not None]
    if not place.path:
        passed, count = varying.handed(region.machine, calls), varying.number(region.machine, calls, MANY)
        if default is not None and key_of(default) not in {None, *map(key_of, passed)}:
            passed, count = [*passed, default], count + 1
        kinds = _kinds(passed)
    else:
        count, kinds = _held(calls, place.path), _kinds(values)
    return Varied(kinds, count, _shown(calls)) if kinds and count > 1 else _NONE


def _computed(one: Passing) -> Passing:
    """What a call passes, in its own words where a function computes it: `f(x, rate_at(epoch))`."""
    return one._replace(expression=in_words_of_call(one.frame, one.expression)) if one.expression is not None else one


def _shown(calls: list[Passing]) -> tuple[Related, ...]:
    """The first of some calls that pass several values."""
    return tuple(Related(span_of(one.frame.module.path, one.frame.offset, one.node), _SEVERAL) for one in calls[:1])


def _of_types(region: Interpreted, function: Function, given: Effect) -> Varied:
    """Values of several types, in calls that are all made."""
    calls = list(callers.passings(region.machine, function, region.parameter_at(given.place)))
    if types_passed.several(_each(region, calls), given.how)[1]:
        calls = [one for one in calls if not varying.is_chosen(one.frame, one.node)]
    kind, number = types_passed.several(_each(region, calls), given.how)
    where = (Related(span_of(one.frame.module.path, one.frame.offset, one.node), _TYPED) for one in calls[-1:])
    return Varied(frozenset({kind}), number, tuple(where)) if kind else _NONE


def _each(region: Interpreted, calls: list[Passing]) -> Iterator[Value]:
    """What calls pass; of what is another value in each round of a loop, all that it may be."""
    for one in calls:
        for value in varying.handed(region.machine, [one]):
            anew = value.kind is Kind.UNION and (
                repeated.times_made(region.machine, one, MANY) > 1 or choosing.is_chosen_anew(one)
            )
            if value.kind is Kind.NONE and value.place.captured and region.machine.mutations.is_replaced(value.place):
                continue  # what is filled later is missing in no call that is known
            yield from value.alternatives() if anew else (value,)


def _left_out(region: Interpreted, function: Function, name: str) -> Value | None:
    """The default of a parameter, where a call that was seen leaves it to that."""
    node = default_nodes(function.node.args).get(name)
    if node is None:
        return None
    calls = callers.calls_of_function(region.machine, function)
    passing = {one.node for one in callers.passings(region.machine, function, name)}
    plain = [call for _, call, _, _ in calls if isinstance(call, ast.Call) and not _spreads(call)]
    if all(call in passing for call in plain):
        return None
    definition = definition_frame(region.machine.module_frame(function.module), function)
    return region.machine.evaluate(definition, node)


def _spreads(call: ast.Call) -> bool:
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    return starred or any(keyword.arg is None for keyword in call.keywords)


def _of_optional(region: Interpreted, function: Function, name: str) -> Varied:
    """A parameter that some calls leave out, and others pass a tensor for."""
    given = [one for one in callers.passings(region.machine, function, name) if one.value.is_tensor]
    where = (Related(span_of(one.frame.module.path, one.frame.offset, one.node), _OPTIONAL) for one in given[:1])
    return Varied(frozenset({types_passed.OPTIONAL}), 2, tuple(where)) if given else _NONE


def _of_tensors(region: Interpreted, name: str, path: tuple[str, ...] = ()) -> Varied:
    """Tensors that the calls pass, as they are or in what they pass."""
    found = difference(region, name, path)
    if found is None:
        return _NONE
    where = Related(span_of(found.frame.module.path, found.frame.offset, found.node), OF_TENSORS[found.kind])
    return Varied(frozenset({found.kind}), found.number, (where,))


def _of_size(region: Interpreted, name: str, size: Size) -> Varied:
    """A size of the tensors that the calls pass."""
    found = difference(region, name)
    if found is None or found.along is None or (size.dimension is not None and size.dimension not in found.along):
        return _NONE
    where = Related(span_of(found.frame.module.path, found.frame.offset, found.node), OF_TENSORS[found.kind])
    return Varied(frozenset({"size"}), found.number, (where,))


def _of_callees(region: Interpreted, function: Function, name: str) -> Varied:
    """Functions that the calls pass."""
    found = callees.difference(region, function, name)
    if found is None:
        return _NONE
    kind, number, one = found
    where = Related(span_of(one.frame.module.path, one.frame.offset, one.node), _FUNCTIONS)
    return Varied(frozenset({kind}), number, (where,))


def _of_flags(region: Interpreted, function: Function, given: Effect) -> Varied:
    """Flags in a list that calls draw anew."""
    of_list = given.how is Use.BRANCH and len(given.place.path) == 1 and given.place.path[0].startswith("[")
    passings = callers.passings(region.machine, function, given.place.name) if of_list else ()
    found = drawn_flags.of_calls(passings)
    return Varied(frozenset({found.kind}), found.number, _shown([found.passing])) if found is not None else _NONE


def _of_container(region: Interpreted, function: Function, given: Effect) -> Varied:
    """A container to which a loop adds that calls the region with it, or several of other lengths."""
    machine, name = region.machine, given.place.name
    calls = list(callers.passings(machine, function, name))
    number = growing_by(machine, function, name, MANY) or lengths.number(calls)
    held = [one.value.heap.element for one in calls if one.value.heap is not None]
    tensors = any(one.is_tensor for element in held if element is not None for one in element.alternatives())
    kinds = {one.value.kind for one in calls}
    kind = {
        Kind.LIST: "list length" if tensors else "length of a list of numbers",
        Kind.TUPLE: "tuple length",
        Kind.DICT: "keys",
        Kind.DEQUE: "deque length",
    }.get(kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN)
    where = (Related(span_of(one.frame.module.path, one.frame.offset, one.node), _GROWS) for one in calls[:1])
    return Varied(frozenset({kind}), number, tuple(where)) if kind and number > 1 else _NONE


def _held(calls: list[Passing], path: tuple[str, ...]) -> int:
    """How many values objects hold that calls make: `step(x, State(i))`, `step(x, {"rate": rate})`."""
    made = [one for one in calls if isinstance(one.expression, (ast.Call, ast.List, ast.Tuple, ast.Dict))]
    parts = ((one, written_part(one.expression, path)) for one in made if one.expression is not None)
    looped = [rounds(one.frame, one.node, part, MANY) for one, part in parts if part is not None]
    told = [constants for node in {one.node for one in calls} if (constants := _constants_at(calls, node, path))]
    constants = frozenset[object]().union(*told)
    return max((*looped, 0 if None in constants else len(constants)))


def _constants_at(calls: list[Passing], node: ast.AST, path: tuple[str, ...]) -> frozenset[object]:
    """What a call passes there, one by one in a loop that goes through what is known; None for what is not."""
    reached = [at_path(one.value, path) for one in calls if one.node is node]
    constants = frozenset(key_of(value) for value in reached if value is not None)
    return constants - {None} if len(constants) > _SEVERAL_VALUES else constants


def _given_to(region: Interpreted, made: list[Passing]) -> Varied:
    """An attribute of several objects of which the region compiles a method."""
    spans = dict.fromkeys(span_of(one.frame.module.path, one.frame.offset, one.node) for one in made)
    where = tuple(Related(span, _MADE) for span in spans)[:1]
    kinds = _kinds(one.value for one in made)
    number = instances.number_of_values(region, made) if kinds else 0
    return Varied(kinds, number, where, of_objects=True)


# -- by writes ----------------------------------------------------------------------------------------------------


def _written(region: Interpreted, given: Effect) -> Varied:
    """What is written between the calls of the region."""
    if given.how is Use.LENGTH:
        return _grown(region, given)
    found = between.written(region, given.place)
    values = [value for one in found for value in one.values]
    kinds = _kinds(values)
    constants = {key for value in values if (key := key_of(value)) is not None}
    more = {one.over or one.span: one.more for one in found}
    count = len(constants) + sum(more.values())
    spans = dict.fromkeys(Related(one.span, _WRITTEN) for one in found)
    return Varied(kinds, count, tuple(spans)) if kinds and count > 1 else _NONE


def _grown(region: Interpreted, given: Effect) -> Varied:
    """A list that the region loops over, or whose length it asks for, and that grows between the calls.

    Where the first call computes nothing for an empty list, no later one is compiled either (measured on torch 2.13).
    """
    number, spans = between.growing(region, given.place) if given.value.kind is Kind.LIST else (0, ())
    if number < 2 or idle_paths.has_idle_path(region, {given.node}):
        return _NONE
    element = given.value.heap.element if given.value.heap is not None else None
    kind = "list length" if element is not None and element.is_tensor else "length of a list of numbers"
    return Varied(frozenset({kind}), number, tuple(Related(span, _GROWS_HERE) for span in spans[:1]))


# -- kinds --------------------------------------------------------------------------------------------------------


def _kinds(values: Iterable[Value]) -> frozenset[str]:
    """What the table of guards calls the values that are known; empty where it knows none, or they are of several."""
    known = [value for each in values for value in each.alternatives() if value.kind is not Kind.UNKNOWN]
    told = [frozenset(_names(value)) for value in known]
    if not told or not all(told):
        return frozenset()
    plain = frozenset[str]().union(*told)
    if shared := plain.intersection(*told):
        return shared
    return frozenset({"None or float"}) if "None" in plain and plain <= {"None", "int", "float"} else frozenset()


def _names(value: Value) -> Iterator[str]:
    if value.kind is Kind.BOOL:
        yield "bool"
    elif value.kind is Kind.STRING:
        yield "str"
    elif value.kind is Kind.NONE:
        yield "None"
    elif value.kind is Kind.SETTING and value.of_class is not None:
        yield "enum"
    elif value.kind is Kind.NUMBER:
        if not value.is_real:
            yield "int"
        if not value.is_whole:
            yield "float"
