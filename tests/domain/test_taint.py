"""Taint: what values carry on until it matters, and how far a symbol that follows from data can still be seen."""

from __future__ import annotations

import ast

import pytest

from nonstrict.events import Event, Taken
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import PLAIN, Effect, Sight
from nonstrict.program.domain.values import NUMBER, Value, join


def symbol(text: str = "x.nonzero()", how: Taken = Taken.SIZE) -> Effect:
    """A number that follows from the data of a tensor."""
    return Effect(Event.ESCAPE, "a.py", 0, ast.parse(text, mode="eval").body, how=how)


N, M = symbol(), symbol("y.nonzero()")
DRAWN = Effect(Event.RANDOM, "a.py", 0, ast.parse("random()", mode="eval").body)


def number(*taint: Effect, const: int | None = None) -> Value:
    """A number that carries some events, or is a constant."""
    return (NUMBER if const is None else NUMBER._replace(const=const)).with_taint(frozenset(taint))


def sight(operator: ast.operator, left: Value, right: Value) -> list[Sight]:
    """How symbols are seen in what an operator makes of two numbers."""
    return [one.sight for one in symbols.arithmetic(operator, left, right)]


def test_a_join_carries_what_either_side_carries():
    assert join(number(N), number(DRAWN)).taint == {N, DRAWN}


def test_symbols_are_told_from_other_events():
    assert (symbols.of(number(N, DRAWN)), symbols.beside(number(N, DRAWN))) == ({N}, {DRAWN})


@pytest.mark.parametrize(
    ("operator", "constant", "seen"),
    [
        (ast.Add(), 1, Sight(added=1)),
        (ast.Sub(), 1, Sight(added=-1)),
        (ast.Mult(), 3, Sight(times=3)),
        (ast.Div(), 1, PLAIN),
        (ast.FloorDiv(), 2, Sight(lost=True)),
        (ast.Mod(), 2, Sight(lost=True)),
    ],
)
def test_arithmetic_with_a_constant(operator: ast.operator, constant: int, seen: Sight):
    assert sight(operator, number(N), number(const=constant)) == [seen]


def test_a_symbol_is_subtracted_from_a_constant():
    assert sight(ast.Sub(), number(const=5), number(N)) == [Sight(times=-1, added=5)]


def test_what_was_multiplied_may_be_divided():
    tripled = number().with_taint(symbols.arithmetic(ast.Mult(), number(N), number(const=3)))
    assert sight(ast.FloorDiv(), tripled, number(const=3)) == [PLAIN]


def test_a_sum_of_two_symbols_shows_neither():
    assert {one.hidden for one in sight(ast.Add(), number(N), number(M))} == {True}


def test_a_symbol_added_to_itself_is_a_multiple_of_it():
    assert sight(ast.Add(), number(N), number(N)) == [PLAIN]


def test_what_is_hidden_twice_may_be_the_symbol_again():
    assert symbols.hidden(symbols.hidden({N})) == {N}


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (PLAIN, True),
        (Sight(times=3), True),
        (Sight(added=1), False),
        (Sight(hidden=True), False),
        (Sight(lost=True), False),
        (Sight(hidden=True, strided=True), True),
    ],
)
def test_a_multiple_is_seen_and_a_sum_is_not(seen: Sight, shown: bool):
    assert seen.is_shown is shown


def test_numbers_of_an_argument_are_known_whatever_is_done_to_them():
    given = symbol(how=Taken.ITEM)._replace(place=AccessPath(Root.ARGUMENT, "", "n"))
    assert (symbols.is_input(given), symbols.lost({given})) == (True, {given})


def test_sizes_are_not_negative_and_equal_themselves():
    size, zero = number(N), number(const=0)
    assert symbols.is_known(ast.GtE(), size, zero)
    assert symbols.is_known(ast.Eq(), size, size)
    assert not symbols.is_known(ast.Gt(), size, zero)
    assert not symbols.is_known(ast.Eq(), size, number(M))
