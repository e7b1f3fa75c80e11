"""A marked function made by hand, for tests of what single rules say about its effects."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from nonstrict.findings import Related, Span
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.domain.values import TENSOR, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import Event, How
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.discovery.sites import CallSite, Parameter
    from nonstrict.rules.base import Body

HERE = Span("main.py", 1, 0, 1, 10)


def effect(
    event: Event,
    text: str = "value",
    place: AccessPath = FRESH,
    value: Value = TENSOR,
    what: str = "",
    line: int = 1,
    how: How | None = None,
) -> Effect:
    """An effect on an expression that stands on the given line."""
    return Effect(event, "main.py", line - 1, ast.parse(text).body[0], place, value, what, how)


def at(origin: Root, name: str = "value", *path: str) -> AccessPath:
    """A place of the module `main`."""
    return AccessPath(origin, "main", name, path)


@dataclass
class FakeBody:
    """A body that does what the test says."""

    effects: list[Effect] = field(default_factory=list[Effect])
    marker: str = "nonstrict"
    api: str = "nonstrict_trace"
    fullgraph: bool = False
    function: str = "scale"
    torch: tuple[int, int] = (2, 13)
    marked_at: Span = HERE
    changes: tuple[Related, ...] = ()
    switches: tuple[Related, ...] = ()
    settings: tuple[Related, ...] = ()
    guarded: bool = False
    mode_guarded: bool = False
    sites: tuple[CallSite, ...] = ()
    boundary_arguments: tuple[BoundaryArgument, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    private: bool = False
    receiver: Value | None = None
    untraced: bool = False
    dispatches: tuple[Related, ...] = ()
    in_hook: bool = False
    applied: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(is_traced=False, target=TENSOR))

    def observed(self, *events: Event) -> Iterator[Observed]:
        return (Observed(effect, (), self.in_hook) for effect in self.effects if effect.event in events)

    def chain(self, observed: Observed) -> tuple[Related, ...]:
        return (Related(self.marked_at, f"`{self.function}` is marked here"),)

    def writers(self, place: AccessPath) -> tuple[Related, ...]:
        return self.changes

    def replacements(self, place: AccessPath) -> tuple[Related, ...]:
        return self.changes

    def decides_only_effects(self, read: Observed) -> bool:
        return False

    def holds_apart(self, read: Effect) -> bool:
        return False

    def guarded_by_region(self, place: AccessPath) -> bool:
        return self.guarded

    def written_by_region(self, place: AccessPath) -> tuple[Related, ...]:
        return ()

    def read_by_region(self, write: Effect) -> tuple[Related, ...]:
        return ()

    def supposed(self, observed: Observed) -> None:
        return None

    def mode_writers(self) -> tuple[Related, ...]:
        return self.switches

    def environment_writers(self, name: str) -> tuple[Related, ...]:
        return self.settings

    @property
    def told(self) -> Body:
        """This body as rules take it; a test gives what its rule asks for."""
        return cast("Body", self)


CHANGED = (Related(HERE, "rebound here"),)
