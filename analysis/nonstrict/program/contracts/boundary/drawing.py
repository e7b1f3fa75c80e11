"""How many values numbers have that are drawn at random so many times: by what they are drawn from, on average."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.program.interpret.rounds import MANY, SOME, length, tells_apart
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: So few values are missing, on average, that all are taken to be drawn.
_HARDLY_ANY = 0.1
_MODULES = ("random", "random.Random", "numpy.random", "numpy.random.Generator", "numpy.random.RandomState")
#: What draws whole numbers below a bound, or with it, one of some entries, and any number between two.
_BELOW = frozenset({f"{module}.{name}" for module in _MODULES for name in ("randrange", "integers")}) | {
    *(f"numpy.random{of}.randint" for of in ("", ".RandomState")),
    "torch.randint",
}
_WITH_BOUND = frozenset({"random.randint", "random.Random.randint"})
_CHOOSING = frozenset({f"{module}.choice" for module in _MODULES})
_CONTINUOUS = frozenset(
    {f"{module}.{name}" for module in _MODULES for name in ("random", "uniform", "gauss", "normal")}
)


def different(among: int, times: int) -> int:
    """How many of some values are surely drawn in so many times, where each is as likely; at least some."""
    if among < SOME:
        return among
    missing = among * (1 - 1 / among) ** times  # on average
    return among if missing < _HARDLY_ANY else max(int(among - missing) - 1, SOME)


def number(frame: Frame, made: ast.expr, drawn: ast.AST, times: int) -> int:
    """How many values an expression has in so many rounds that draw a number of it; some where that is not known."""
    if not isinstance(drawn, ast.Call) or times <= SOME:
        return min(times, SOME)
    around = naming.text_of(frame)
    bound = {node.id for node in ast.walk(made) if isinstance(node, ast.Name) and source(around, node) is drawn}
    exact = source(around, made) is drawn or tells_apart(frame, made, bound)
    among = _among(frame, drawn) if exact else SOME
    return different(among, times)


def _among(frame: Frame, drawn: ast.Call) -> int:
    """From how many values one is drawn; some where that is not known."""
    name = _name(frame, drawn.func)
    given = [frame.machine.evaluate(frame, one).const for one in drawn.args]
    whole = [one for one in given if isinstance(one, int)]
    if name in _CONTINUOUS:
        return MANY
    if name in _CHOOSING and drawn.args:
        return length(frame, drawn.args[0], SOME)
    if name in _BELOW | _WITH_BOUND and len(whole) == len(given) and 0 not in whole[2:]:
        return len(range(*whole)) + (name in _WITH_BOUND)
    return SOME


def _name(frame: Frame, function: ast.expr) -> str:
    """The function outside the program that is called, a method by the class of its object."""
    if (plain := naming.names_at(frame)(function)) in _BELOW | _WITH_BOUND | _CHOOSING | _CONTINUOUS:
        return plain
    if not isinstance(function, ast.Attribute):
        return ""
    return f"{frame.machine.evaluate(frame, function.value).dotted}.{function.attr}"
