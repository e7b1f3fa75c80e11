"""What a region uses of what it is given and reads, and in which way: for that Dynamo checks it at each call.

The effects are named as the table of guards names the uses (`nonstrict.knowledge.guards`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Decision, Event, Use
from nonstrict.facts.aliases import renamed_in
from nonstrict.knowledge.operators import tensor_method, torch_function
from nonstrict.program.contracts.regions import floats, sizes
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import given_at
from nonstrict.program.domain.values import CONTAINERS, NUMBER, RANGE, TENSORS, UNKNOWN, Flag, Kind, Value
from nonstrict.program.externals import held_modules
from nonstrict.program.objects import symbolic_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.knowledge.operators import ModuleClass, Operator
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Summary
    from nonstrict.program.state.frames import Frame

#: What Dynamo guards by what it is, once something is computed of it; what is not known may be one of these.
_PLAIN = frozenset({Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.SETTING, Kind.NONE, Kind.UNKNOWN})
_MAY_BE_TENSOR = TENSORS | {Kind.UNKNOWN}
_SIZED = CONTAINERS | {Kind.TUPLE}
_CHECK = "torch._check"
#: Its result is a tuple with as many tensors as a dimension has elements.
_TAKES_APART = ".unbind"
_IN_ORDER = frozenset({Kind.LIST, Kind.TUPLE, Kind.STRING, Kind.SIZE})
#: Methods of containers whose first argument says which entry they are about.
_OF_ONE_ENTRY = frozenset({"get", "setdefault", "pop", "insert"})
#: What takes the number as it is, or asks how many there are.
_BUILTINS = {"builtins.len": Use.LENGTH, "builtins.int": Use.WHOLE_PART, "builtins.round": Use.WHOLE_PART}


def loaded(frame: Frame, node: ast.AST, value: Value) -> Value:
    """A value that the region has from outside, carrying from where; a tensor is used wherever it is read.

    Of tensors only what the compiled function itself reads is told: functions that it calls are interpreted for all
    tensors alike.
    """
    if value.kind in TENSORS:
        renames = frame.function is not None and node in renamed_in(frame.function.node)
        if frame.caller is None and not value.place.is_view and not renames:
            frame.emit(Event.GUARD, node, value.place, _bare(value), how=Use.ARITHMETIC)
        return value
    if any(map(_is_given, value.taint)):
        return value
    plain = [one for one in value.alternatives() if one.kind in _PLAIN and _is_outer(one)]
    return value.with_taint(value.taint.union(map(given_at, plain))) if plain else value


def computed(frame: Frame, node: ast.AST, *operands: Value) -> None:
    """An operator has its operands: beside a tensor, and what may be one, numbers become part of the graph."""
    for at, operand in enumerate(operands):
        others = (one for other in (*operands[:at], *operands[at + 1 :]) for one in other.alternatives())
        beside_tensor = any(one.kind in _MAY_BE_TENSOR for one in (operand, *others))
        _note(frame, node, operand, Use.ARITHMETIC if beside_tensor else Use.NUMBERS)
    if any(operand.kind in _MAY_BE_TENSOR for operand in operands):
        floats.computed(frame, node, *operands)


def layered(frame: Frame, node: ast.AST, module: Value, known: ModuleClass, given: Sequence[Value]) -> None:
    """A layer of torch computes with what it is given, and gives operators its own attributes."""
    for value in given:
        _note(frame, node, value, Use.ARITHMETIC)
    for one in known.passes if _is_outer(module) else ():
        operator = torch_function(one.operator)
        if operator is not None:
            attribute = UNKNOWN.at(module.place.step(f".{one.name}"))
            value = attribute.with_taint(frozenset({given_at(attribute)}))
            floats.passed(frame, node, value, operator, one.at)
            _note(frame, node, value, _use_of_numbers(operator, one.operator))


def called(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """A function outside the program is called."""
    given = [*positional, *keywords.values()]
    if name.startswith("torch."):
        _given_to_torch(frame, node, name, positional, keywords)
        if name == _CHECK and isinstance(node, ast.Call) and node.args:
            compared(frame, node.args[0], next(iter(positional), UNKNOWN), asserts=True)
    elif name.startswith("math."):
        for value in given:
            _note(frame, node, value, Use.FUNCTION)
    elif name in _BUILTINS:
        for value in given[:1]:
            _note(frame, node, value, Use.FORMAT if value.kind is Kind.STRING else _BUILTINS[name])


def method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    """A method of something outside the program is called: of tensors these are operators."""
    if receiver.kind in TENSORS or (receiver.kind is Kind.UNKNOWN and _is_of_tensors(name)):
        _given_to_torch(frame, node, f"torch.Tensor.{name}", (receiver, *positional), keywords)
    elif receiver.kind in _SIZED:
        _note(frame, node, receiver, Use.LENGTH)
        if name in _OF_ONE_ENTRY:
            keyed(frame, node, receiver, next(iter(positional), UNKNOWN))
    elif receiver.kind is Kind.STRING:
        _note(frame, node, receiver, Use.FORMAT)


def _is_of_tensors(name: str) -> bool:
    """Whether a method that something is asked for is one of tensors, and of no text."""
    return tensor_method(name) is not None and not hasattr(str, name)


def decided(frame: Frame, node: ast.AST, value: Value) -> None:
    """The truth of a value is asked for."""
    _note(frame, node, value, Use.LENGTH if value.kind in _SIZED else Use.BRANCH)
    compared(frame, node, value)


def compared(frame: Frame, node: ast.AST, value: Value, *, asserts: bool = False) -> None:
    """Something is decided by whether a size is a number; with `asserts` the region only goes on where it is."""
    if not any(sizes.at(given.place) is not None for given in inputs(value)) or not isinstance(node, ast.Compare):
        return
    operator = node.ops[0]
    if len(node.ops) > 1 or not isinstance(operator, (ast.Eq, ast.NotEq)):
        return
    how = Decision.CHECK if asserts and isinstance(operator, ast.Eq) else Decision.BRANCH
    left, right = (frame.machine.evaluate(frame, side) for side in (node.left, node.comparators[0]))
    for side, other in ((left, right), (right, left)):
        for given in inputs(side):
            if sizes.at(given.place) is not None and not (given.sight.lost or given.sight.hidden):
                frame.emit(Event.SHAPE, node, given.place, _bare(other), how=how)


def identified(frame: Frame, node: ast.AST, value: Value) -> None:
    """Which object a value is is asked for: of an argument, whether there is one."""
    for one in value.alternatives():
        if one.place.root is Root.ARGUMENT and not one.place.path:
            frame.emit(Event.GUARD, node, one.place, _bare(one), how=Use.BRANCH)


def selected(frame: Frame, node: ast.Subscript, base: Value, index: Value) -> None:
    """An entry of a container is asked for."""
    keyed(frame, node, base, index)
    if base.kind in (Kind.LIST, Kind.DEQUE):
        _note(frame, node, base, Use.LENGTH)


def keyed(frame: Frame, node: ast.AST, holder: Value, key: Value) -> None:
    """Something says which entry of a container it is, to read it or to put something there: text never by position."""
    by_key = holder.kind is Kind.DICT or key.kind is Kind.STRING or held_modules.is_keyed(holder)
    _note(frame, node, key, Use.KEY if by_key else Use.POSITION)


def stored(frame: Frame, node: ast.AST, holder: Value, key: Value) -> None:
    """An entry of a container is set: Dynamo then checks how many a dictionary has (measured on torch 2.13)."""
    keyed(frame, node, holder, key)
    if holder.kind is Kind.DICT:
        _note(frame, node, holder, Use.LENGTH)


def sought(frame: Frame, node: ast.AST, element: Value, holder: Value) -> None:
    """Whether something is a key of a container is asked for; in a list it is compared with each entry."""
    if holder.kind in (Kind.DICT, Kind.SET):
        _note(frame, node, element, Use.KEY)


def indexed(frame: Frame, node: ast.AST, parts: Sequence[Value], *, stores: bool = False) -> None:
    """A part of a tensor is read, or set: of a number beside other indices Dynamo makes a constant (measured)."""
    alone = Use.STORED_INDEX if stores else Use.INDEX
    for part in parts:
        _note(frame, node, part, alone if len(parts) == 1 else Use.POSITION)


def bounded(frame: Frame, node: ast.AST, base: Value, bound: Value) -> None:
    """A number bounds a slice: of what is not a tensor, Dynamo makes a constant of it (measured)."""
    parts = base.alternatives()
    of_entries = all(one.kind in _IN_ORDER or (one.kind is Kind.MODULE and one.dotted) for one in parts)
    _note(frame, node, bound, Use.POSITION if of_entries else Use.SLICE)


def written(frame: Frame, node: ast.AST, value: Value) -> None:
    """A value becomes part of a text."""
    _note(frame, node, value, Use.FORMAT)


def iterated(frame: Frame, node: ast.AST, iterable: Value) -> None:
    """The elements of something are asked for: of a range, the numbers that bound it decide how many there are."""
    _note(frame, node, iterable, Use.BOUND if iterable.ref == RANGE else Use.LENGTH)
    if iterable.is_tensor:
        _note(frame, node, sizes.of_tensor(iterable, NUMBER, 0), Use.BOUND)


def _given_to_torch(
    frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> None:
    operator = torch_function(name)
    if operator is None or operator.tells_form:
        return
    floats.given(frame, node, operator, positional, keywords)
    if name.endswith(_TAKES_APART):
        along = keywords.get("dim", positional[1] if len(positional) > 1 else UNKNOWN).const
        dimension = along if isinstance(along, int) else 0 if len(positional) == 1 and not keywords else None
        _note(frame, node, sizes.of_tensor(next(iter(positional), UNKNOWN), NUMBER, dimension), Use.BOUND)
    of_numbers = _use_of_numbers(operator, name)
    for position, value in enumerate(positional):
        operand = operator.of_data or (operator.broadcasts and position < _OPERANDS)
        _note_argument(frame, node, value, Use.ARITHMETIC if operand else of_numbers)
    for value in keywords.values():
        _note_argument(frame, node, value, of_numbers)


def _use_of_numbers(operator: Operator, name: str) -> Use:
    sizes = operator.sized or symbolic_sizes.takes_sizes(operator, name.rpartition(".")[2])
    return Use.SIZE if sizes else Use.PARAMETER


#: What an operator such as `add` computes its elements from; what follows are its parameters.
_OPERANDS = 2


def _note_argument(frame: Frame, node: ast.AST, value: Value, use: Use) -> None:
    """An argument of an operator: a tensor, a number or a list of either, or text, which is compared."""
    if value.kind is Kind.STRING:
        _note(frame, node, value, Use.BRANCH)
    elif value.kind in _SIZED and value.heap is not None:
        _note(frame, node, value, Use.LENGTH)
        for entry in value.heap.items.values() if value.place.root is Root.FRESH else ():
            _note(frame, node, entry, use)
        _note_tensors(frame, node, value)
    else:
        _note(frame, node, value, use)


def _note_tensors(frame: Frame, node: ast.AST, listed: Value) -> None:
    """A list from outside is given to an operator, and so are the tensors in it, as if each were read."""
    element = listed.heap.element if listed.heap is not None and listed.place.root is not Root.FRESH else None
    for one in element.alternatives() if element is not None else ():
        if one.kind in TENSORS and _is_outer(one):
            loaded(frame, node, one)


def _note(frame: Frame, node: ast.AST, value: Value, use: Use) -> None:
    """What comes from outside is used: what the value carries, and a tensor or container itself."""
    for given in inputs(value):
        # What a member of an enum holds tells which it is.
        of_member = given.value.kind is Kind.SETTING and value.kind is not Kind.SETTING
        how = Use.BRANCH if of_member else use
        frame.emit(Event.GUARD, node, given.place, given.value, how=how, sight=given.sight)
    for one in value.alternatives() if use is Use.LENGTH else ():
        if one.kind in _SIZED and _is_outer(one):
            frame.emit(Event.GUARD, node, one.place, one, how=use)


def returned(summary: Summary) -> frozenset[AccessPath]:
    """Where the numbers come from of which a function computes one that it returns, by itself or among others."""
    found = summary.returns.alternatives() if summary.returns is not None else ()
    parts = [part for one in found for part in (one, *(one.heap.items.values() if one.heap is not None else ()))]
    numbers = (one for one in parts if one.kind is Kind.NUMBER and one.place.root is Root.FRESH)
    return frozenset(given.place for one in numbers for given in inputs(one))


def inputs(value: Value) -> Iterator[Effect]:
    """The effects that a value carries of what the region has from outside."""
    return (one for one in value.taint if _is_given(one)) if value.taint else iter(())


def _is_given(carried: Effect) -> bool:
    return carried.event is Event.GUARD


def _is_outer(value: Value) -> bool:
    return value.place.root is not Root.FRESH and value.place.root is not Root.UNKNOWN


def _bare(value: Value) -> Value:
    return value._replace(taint=frozenset(), flags=value.flags & ~Flag.ATTACHED)
