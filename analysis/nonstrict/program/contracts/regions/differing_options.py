"""Regions that are compiled with other options from time to time: Dynamo keeps them apart by their backends."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.scopes import parameter_names
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.interpret.rounds import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import CompileSite

#: The option that is part of what Dynamo takes for the backend, and what the table of guards calls that.
_OPTION = "dynamic"
SOURCE = "another `dynamic` of one function"


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """The applications of `torch.compile` to the function that get the option from callers, with how many values."""
    sites = region.machine.part(Compilations).at.values()
    for site in sites:
        if any(one.function is region.mark.function for one in site.compiled):
            yield from _of_site(region, site)


def _of_site(region: Interpreted, site: CompileSite) -> Iterator[tuple[Observed, int]]:
    keywords = site.node.keywords if isinstance(site.node, ast.Call) else []
    for keyword in keywords:
        name = keyword.value.id if isinstance(keyword.value, ast.Name) else ""
        within = site.within
        if keyword.arg != _OPTION or within is None or name not in parameter_names(within.node.args):
            continue
        number = varying.count(region.machine, within, name, counting=MANY)
        place = AccessPath(Root.ARGUMENT, "", name)
        effect = Effect(Event.GUARD, site.path, site.offset, site.node, place, how=Use.PARAMETER)
        yield Observed(effect, (), in_hook=False), number
