"""Writes as values: a place in the text that changes a name or what it leads to."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import ast

    from nonstrict.program.domain.values import Value


class How(enum.Enum):
    """What a write does; the value is what users read at its place."""

    REBOUND = "rebound here"
    CHANGED = "changed here"
    IN_PLACE = "changed in place here"
    PARAMETERS = "its parameters are replaced here"


class Write(NamedTuple):
    """One place in the text that changes a name or what it leads to; `steps` lead from the name to what changes."""

    path: str
    offset: int
    node: ast.AST
    how: How
    steps: tuple[str, ...] = ()
    value: ast.expr | None = None
    #: fills a cache that the same function tests before: whoever finds it filled finds what it would have stored
    fills: bool = False
    #: happens while the module is executed, before anything can have been compiled
    building: bool = False
    #: what it puts there, one value for each way, where the interpreter came by
    held: tuple[Value, ...] = ()

    @property
    def attribute(self) -> str:
        """The first attribute among the steps; "" if there is none."""
        return next((step[1:] for step in self.steps if step.startswith(".")), "")
