"""The calls that lead to a region: its own, and those of the functions that make them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import calls
from nonstrict.program.discovery import callers
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.interpret.stepping import Loop
    from nonstrict.program.state.frames import Frame

#: How many functions lie between a region and a call that leads to it, at most.
_HOPS = 2


def loops(region: Interpreted) -> Iterator[tuple[Frame, Loop]]:
    """The loops around calls that lead to a region, each once, and the frame that runs them."""
    seen = set[ast.AST]()
    for frame, call in _leading(region):
        for node in remembered(naming.text_of(frame), "_nonstrict_loops", _loops_in):
            if node not in seen and holds(node.body, call):
                seen.add(node)
                yield frame, node


def _loops_in(text: ast.AST) -> tuple[Loop, ...]:
    return tuple(node for node in walk(text) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))


def frames(region: Interpreted) -> list[Frame]:
    """The frames that make such calls, each once."""
    return list({id(frame): frame for frame, _ in _leading(region)}.values())


def _leading(region: Interpreted) -> Iterator[tuple[Frame, ast.AST]]:
    found = [(frame, node) for frame, node, _, _ in calls.of(region)]
    for _ in range(_HOPS):
        yield from found
        outer = [frame.function for frame, _ in found if frame.function is not None]
        made = (one for function in dict.fromkeys(outer) for one in callers.calls_of_function(region.machine, function))
        found = [(frame, node) for frame, node, _, _ in made]
    yield from found
