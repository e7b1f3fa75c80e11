"""How the tensors differ that calls of a region pass for one of its parameters: their sizes, how many, and strides."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.joining import joined_along
from nonstrict.facts.layouts import rearranged
from nonstrict.facts.loops import looping
from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import is_as_passed, scope_of
from nonstrict.facts.shapes import cuts, shape
from nonstrict.facts.steps import ANY_ENTRY, steps_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.boundary.dynamic_sizes import MARKS, marking
from nonstrict.program.contracts.regions import calls, chained, each_parameter, loaders, looped, numbers, pieces
from nonstrict.program.contracts.regions.made import Made, made
from nonstrict.program.contracts.regions.outward import Asked
from nonstrict.program.contracts.regions.parts import parts
from nonstrict.program.contracts.regions.requiring import GRADIENTS, PARAMETER
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.interpret.rounds import MANY, SOME, holds, turns
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.interpret.makers import Making
    from nonstrict.program.state.frames import Frame

#: For these sizes torch compiles by themselves, whatever others are.
_APART = frozenset({0, 1})
#: A parameter or not, with gradients or without.
_KINDS = 2


class Difference(NamedTuple):
    """What differs between the tensors, as the table of guards names it, and how many ways there are.

    Of sizes `along` has the dimensions that differ, counted from either end as far as known.
    """

    kind: str
    number: int
    node: ast.AST
    frame: Frame
    along: frozenset[int] | None = None


#: The step to the entry that stands for any.
_FIRST = "[0]"
_Passed = tuple["Frame", ast.Call, ast.expr]


class _Given(NamedTuple):
    """A tensor that a call passes: its sizes, where they are told, and how it lies in memory.

    `cuts` are the sizes along dimensions in which it is cut out of another one.
    `place` is where the text says which tensor it is: the call itself, or an entry that a loop gives it. `rounds` is
    how often a loop joins something to it, `along` a dimension, and calls the region with it, `made` how it is made.
    """

    frame: Frame
    node: ast.AST
    place: ast.AST
    sizes: tuple[Asked, ...] | None
    cuts: list[tuple[int, Asked]]
    layout: str
    rounds: int
    along: frozenset[int] | None
    made: Made


def difference(region: Interpreted, name: str, path: tuple[str, ...] = ()) -> Difference | None:
    """How the tensors differ that are passed for a parameter, or in what is; None where they are not seen to.

    Where steps lead to any entry of a list, what is at one position in several calls is compared.
    """
    passing: dict[tuple[str, ...], dict[ast.AST, _Passed]] = {}
    own = _Region(region, name, path)
    for frame, node, whole in calls.given(region, name):
        grown, along = _growth(frame, naming.text_of(frame), node, whole, own) if path else (0, None)
        if grown:
            return Difference("size", grown, node, frame, along)
        for at, one in parts(frame, whole, path).items():
            passing.setdefault(at, {})[node] = (frame, node, one)
    differences = (_between(region, name, several) for several in passing.values())
    return max((one for one in differences if one is not None), key=lambda one: one.number, default=None)


def _between(region: Interpreted, name: str, passing: Mapping[ast.AST, _Passed]) -> Difference | None:
    """How some tensors differ, each passed by one call."""
    counted = [call for call in passing.values() if not any(marking(call[0], call[2], MARKS))]
    given = [one for call in counted for one in _given(*call, _Region(region, name))]
    growing = next((one for one in given if one.rounds), None)
    if growing is not None:
        return Difference("size", growing.rounds, growing.node, growing.frame, growing.along)
    told = [one for one in given if one.sizes is not None]
    ranks = {len(one.sizes) for one in told if one.sizes is not None}
    if len(ranks) > 1:
        return Difference("rank", len(ranks), told[-1].node, told[-1].frame)
    if (looped_over := _of_loops(passing, sized=bool(told))) is not None:
        return looped_over
    surely = [one for one in given if one.made != Made() and not varying.is_chosen(one.frame, one.node)]
    chain = next((one for one in passing.values() if chained.is_first_plain(region, *one)), None)
    fed_back = Difference("requires_grad", _KINDS, chain[1], chain[0]) if chain is not None else None
    differences = (_of_form(surely), fed_back, _of_dtypes(surely), _of_sizes(told) if told else _of_cuts(given))
    found = [one for one in differences if one is not None]
    if found:
        return max(found, key=lambda one: one.number)
    layouts = {one.layout for one in given}
    return Difference("strides", len(layouts), given[-1].node, given[-1].frame) if len(layouts) > 1 else None


def _of_loops(passing: Mapping[ast.AST, _Passed], *, sized: bool) -> Difference | None:
    """What loops give that differs: pieces and batches of which the last is smaller, padded batches, parameters.

    Where the sizes are told one by one, only pieces are asked for.
    """
    for frame, node, passed in passing.values():
        if pieces.has_smaller_last(frame, node, passed):
            return Difference("last size", _KINDS, node, frame)
        if sized:
            continue
        if loaders.has_smaller_last(frame, node, passed):
            return Difference("last size", _KINDS, node, frame)
        if loaders.is_padded(frame, node, passed):
            return Difference("size", SOME, node, frame)
        if each_parameter.is_given(frame, node, passed):
            return Difference("size of a parameter", SOME, node, frame)
    return None


def _of_form(given: list[_Given]) -> Difference | None:
    """Parameters in some calls and other tensors in others; such as need gradients, where calls are not without."""
    forms = {one.made.form: one for one in given if one.made.form}
    if len(forms) < _KINDS:
        return None
    kind, form = ("parameter", PARAMETER) if PARAMETER in forms else ("requires_grad", GRADIENTS)
    return Difference(kind, _KINDS, forms[form].node, forms[form].frame)


def _of_dtypes(given: list[_Given]) -> Difference | None:
    """Several dtypes."""
    dtypes = frozenset[str]().union(*(one.made.dtypes for one in given))
    last = next((one for one in reversed(given) if one.made.dtypes), None)
    return Difference("dtype", len(dtypes), last.node, last.frame) if last is not None and len(dtypes) > 1 else None


def _of_sizes(given: list[_Given]) -> Difference | None:
    """The dimension that has most sizes."""
    found: list[tuple[int, frozenset[int]]] = []
    along = set[int]()
    rank = len(given[0].sizes or ())
    for at, several in enumerate(zip(*(one.sizes for one in given if one.sizes is not None), strict=True)):
        told, others = set[int](), 0
        for size in several:
            values, more = numbers.given(*size)
            told |= values
            others += more
        if len(told) + others > 1:
            found.append((len(told) + others, frozenset(told)))
            along |= {at, at - rank}
    if not found:
        return None
    number, sizes = max(found, key=lambda one: one[0])
    if all(one.made.form == PARAMETER for one in given):
        kind = "size of a parameter"
    else:
        kind = "two sizes" if len(found) > 1 else "size from 0" if sizes & _APART else "size"
    return Difference(kind, number, given[-1].node, given[-1].frame, frozenset(along))


def _of_cuts(given: list[_Given]) -> Difference | None:
    """The dimension along which parts of tensors have most sizes, whatever the tensors are that they are cut out of."""
    found: dict[int, tuple[set[int], int]] = {}
    for one in given:
        for dimension, size in one.cuts:
            told, more = numbers.given(*size)
            known, others = found.get(dimension, (set[int](), 0))
            found[dimension] = known | told, others + more
    counted = {dimension: len(known) + others for dimension, (known, others) in found.items()}
    along = frozenset(dimension for dimension, number in counted.items() if number > 1)
    kind = "two sizes" if len(along) > 1 else "size"
    return Difference(kind, max(counted.values()), given[-1].node, given[-1].frame, along) if along else None


def _given(frame: Frame, node: ast.AST, expression: ast.expr, region: _Region) -> Iterator[_Given]:
    """What a call passes, in each round of a loop that goes through what the text lists."""
    grown, along = _growth(frame, naming.text_of(frame), node, expression, region)
    for one in looped.entries(frame, node, expression):
        making, place = made_by(frame, one), node if one is expression else one
        around, names = naming.text_of(making.frame), naming.names_at(making.frame)
        sizes = shape(names, around, making.expression)
        told = tuple(_told(making, frame, place, size) for size in sizes) if sizes is not None else None
        layout = _layout(names, around, making.expression)
        cut = [(at, _told(making, frame, place, size)) for at, size in cuts(making.expression)]
        yield _Given(frame, node, place, told, cut, layout, grown, along, made(frame, place, one))


def _told(making: Making, frame: Frame, place: ast.AST, size: ast.expr) -> Asked:
    """A size in the words of the text around the call, or else in those of the text that makes the tensor."""
    told = making.told(size)
    return Asked(making.frame, making.expression, size) if told is None else Asked(frame, place, told)


def _growth(
    frame: Frame, around: ast.AST, call: ast.AST, expression: ast.expr, region: _Region
) -> tuple[int, frozenset[int] | None]:
    """How often a loop around a call makes a tensor longer, and along what: `keys = torch.cat([keys, key], 1)`.

    The region may do that itself, and return it: `keys = f(keys, key)`.
    """
    names, steps = naming.names_at(frame), steps_of(expression)
    for loop in looping(around) if steps else ():
        if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)) and holds(loop.body, call):
            assigned = [node for part in loop.body for node in walk(part) if isinstance(node, ast.Assign)]
            bound = [(one.value, at) for one in assigned for target in one.targets for at in _positions(target, steps)]
            joined = [
                region.joined(call, at)
                if value is call
                else None
                if at is not None
                else joined_along(names, value, steps)
                for value, at in bound
            ]
            known = [one for one in joined if one is not None]
            if known and len(known) == len(joined):
                return turns(frame, loop, MANY), known[0] if len({*known}) == 1 and known[0] else None
    return 0, None


def _positions(target: ast.expr, steps: tuple[str, ...]) -> Iterator[int | None]:
    """Where a target takes what some steps lead to: None as a whole, else its position in what is taken apart."""
    if steps_of(target) == steps:
        yield None
    for at, one in enumerate(target.elts if isinstance(target, (ast.Tuple, ast.List)) else ()):
        if steps_of(one) == steps:
            yield at


class _Region(NamedTuple):
    """A region, one of its parameters, and what leads to a tensor in that."""

    body: Interpreted
    name: str
    path: tuple[str, ...] = ()

    def joined(self, call: ast.AST, at: int | None) -> frozenset[int] | None:
        """Along what a call of the region makes longer what it is given, and returns it, maybe at a position."""
        function = self.body.mark.function
        own = any(node is call for _, node, _, _ in calls.of(self.body))
        if function is None or not own or not is_as_passed(function.node, self.name):
            return None
        names = naming.names_in(self.body.machine, function)
        first = tuple(_FIRST if step == ANY_ENTRY else step for step in self.path)
        held = [(self.name, *first), *((one,) for one in _unpacked(function.node, self.name, self.path))]
        found = set[frozenset[int] | None]()
        for node in own_scope(function.node):
            if isinstance(node, ast.Return):
                value = node.value if at is None else _part(node.value, at)
                for step in self.path:
                    value = _entry(source(function.node, value), step) if value is not None else None
                either = _either(function.node, value) if value is not None else []
                told = (joined_along(names, one, steps) for steps in held for one in either)
                found.add(next((one for one in told if one is not None), None))
        return found.pop() if len(found) == 1 else None


def _part(value: ast.expr | None, at: int) -> ast.expr | None:
    parts = value.elts if isinstance(value, ast.Tuple) else []
    return parts[at] if at < len(parts) else None


def _either(function: FunctionNode, value: ast.expr) -> list[ast.expr]:
    """What a variable may be bound to, one of two where a condition decides."""
    bound = use_def(function).every(value.id) if isinstance(value, ast.Name) else ()
    told = [one.value for one in bound if one.value is not None and one.part is None] or [source(function, value)]
    return [part for one in told for part in ((one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,))]


def _entry(value: ast.expr, step: str) -> ast.expr | None:
    """What a step leads to in a tuple or list that is written out; of any entry, the first."""
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    return next((one for at, one in enumerate(parts) if step in (f"[{at}]", ANY_ENTRY)), None)


def _unpacked(function: FunctionNode, name: str, path: tuple[str, ...]) -> Iterator[str]:
    """The variables that take an entry of a parameter: `key, value = past`."""
    for variable in scope_of(function).local if len(path) == 1 else ():
        for bound in use_def(function).every(variable):
            taken = bound.value is not None and bound.part is not None and steps_of(bound.value) == (name,)
            if taken and bound.part is not None and path[0] in (f"[{bound.part.at}]", ANY_ENTRY):
                yield variable


def _layout(names: Names, around: ast.AST, expression: ast.expr) -> str:
    """What lays the elements of a tensor out in another order than that of its dimensions; "" where nothing does."""
    if isinstance(expression, ast.Name) and isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        bound = source(around, expression)
        return _layout(names, around, bound) if not isinstance(bound, ast.Name) else ""
    return rearranged(names, expression)
