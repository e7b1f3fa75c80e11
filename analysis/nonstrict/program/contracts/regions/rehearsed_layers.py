"""Layers that are not the same in all calls of a region, as a rehearsal shows them: of another class, frozen in some.

Dynamo guards the class of a module that a region calls, and whether each of its parameters needs gradients (measured on
torch 2.13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts.scopes import receiver_of
from nonstrict.program.contracts.regions import freezing, rehearsed
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.rehearsal import layers
from nonstrict.program.rehearsal.things import UNKNOWN, Compiled, Definition, Instance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Related
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.rehearsal.stage import Given
    from nonstrict.program.rehearsal.things import Thing

#: What the table of guards calls a layer that is of several classes: where it lies, which values, which use.
_CLASS = ("attribute of the module", "module of another class", Use.CALL.value)
_FROZEN = (freezing.SOURCE, "", "")
_SEVERAL = 2


class Layered(NamedTuple):
    """A layer that differs: what the table of guards calls that, how many ways, and a call with another one."""

    seen: Observed
    row: tuple[str, str, str]
    number: int
    evidence: tuple[Related, ...]


def observed(region: Interpreted) -> Iterator[Layered]:
    """The layers of a region that differ, the first of each sort that differs most."""
    given = rehearsed.calls(region)
    found = [*_of_receiver(region, given)]
    for seen in region.observed(Event.LAYER) if len(given) >= _SEVERAL else ():
        place = seen.effect.place
        if place.root is not Root.ARGUMENT or not place.path:
            continue
        name = region.parameter_at(place)
        modules = [_reached(one.held.get(name, UNKNOWN), place.path) for one in given]
        known = [one for one in modules if one is not None]
        if len(known) < len(modules):
            continue
        for row, keys in ((_CLASS, [*map(_class_of, known)]), (_FROZEN, [*map(_needs, known)])):
            number = len({*keys})
            if number >= _SEVERAL:
                last = max(keys.index(key) for key in {*keys})
                found.append(Layered(seen, row, number, rehearsed.shown(given[last])))
    for row in (_CLASS, _FROZEN):
        several = [one for one in found if one.row == row]
        if several:
            yield max(several, key=lambda one: one.number)


def _of_receiver(region: Interpreted, given: Sequence[Given]) -> Iterator[Layered]:
    """The object of a method that several classes inherit."""
    function = region.mark.function
    name = receiver_of(function.node) if function is not None and function.owner is not None else ""
    objects = [one.held.get(name) for one in given]
    known = [one for one in objects if isinstance(one, Instance)]
    keys = [*map(_class_of, known)]
    if name and len(known) == len(objects) and len({*keys}) >= _SEVERAL:
        last = given[max(keys.index(key) for key in {*keys})]
        effect = Effect(Event.GUARD, last.path, 0, last.node, AccessPath(Root.ARGUMENT, "", name), how=Use.CALL)
        yield Layered(Observed(effect, (), in_hook=False), _CLASS, len({*keys}), rehearsed.shown(last))


def _reached(thing: Thing, path: tuple[str, ...]) -> Instance | None:
    """The module that steps lead to, or the container of any of which they mean; None where none is known there."""
    known = path[: path.index("[]")] if "[]" in path else path
    found = rehearsed.at(thing, known)
    found = found.target if isinstance(found, Compiled) else found
    return found if isinstance(found, Instance) and layers.is_module(found) else None


def _class_of(module: Instance) -> object:
    return module.of if isinstance(module.of, Definition) else module.of.dotted


def _needs(module: Instance) -> object:
    return tuple(one.requires_grad for one in layers.parameters(module).values())
