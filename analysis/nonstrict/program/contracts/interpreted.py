"""What those who judge a marked function or a region know of it: what it does, how it is called, what breaks in it.

`nonstrict.program.contracts.marked_body` finds that out, and asks them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from nonstrict.program.domain.held import Held

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping

    from nonstrict.events import Event
    from nonstrict.findings import Related
    from nonstrict.knowledge.graph_breaks import GraphBreak
    from nonstrict.program.discovery.sites import CallSite
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function, Mark, Region
    from nonstrict.program.domain.effects import Observed, Summary
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine


class Interpreted:
    """A marked function, or a region, that is interpreted when it is asked about."""

    def __init__(
        self, machine: Machine, mark: Mark, torch: tuple[int, int], function: str, receiver: Value | None
    ) -> None:
        self.machine = machine
        self.mark = mark
        self.marker = mark.kind
        self.api = mark.api
        self.torch = torch
        #: its qualified name, as findings have it
        self.function = function
        #: the object whose method is marked
        self.receiver = receiver
        #: of a region, whether sizes and numbers are dynamic from the start; None where that is left to Dynamo
        self.dynamic: bool | None = None
        #: of a region, how often it is compiled at most as its application says; None where that is not said or known
        self.recompile_limit: int | None = None
        #: of a region, the name of what compiles the graphs; "" where it is not known
        self.backend = ""
        #: of a region, whether it is compiled to CUDA graphs where it computes on a GPU, as far as known
        self.has_cuda_graphs = False
        #: of a region, whether each application is known to keep what it compiles apart
        self.isolates = False

    @cached_property
    def summary(self) -> Summary:
        """What the body does."""
        raise NotImplementedError

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What the parameters are taken to be: what callers pass, annotations, defaults and use say."""
        raise NotImplementedError

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The calls of the function that were seen."""
        raise NotImplementedError

    @property
    def held(self) -> Held:
        """What expressions hold, here and in what is called."""
        return self._held

    @cached_property
    def _held(self) -> Held:
        return Held(self.summary, self.mark.function)

    def observed(self, *events: Event) -> Iterator[Observed]:
        """The effects of the given kinds, nearest first."""
        raise NotImplementedError

    def seen_by_others(self, *events: Event) -> list[Observed]:
        """The effects of the given kinds, for those that look at something else."""
        return list(self.observed(*events))

    def writers(self, place: AccessPath) -> tuple[Related, ...]:
        """Where what lives at a place is changed; other files are searched only for what changes the verdict."""
        raise NotImplementedError

    def owners_at(self, place: AccessPath) -> list[Class | None]:
        """The classes of the program, as far as known, whose attributes the steps of a place are."""
        raise NotImplementedError

    def parameter_at(self, place: AccessPath) -> str:
        """The parameter at which a place begins."""
        return place.name

    def held_at(self, place: AccessPath) -> Value | None:
        """What the root of a place holds; None where that is not known."""
        return None

    def graph_break(self, observed: Observed) -> GraphBreak | None:
        """What torch says of a construct that breaks a graph; None where it does not: of a marked function, always."""
        return None

    def in_the_way(self, function: Function, node: ast.AST) -> str:
        """The statement that keeps Dynamo from resuming a function after a break at a node in it; "" if none does."""
        return ""


class Regions:
    """The compiled regions of a machine, each looked at once; contracts that know regions attach theirs."""

    def of(self, machine: Machine, region: Region, torch: tuple[int, int]) -> Interpreted:
        """What Dynamo traces of a compiled function."""
        raise NotImplementedError
