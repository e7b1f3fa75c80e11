"""Sizes of tensors as expressions of the sizes of arguments, and what must hold of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Symbol(NamedTuple):
    """A dimension of the argument at a position, or the argument itself where `dimension` is -1: a whole number."""

    argument: int
    dimension: int


class Term(NamedTuple):
    """An operation on two sizes."""

    operator: str
    left: Size
    right: Size


Size: TypeAlias = "int | Symbol | Term"

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "Add": lambda left, right: left + right,
    "Sub": lambda left, right: left - right,
    "Mult": lambda left, right: left * right,
    "FloorDiv": lambda left, right: left // right,
    "Mod": lambda left, right: left % right,
    "max": max,
    "min": min,
}


class ImpossibleError(Exception):
    """The arguments cannot have these numbers of dimensions."""


def term(operator: str, left: Size | None, right: Size | None) -> Size | None:
    """The result of an operation; None where a side is not known."""
    if left is None or right is None or operator not in _OPERATIONS:
        return None
    if isinstance(left, int) and isinstance(right, int):
        zero = operator in ("FloorDiv", "Mod") and right == 0
        return None if zero else _OPERATIONS[operator](left, right)
    neutral = {"Add": 0, "Sub": 0, "Mult": 1, "FloorDiv": 1}.get(operator)
    if right == neutral:
        return left
    if left == neutral and operator in ("Add", "Mult"):
        return right
    return Term(operator, left, right)


def product(sizes: Iterable[Size | None]) -> Size | None:
    """The product of sizes."""
    result: Size | None = 1
    for size in sizes:
        result = term("Mult", result, size)
    return result


class World:
    """What is assumed of the arguments: how many dimensions they have, and which of their sizes are the same."""

    def __init__(self, ranks: Mapping[int, int]) -> None:
        self.ranks = ranks
        self.bound: dict[Symbol, Size] = {}
        #: pairs of sizes that must be equal
        self.checks: list[tuple[Size, Size]] = []

    def resolved(self, size: Size) -> Size:
        """A size in terms of symbols that stand for themselves."""
        if isinstance(size, Symbol):
            return self.resolved(self.bound[size]) if size in self.bound else size
        if isinstance(size, Term):
            left, right = self.resolved(size.left), self.resolved(size.right)
            found = term(size.operator, left, right)
            return size if found is None else found
        return size

    def equate(self, left: Size | None, right: Size | None) -> None:
        """Note that two sizes are the same; raises `ImpossibleError` where they cannot be."""
        if left is None or right is None:
            return
        one, other = self.resolved(left), self.resolved(right)
        if one == other:
            return
        for symbol, size in ((one, other), (other, one)):
            if isinstance(symbol, Symbol) and symbol not in symbols_of(size):
                self.bound[symbol] = size
                return
        if isinstance(one, int) and isinstance(other, int):
            raise ImpossibleError
        self.checks.append((one, other))

    def holds(self, values: Mapping[Symbol, int]) -> bool:
        """Whether sizes of these values are possible."""
        return all(self.value(left, values) == self.value(right, values) for left, right in self.checks)

    def value(self, size: Size, values: Mapping[Symbol, int]) -> int:
        """A size as a number; raises `ArithmeticError` where it has none."""
        size = self.resolved(size)
        if isinstance(size, Term):
            return _OPERATIONS[size.operator](self.value(size.left, values), self.value(size.right, values))
        return values[size] if isinstance(size, Symbol) else size


def symbols_of(size: Size) -> frozenset[Symbol]:
    """The symbols in a size."""
    if isinstance(size, Term):
        return symbols_of(size.left) | symbols_of(size.right)
    return frozenset({size}) if isinstance(size, Symbol) else frozenset()


_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)
_SMALL = (3, 2, 5, 4, 7, 6)
_TRIALS = 10


def uneven(symbols: Iterable[Symbol]) -> list[dict[Symbol, int]]:
    """Values of which none divides another, in several orders."""
    ordered = sorted(symbols)
    trials: list[dict[Symbol, int]] = []
    for trial in range(_TRIALS):
        values: dict[Symbol, int] = {}
        for at, symbol in enumerate(ordered):
            stride = 3 + 2 * trial
            place = at * (stride if math.gcd(stride, len(_PRIMES)) == 1 else 1) + 5 * trial
            small = _SMALL[(at + trial) % len(_SMALL)]
            values[symbol] = _PRIMES[place % len(_PRIMES)] if symbol.dimension >= 0 else small
        trials.append(values)
    return trials


def even(symbols: Iterable[Symbol]) -> list[dict[Symbol, int]]:
    """Values that what is likely to divide them does divide."""
    ordered = sorted(symbols)
    return [
        {
            symbol: 840 * (1 + (at + trial) % 7) if symbol.dimension >= 0 else _SMALL[(at + trial) % len(_SMALL)]
            for at, symbol in enumerate(ordered)
        }
        for trial in range(_TRIALS)
    ]
