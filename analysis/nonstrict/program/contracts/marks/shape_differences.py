"""Whether two tensors surely have other shapes, tried for many sizes of the arguments."""

from __future__ import annotations

import ast
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.marks.shape_reading import UnknownError, WantedError, kinds_of, read
from nonstrict.program.domain.shape_rules import Tensor, items
from nonstrict.program.domain.shape_terms import ImpossibleError, Size, Symbol, World, even, symbols_of, uneven

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.shape_rules import Value

_Dims: TypeAlias = "tuple[Size | None, ...]"
_MAX_RANK = 5
_MAX_WORLDS = 500
#: Sizes that an argument may always have.
_CONSTANTS = (*range(2, 17), 24, 32, 48, 64, 96, 128, 256, 512)


class Told(NamedTuple):
    """A function, and what the names in it stand for."""

    function: FunctionNode
    names: Names


class _Pair(NamedTuple):
    """A result of the function and that of its fake, for arguments with some numbers of dimensions."""

    world: World
    real: Value
    fake: Value


class _Apart(NamedTuple):
    """How the fake's shape differs: it has so many dimensions more, or a dimension of another size."""

    more: int = 0
    dimension: int = 0

    @property
    def text(self) -> str:
        """The end of a sentence."""
        if not self.more:
            return f"differs in dimension {self.dimension}"
        return f"has {_count(abs(self.more))} {'more' if self.more > 0 else 'fewer'} than the function's"


class Shapes:
    """The shapes of the results of a function and of its fake."""

    def __init__(self, real: Told, fake: Told) -> None:
        self._real, self._fake = real, fake
        self._rounds = any(_rounds(node) for told in (real, fake) for node in own_scope(told.function))
        self._defaults = _defaults(real.function)

    @cached_property
    def _pairs(self) -> list[_Pair]:
        return list(self._explored())

    def difference(self, at: int) -> str:
        """How the shape of the fake's result number `at` surely differs, as the end of a sentence; "" if not."""
        told = [(pair, self._of(pair, at)) for pair in self._pairs]
        if any(not pair.world.ranks or all(pair.world.ranks.values()) for pair, _ in told):
            told = [(pair, apart) for pair, apart in told if not _is_degenerate(pair, at) or not self._reduces(at)]
        differing = [(pair, apart) for pair, apart in told if apart is not None]
        if not told or len(differing) < len(told):
            return ""
        found = {apart for _, apart in differing}
        if len(found) > 1 or any(apart.more for apart in found):
            likened = _likened([pair for pair, _ in differing], at)
            if likened:
                return likened
        # Arguments of unlike numbers of dimensions are those that nobody passes, if anything is.
        likely = min(_likelihood(*one) for one in differing)
        texts = {apart.text for pair, apart in differing if _likelihood(pair, apart) == likely}
        return "differs in a dimension" if len(texts) > 1 and not likely[0] else min(texts)

    def _reduces(self, at: int) -> bool:
        """Whether the function's result never has dimensions."""
        return all((shape := _shape(pair.real, at)) is not None and not shape for pair in self._pairs)

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _explored(self) -> Iterator[_Pair]:
        """Both results for all numbers of dimensions that the arguments can have."""
        kinds = kinds_of(self._real.function, self._real.names)
        open_worlds: list[dict[int, int]] = [{}]
        count = 0
        while open_worlds:
            ranks = open_worlds.pop()
            count += 1
            if count > _MAX_WORLDS:
                yield _Pair(World({}), None, None)
                return
            world = World(ranks)
            try:
                real = read(self._real.function, self._real.names, kinds, world)
                yield _Pair(world, real, read(self._fake.function, self._fake.names, kinds, world))
            except WantedError as wanted:
                open_worlds += [{**ranks, wanted.argument: rank} for rank in range(_MAX_RANK, -1, -1)]
            except ImpossibleError:
                continue
            except UnknownError:
                yield _Pair(world, None, None)
                return

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _of(self, pair: _Pair, at: int) -> _Apart | None:
        real, fake = _shape(pair.real, at), _shape(pair.fake, at)
        if real is None or fake is None:
            return None
        if len(real) != len(fake):
            return _Apart(more=len(fake) - len(real))
        if _is_fixed(fake) and _is_whole(pair.world, real):
            return _Apart()
        whole = _is_whole(pair.world, fake)
        for index, (left, right) in enumerate(zip(real, fake, strict=True)):
            if left is not None and right is not None:
                other = pair.world.resolved(left) != pair.world.resolved(right)
                if self._differ(pair.world, left, right, whole) or (
                    other and _reordered(pair.world, real, fake, whole)
                ):
                    return _Apart(dimension=index)
        return None

    def _differ(self, world: World, left: Size, right: Size, whole: bool) -> bool:
        """Whether two sizes differ, whatever the arguments are as far as nothing says that they are related."""
        left, right = world.resolved(left), world.resolved(right)
        mine, its = symbols_of(left), symbols_of(right)
        if mine - its and its - mine and (whole or not self._of_one(world, mine - its, its - mine)):
            return False
        every = (
            mine | its | {one for check in world.checks for size in check for one in symbols_of(world.resolved(size))}
        )
        outcomes = _equal(world, left, right, _merged(world, uneven(every)))
        if not outcomes or not self._rounds:
            outcomes += _equal(world, left, right, _merged(world, even(every)))
        if not outcomes or any(outcomes):
            return False
        plausible = self._plausible(mine ^ its, mine | its)
        return not any(self._equal_for(world, left, right, every, chosen) for chosen in plausible)

    def _of_one(self, world: World, mine: frozenset[Symbol], its: frozenset[Symbol]) -> bool:
        """Whether sizes are all of one argument, so that no two arguments may agree on them."""
        common = _arguments(world, next(iter(mine)))
        for symbol in (*mine, *its):
            common &= _arguments(world, symbol)
        return bool(common) and all(symbol.dimension >= 0 for symbol in (*mine, *its))

    def _plausible(self, apart: frozenset[Symbol], every: frozenset[Symbol]) -> Iterator[dict[Symbol, int]]:
        """Values that some arguments may always have."""
        defaults = {
            one: self._defaults[one.argument] for one in every if one.dimension < 0 and one.argument in self._defaults
        }
        if defaults:
            yield defaults
        for symbol in apart:
            yield from ({symbol: constant} for constant in _CONSTANTS)

    def _equal_for(
        self, world: World, left: Size, right: Size, every: frozenset[Symbol], chosen: dict[Symbol, int]
    ) -> bool:
        trials = [{**values, **chosen} for values in (*uneven(every), *even(every))]
        outcomes = _equal(world, left, right, trials)
        return bool(outcomes) and all(outcomes)


def _likelihood(pair: _Pair, apart: _Apart) -> tuple[bool, int]:
    return bool(apart.more), len(set(pair.world.ranks.values()))


def _arguments(world: World, symbol: Symbol) -> frozenset[int]:
    """The arguments of which a size is one."""
    same = [symbol, *(one for one in world.bound if world.resolved(one) == symbol)]
    return frozenset(one.argument for one in same)


def _merged(world: World, trials: list[dict[Symbol, int]]) -> Iterator[dict[Symbol, int]]:
    """The values themselves, and with sizes of two arguments the same, which no text may tell."""
    yield from trials
    first = trials[0]
    sizes = sorted(symbol for symbol in first if symbol.dimension >= 0)
    apart = [pair for pair in combinations(sizes, 2) if not _arguments(world, pair[0]) & _arguments(world, pair[1])]
    for one, other in apart:
        yield {**first, one: first[other]}
    aligned = dict(first)
    for one, other in apart:
        if one.dimension == other.dimension:
            aligned[other] = aligned[one]
    yield aligned


def _reordered(world: World, real: _Dims, fake: _Dims, whole: bool) -> bool:
    """Whether the fake has the sizes of the function in another order, and not just the shape of an argument."""
    left, right = ([world.resolved(one) for one in dims if one is not None] for dims in (real, fake))
    return not whole and len(left) == len(right) == len(real) and sorted(map(repr, left)) == sorted(map(repr, right))


def _equal(world: World, left: Size, right: Size, trials: Iterable[Mapping[Symbol, int]]) -> list[bool]:
    """Whether two sizes are the same number, for each of the values that the arguments can have."""
    outcomes: list[bool] = []
    for values in trials:
        try:
            one, other = world.value(left, values), world.value(right, values)
            if world.holds(values) and one >= 0 and all(world.value(symbol, values) >= 0 for symbol in values):
                outcomes.append(one == other)
        except (ArithmeticError, KeyError):
            continue
    return outcomes


def _shape(value: Value, at: int) -> _Dims | None:
    several = items(value)
    if several is None and at:
        return None
    found = value if several is None else several[at] if at < len(several) else None
    return found.dims if isinstance(found, Tensor) else None


def _is_degenerate(pair: _Pair, at: int) -> bool:
    """Whether an argument has no dimensions, nor has the fake's result."""
    return 0 in pair.world.ranks.values() and _shape(pair.fake, at) == ()


def _is_whole(world: World, dims: _Dims) -> bool:
    """Whether a shape is that of one argument."""
    first = dims[0] if dims else None
    if not isinstance(first, Symbol) or world.ranks.get(first.argument) != len(dims):
        return False
    return dims == tuple(Symbol(first.argument, index) for index in range(len(dims)))


def _is_fixed(dims: _Dims) -> bool:
    """Whether all sizes are plain numbers."""
    return bool(dims) and all(isinstance(size, int) for size in dims)


def _likened(pairs: list[_Pair], at: int) -> str:
    """How a result differs where it is that of an argument or the function's is, or the numbers of dimensions are told.

    An argument without dimensions has the shape of any other one.
    """
    usual = [pair for pair in pairs if all(pair.world.ranks.values())] or pairs
    shapes = [(pair.world, _shape(pair.real, at) or (), _shape(pair.fake, at) or ()) for pair in usual]
    if all(_is_whole(world, fake) for world, _, fake in shapes):
        how = _against(shapes)
        return f"has the shape of an argument where the function's {how}" if how else ""
    if all(_is_whole(world, real) for world, real, _ in shapes):
        if all(_is_fixed(fake) for _, _, fake in shapes):
            return "has a fixed shape where the function's has that of an argument"
        how = _against([(world, fake, real) for world, real, fake in shapes])
        return f"{how} than the argument whose shape the function's has" if how else ""
    counts = {(len(real), len(fake)) for _, real, fake in shapes}
    mine, its = counts.pop()
    return f"has {_count(its)} where the function's has {_count(mine)}" if mine != its and not counts else ""


def _against(shapes: list[tuple[World, _Dims, _Dims]]) -> str:
    """How shapes compare with those of an argument, for all numbers of dimensions alike."""
    if not any(dims for _, dims, _ in shapes):
        return f"has {_count(0)}"
    found = {_than(*one) for one in shapes}
    return found.pop() if len(found) == 1 else ""


def _than(world: World, dims: _Dims, argument: _Dims) -> str:
    if len(dims) != len(argument):
        return f"has {'fewer' if len(dims) < len(argument) else 'more'} dimensions"
    every = frozenset[Symbol]().union(*(symbols_of(one) for one in (*dims, *argument) if one is not None))
    signs = {
        (one > other) - (one < other)
        for left, right in zip(dims, argument, strict=True)
        if left != right and left is not None and right is not None
        for values in (*uneven(every), *even(every))
        if world.holds(values)
        for one, other in [(world.value(left, values), world.value(right, values))]
    }
    return {1: "is larger in one dimension", -1: "is smaller in one dimension"}[signs.pop()] if len(signs) == 1 else ""


def _count(dimensions: int) -> str:
    return "no dimensions" if not dimensions else f"{dimensions} dimension{'s' if dimensions > 1 else ''}"


def _rounds(node: ast.AST) -> bool:
    """Whether something says what becomes of a rest: `(n + s - 1) // s`, `-(-n // s)`, `n % s`, `ceil`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.BinOp) and isinstance(node.operand.op, ast.FloorDiv)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return True
    if not isinstance(node, ast.Call):
        return False
    ceiling = any(one.arg == "ceil_mode" and getattr(one.value, "value", False) is True for one in node.keywords)
    return ceiling or last_name(node) in ("ceil", "cdiv", "ceil_div")


def _defaults(function: FunctionNode) -> dict[int, int]:
    """The whole numbers that arguments have where nothing is passed."""
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    found: dict[int, int] = {}
    for at, default in enumerate(arguments.defaults, len(ordered) - len(arguments.defaults)):
        if isinstance(default, ast.Constant) and type(default.value) is int:
            found[at] = default.value
    for at, default in enumerate(arguments.kw_defaults, len(ordered)):
        if isinstance(default, ast.Constant) and type(default.value) is int:
            found[at] = default.value
    return found
