"""Settings of torch that a loop changes between the calls of a region. Dynamo guards each of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary import repeated
from nonstrict.program.contracts.regions import leading
from nonstrict.program.discovery.sites import Passing
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.interpret.rounds import MANY
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted

#: By what sets it, what the table of guards calls a setting, and how programs ask for it.
_SETTINGS = {
    "torch.set_num_threads": ("threads", "torch.get_num_threads()"),
    "torch.set_default_dtype": ("default dtype", "torch.get_default_dtype()"),
    "torch.use_deterministic_algorithms": ("deterministic", "torch.are_deterministic_algorithms_enabled()"),
}
#: What the table of guards calls them.
SOURCES = frozenset(source for source, _ in _SETTINGS.values())


def observed(region: Interpreted) -> Iterator[tuple[str, Observed, int]]:
    """What sets them to several values in loops that call a region: the source, where, and to how many."""
    found: dict[ast.AST, tuple[str, Observed, int]] = {}
    for frame, loop in leading.loops(region):
        names = naming.names_at(frame)
        for node in walk(loop):
            name = names(node.func) if isinstance(node, ast.Call) else ""
            if name not in _SETTINGS or not isinstance(node, ast.Call) or len(node.args) != 1:
                continue
            source, asked = _SETTINGS[name]
            passing = Passing(frame, node, frame.machine.evaluate(frame, node.args[0]), node.args[0])
            place = AccessPath(Root.UNKNOWN, "", asked)
            effect = Effect(Event.GUARD, frame.module.path, frame.offset, node, place, how=Use.ARITHMETIC)
            number = repeated.times(region.machine, passing, MANY)
            found[node] = source, Observed(effect, (), in_hook=False), number
    yield from found.values()
