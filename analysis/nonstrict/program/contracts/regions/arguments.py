"""What the table of graph breaks tells apart about the arguments of a call in a region."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Drawn, Event, Taken
from nonstrict.facts.resuming import end_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.arrays import drawn
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NESTED_CONTAINERS, NO_CONSTANT, NONE, TENSORS, UNKNOWN, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.program.state.frames import Frame

_KINDS = {
    Kind.TENSOR: "tensor",
    Kind.PARAMETER: "tensor",
    Kind.OBJECT: "object",
    Kind.MODULE: "module",
}
#: The position and name of the argument that tells the size of a result; without it the data does.
_SIZED_BY = {"torch.nn.functional.one_hot": (1, "num_classes")}
#: What tells by a tensor how much there is of the result, and by a number does not ask for data: the name of that
#: argument, the first one beside the tensor that is worked on.
_COUNTED_BY = {"repeat_interleave": "repeats", "tensor_split": "indices_or_sections"}
#: Functions that are given sizes, beside those whose arguments are the shape of what they make.
_SIZED = frozenset({"torch.arange", "torch.eye"})
_DEEPCOPY = "copy.deepcopy"


def conditions(
    frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> Iterator[str]:
    """What the table may tell apart about the arguments of a function: the first that it knows counts."""
    if name == _DEEPCOPY and any(_holds_tensor(value) for value in positional):
        yield "holding-tensors"
    if isinstance(node, ast.Call) and not _spreads(node):
        yield from _left_out(name, positional, keywords)
    for parameter, value in keywords.items():
        if value.const is not NO_CONSTANT:
            yield f"{parameter}={value.const!r}"
        elif value.kind is Kind.SETTING and value.dotted:
            yield value.dotted.rpartition(".")[2]
        elif value.kind is Kind.GENERATOR:
            yield "generator"
    if "key" in keywords:
        if any(value.is_tensor or "tensors" in _of_value(value) for value in positional):
            yield "tensors-key"
        return  # what is compared is what the function makes of the arguments
    for value in (*positional, *keywords.values()):
        if value.is_tensor and value.flags & Flag.LITERAL:
            yield "literal"
        if value.is_tensor and _takes_numbers(name) and guards_item(value):
            yield "tensor-argument"
            continue
        yield from _of_value(value)


def of_method(keywords: Mapping[str, Value]) -> Iterator[str]:
    """What the table may tell apart about the keyword arguments of a method."""
    if keywords.get("requires_grad", UNKNOWN).const is True:
        yield "requires_grad"
    if any(value.kind is Kind.GENERATOR for value in keywords.values()):
        yield "generator"


def counts_plainly(name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Whether what would follow from data, if it was told by a tensor alone, is told by plain numbers.

    `positional` are the arguments behind the tensor that is worked on.
    """
    last = name.rpartition(".")[2]
    parameter = _COUNTED_BY.get(last)
    if parameter is None:
        return False
    given = next(iter(positional), keywords.get(parameter))
    if given is None:
        return False  # the tensor itself tells how often each number is repeated
    return not given.is_tensor or keywords.get("output_size", NONE).kind is not Kind.NONE


def _left_out(name: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Iterator[str]:
    """The argument without which a result follows from data, or is a number; -1 is how it is left out in words."""
    position, parameter = _SIZED_BY.get(name, (0, ""))
    if parameter:
        given = keywords.get(parameter, positional[position] if position < len(positional) else None)
        if given is None or given.const == -1:
            yield f"{parameter}-missing"
    operator = torch_function(name)
    if operator is not None and operator.dynamic_arity == len(positional) + len(keywords) != 0:
        yield "condition-alone"
    told = drawn(name.rpartition(".")[2]) if name.startswith("numpy.random.") else None
    if told is not None and len(positional) <= told.before and "size" not in keywords:
        yield "scalar"


def _takes_numbers(name: str) -> bool:
    """Whether a function takes numbers: out of a tensor it is given one is taken."""
    operator = torch_function(name)
    spread = operator is not None and operator.spread and not operator.metadata
    return name.startswith("math.") or spread or name in _SIZED


def _spreads(call: ast.Call) -> bool:
    """Whether arguments are passed by `*` or `**`."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(keyword.arg is None for keyword in call.keywords)


def _of_value(value: Value) -> Iterator[str]:
    """What the table calls an argument, the closest name first."""
    if value.kind is Kind.ITERATOR:
        given = value.place.root is Root.ARGUMENT
        held = _of_elements(value.heap.element) if value.heap is not None else ""
        yield "iterator-argument" if given else "global-iterator" if value.place.captured else held
    elif value.kind in (Kind.LIST, Kind.TUPLE) and value.heap is not None:
        yield _of_elements(value.heap.element)
    elif value.kind in _KINDS:
        held = value.heap.attributes.values() if value.kind is Kind.OBJECT and value.heap is not None else ()
        if any(one.is_tensor for one in held):
            yield "dataclass-of-tensors"
        yield _KINDS[value.kind]
    elif from_item(value):
        yield "item"


def _holds_tensor(value: Value, depth: int = 0) -> bool:
    """Whether there is a tensor, or a module, in a container or an object, however deep."""
    if value.is_tensor or value.kind is Kind.MODULE:
        return depth > 0
    if value.heap is None or depth > NESTED_CONTAINERS:
        return False
    held = [*value.heap.attributes.values(), *value.heap.items.values()]
    if value.heap.element is not None and value.kind is not Kind.DICT:
        held += value.heap.element.alternatives()  # of a dict only entries that are seen: `state_dict()` is copied
    return any(_holds_tensor(one, depth + 1) for one in held)


def _of_elements(element: Value | None) -> str:
    """What the table calls a sequence, by its elements."""
    kinds = {_of_element(member) for member in element.alternatives()} if element is not None else set[str]()
    return kinds.pop() if len(kinds) == 1 else ""


def _of_element(element: Value) -> str:
    if element.kind in TENSORS:
        return "tensors"
    if element.kind is not Kind.TUPLE or element.heap is None or element.ref is not None:
        return ""
    return "tensor-pairs" if any(member.is_tensor for member in element.heap.items.values()) else ""


def is_from_data(value: Value) -> bool:
    """Whether a number follows from the data of a tensor."""
    return any(effect.event is Event.ESCAPE for effect in value.taint)


def from_item(value: Value) -> bool:
    """Whether a number was taken out of a tensor: Dynamo computes with it, but cannot decide on it."""
    return any(effect.how is Taken.ITEM for effect in value.taint)


def guards_item(tensor: Value) -> bool:
    """Whether Dynamo may know the number that a region takes out of a tensor: it guards that of an input.

    So it does for integers without a dimension; what they are of which nothing else is known, is not told here.
    """
    given = tensor.place.root is Root.ARGUMENT or tensor.place.captured
    return given and not tensor.place.is_view and not tensor.flags & (Flag.FLOATING | Flag.BOOLEAN)


def is_drawn(frame: Frame, value: Value) -> bool:
    """Whether a number was drawn by Python in this function, as an input of the graph: Dynamo does not know it.

    Where the graph broke since, at the draw itself or behind it, it is a plain number.
    """
    if value.kind not in (Kind.NUMBER, Kind.BOOL) or frame.function is None:
        return False
    drawn = [effect.node for effect in value.taint if effect.drawn is Drawn.NUMBER]
    if not drawn:
        return False
    found = (one for one in frame.summary.effects.values() if one.event is Event.BREAK and not one.conditional)
    breaks = [end_of(one.node) for one in found]
    inside = {id(node) for node in walk(frame.function.node)}
    return any(id(node) in inside and all(end < end_of(node) for end in breaks) for node in drawn)


def computes_with_drawn(frame: Frame, *operands: Value) -> bool:
    """Whether numbers are computed with of which one was drawn: of a number and a tensor Dynamo makes a tensor."""
    plain = all(value.kind is Kind.NUMBER and not is_from_data(value) for value in operands)
    return plain and any(is_drawn(frame, value) for value in operands)
