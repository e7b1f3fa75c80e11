"""Which sizes, and which order in memory, operators give tensors in a rehearsal.

The sizes are told by the rules for all operators (`nonstrict.program.domain.shape_table`), here with numbers in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain import shape_rules, shape_table
from nonstrict.program.domain.shape_terms import ImpossibleError, World
from nonstrict.program.rehearsal.tensors import needs_gradients
from nonstrict.program.rehearsal.things import UNKNOWN, External, Tensor, is_slice, is_tuple, sequence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

_CUT, _CHANNELS_LAST, _PERMUTED = "cut", "channels_last", "permuted"
#: Pieces of one size, and so many pieces: the last one may be smaller.
_OF_SIZE, _OF_NUMBER = "split", "chunk"
_DIMENSIONS = 2


def result(
    name: str, operator: Operator | None, given: Sequence[Thing], named: Mapping[str, Thing]
) -> tuple[int, ...] | list[tuple[int, ...] | None] | None:
    """The sizes of what an operator gives, of each where that is several; None where they are not known."""
    told = {key: _value(one) for key, one in named.items() if one is not None and not isinstance(one, External)}
    values = [_value(one) for one in _in_pieces(name, given, named)]
    name = _OF_SIZE if name == _OF_NUMBER else name
    try:
        found = shape_table.result(name, operator, shape_rules.Given(World({}), values, told))
    except (ImpossibleError, ArithmeticError, IndexError, TypeError):
        return None
    several = shape_rules.items(found)
    return _sizes(found) if several is None else [_sizes(one) for one in several]


def _value(thing: Thing) -> shape_rules.Value:
    """A thing as the rules take it."""
    if isinstance(thing, Tensor):
        return shape_rules.Tensor(thing.shape)
    if isinstance(thing, float):
        return shape_rules.Tensor(())
    if isinstance(thing, (int, str)):
        return thing
    several = sequence(thing)
    return [_value(one) for one in several] if several is not None else None


def _sizes(value: object) -> tuple[int, ...] | None:
    dims = value.dims if isinstance(value, shape_rules.Tensor) else None
    known = tuple(one for one in dims or () if isinstance(one, int))
    return known if dims is not None and len(known) == len(dims) else None


def _in_pieces(name: str, given: Sequence[Thing], named: Mapping[str, Thing]) -> Sequence[Thing]:
    """What is given, with the sizes of the pieces one by one where their size or number is told."""
    if name not in (_OF_SIZE, _OF_NUMBER) or not given or not isinstance(given[0], Tensor):
        return given
    told = given[1] if len(given) > 1 else named.get("split_size_or_sections", named.get("chunks"))
    at = given[_DIMENSIONS] if len(given) > _DIMENSIONS else named.get("dim", 0)
    shape = given[0].shape
    if (
        not shape
        or not isinstance(told, int)
        or told < 1
        or not isinstance(at, int)
        or not -len(shape) <= at < len(shape)
    ):
        return given
    size = told if name == _OF_SIZE else max(-(-shape[at] // told), 1)
    sizes: Thing = [min(size, shape[at] - start) for start in range(0, shape[at], size)]
    return (given[0], sizes, *given[_DIMENSIONS:])


def squeezed(tensor: Tensor, at: Thing) -> tuple[int, ...] | None:
    """The sizes without those of one, or without one of these."""
    if tensor.shape is None or not (at is None or isinstance(at, int)):
        return None
    along = range(len(tensor.shape)) if at is None else [at % max(len(tensor.shape), 1)]
    return tuple(size for index, size in enumerate(tensor.shape) if size != 1 or index not in along)


def layout_of(operator: Operator | None, first: Tensor, shape: tuple[int, ...] | None, *, pieces: bool) -> str:
    """What orders the memory of a result otherwise than its dimensions."""
    if operator is None or not operator.views:
        is_kept = operator is not None and (operator.keeps_shape or operator.pointwise) and shape == first.shape
        return first.layout if is_kept else ""
    if operator.permutes:
        return "" if first.layout == _PERMUTED or len(shape or ()) < _DIMENSIONS else _PERMUTED
    is_cut = pieces and shape is not None and first.shape is not None and shape[:1] == first.shape[:1]
    return _CUT if is_cut else "" if operator.lays_out else first.layout


def laid_out(tensor: Tensor, memory_format: Thing) -> str:
    """The order that `contiguous` and `to` give memory."""
    is_last = isinstance(memory_format, External) and memory_format.dotted == "torch.channels_last"
    return _CHANNELS_LAST if is_last else ""


def transposed(stage: Stage, tensor: Tensor) -> Tensor:
    """A tensor with its last two dimensions in each other's place."""
    shape = (*tensor.shape[:-2], *tensor.shape[-2:][::-1]) if tensor.shape is not None else None
    gradients = needs_gradients(stage, (tensor,), tensor.dtype)
    return Tensor(shape, tensor.dtype, gradients, layout="" if tensor.layout == _PERMUTED else _PERMUTED)


def part(stage: Stage, tensor: Tensor, index: Thing) -> Thing:
    """`x[index]`: of indices and slices of which all bounds are known."""
    listed = tensor.numbers if tensor.shape is not None and len(tensor.shape) == 1 else None
    if isinstance(index, int) and listed is not None and -len(listed) <= index < len(listed):
        return Tensor((), tensor.dtype, needs_gradients(stage, (tensor,), ""), numbers=(listed[index],))
    several = list(sequence(index) or ()) if is_tuple(index) else [index]
    if tensor.shape is None or UNKNOWN in several:
        return Tensor(None, tensor.dtype, needs_gradients(stage, (tensor,), tensor.dtype))
    sizes, layout = _left(tensor.shape, several)
    numbers = tensor.numbers[_plain(index)] if tensor.numbers and is_slice(index) and len(tensor.shape) == 1 else None
    gradients = needs_gradients(stage, (tensor,), tensor.dtype)
    return Tensor(sizes, tensor.dtype, gradients, numbers=numbers, layout=layout or (tensor.layout if sizes else ""))


def _left(shape: tuple[int, ...], several: list[Thing]) -> tuple[tuple[int, ...] | None, str]:
    """The sizes that indices leave, and whether the memory of what is left has gaps."""
    if ... in several:
        at = several.index(...)
        taken = len([one for one in several if one is not None and one is not ...])
        several = [*several[:at], *([slice(None)] * max(len(shape) - taken, 0)), *several[at + 1 :]]
    found: list[int] = []
    rest, layout = list(shape), ""
    for one in several:
        if one is None:
            found.append(1)
            continue
        if not rest:
            return None, ""
        size = rest.pop(0)
        if is_slice(one):
            left = _length(one, size)
            layout = _CUT if found and left != size else layout
            found.append(-1 if left is None else left)
        elif isinstance(one, Tensor) and one.shape is not None and one.dtype != "bool":
            found += one.shape
        elif not isinstance(one, int):
            return None, ""
    return (None, "") if -1 in found else ((*found, *rest), layout)


def _plain(one: slice[Thing, Thing, Thing]) -> slice[int | None, int | None, int | None]:
    return slice(_as_number(one.start), _as_number(one.stop), _as_number(one.step))


def _length(one: slice[Thing, Thing, Thing], size: int) -> int | None:
    bounds = (one.start, one.stop, one.step)
    numbers = [_as_number(bound) for bound in bounds]
    if any(number is None and bound is not None for number, bound in zip(numbers, bounds, strict=True)):
        return None
    return len(range(*slice(*numbers).indices(size)))


def _as_number(bound: Thing) -> int | None:
    if isinstance(bound, Tensor) and bound.numbers is not None and len(bound.numbers) == 1:
        return int(bound.numbers[0])
    return bound if isinstance(bound, int) else None
