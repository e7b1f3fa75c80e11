"""Which numbers an expression is in the rounds of the loops around a call: sizes of tensors, lengths of lists."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary import repeated
from nonstrict.program.contracts.regions import outward
from nonstrict.program.interpret.rounds import MANY, entries_in_loop, rounds
from nonstrict.program.objects import iteration, naming

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

_NONE = frozenset[int]()


def given(frame: Frame, place: ast.AST, number: ast.expr, hops: int = outward.HOPS) -> tuple[frozenset[int], int]:
    """The numbers that an expression is seen to be, or how many there are that are not known.

    What is another one only in other calls of the function around it, those tell.
    """
    here = _given(frame, place, number)
    here = here if any(here) else (_NONE, repeated.draws(frame, place, number))
    if any(here) or not hops:
        return here
    several = [given(*one, hops - 1) for one in outward.asked_of_callers(outward.Asked(frame, place, number))]
    return _NONE.union(*(told for told, _ in several)), sum(others for _, others in several)


def _given(frame: Frame, place: ast.AST, number: ast.expr) -> tuple[frozenset[int], int]:
    told = source(naming.text_of(frame), number)
    if not any(isinstance(node, ast.Name) for node in walk(told)):
        known = frame.machine.evaluate(frame, told).const
        return (frozenset({known}) if isinstance(known, int) else _NONE), 0
    for one in dict.fromkeys((number, told)):
        entries = entries_in_loop(frame, place, one)
        numbers = [entry.const for entry in entries if isinstance(entry.const, int)]
        if numbers and len(numbers) == len(entries):
            return frozenset(numbers), 0
    several = max(_rounds(frame, place, number, number), _rounds(frame, place, told, number))
    return _NONE, min(several, _listed(frame, told))


def _rounds(frame: Frame, call: ast.AST, number: ast.expr, place: ast.expr) -> int:
    """How often the loops around a call and around what tells it a number give that another value."""
    written = {*walk(naming.text_of(frame))}
    told = (_written_part(written, one) for one in dict.fromkeys((place, number)))
    return min(rounds(frame, one, number, MANY) for one in (call, *told))


def _written_part(written: set[ast.AST], number: ast.expr) -> ast.AST:
    """An expression, or of a sum that was made up of others the first variable that stands in the text."""
    parts = [number.left, number.right] if isinstance(number, ast.BinOp) and number not in written else []
    return next((one for one in parts if one in written and isinstance(one, ast.Name)), number)


def _listed(frame: Frame, number: ast.expr) -> int:
    """How many there are of what is taken out of a list of numbers; `MANY` where that is not known."""
    listed = frame.machine.evaluate(frame, number.value) if isinstance(number, ast.Subscript) else None
    entries = iteration.entries(frame, listed) if listed is not None else None
    numbers = {entry.const for entry in entries or ()}
    several = len(numbers) if numbers and None not in numbers else MANY
    return several if several > 1 else 0
