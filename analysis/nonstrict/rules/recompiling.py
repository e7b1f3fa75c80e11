"""What rules say of values that are not the same in all calls of a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Change, Event, Use

if TYPE_CHECKING:
    from nonstrict.program.contracts.regions.recompilations import Recompilation

#: What a region does to a container that it changes in each call.
_GROWING = frozenset({Change.METHOD, Change.ITEM})


def changes(one: Recompilation) -> str:
    """What is not the same in all calls."""
    effect = one.seen.effect
    name = f"`{effect.text}`"
    if one.changed:
        grows = one.grows or (effect.how in _GROWING and one.limit)
        return f"{name} {'grows' if grows else 'changes'} in each call"
    if effect.event is Event.LAYER:
        return f"the parameter sizes of {name} vary from call to call"
    if one.beside:
        first, more = f"`{one.beside[0]}`", len(one.beside) - 1
        return (
            f"{name}, {first} and {more} more vary from call to call"
            if more
            else f"{name} and {first} vary from call to call"
        )
    if effect.how is not Use.LENGTH:
        return f"{name} varies from call to call"
    if "keys" in one.kinds:
        return f"the keys of {name} vary from call to call"
    return f"the length of {name} varies from call to call"


def how_often(one: Recompilation) -> str:
    """How often a region is compiled that torch does not give up for it."""
    if 2 < one.compilations == one.values or (one.settles and one.compilations > 2):
        return f"{one.compilations} times"
    return "twice" if one.settles else "each time"  # there may be more than are seen


def told(one: Recompilation) -> str:
    """What is not the same in all calls, and what that costs."""
    if one.refused:
        return f"{changes(one)}: given up"
    return f"{changes(one)}: compiled {'each time, until torch gives up' if one.limit else how_often(one)}"


def use_instead(one: Recompilation) -> str:
    """The way out of compilations for each value."""
    if one.grows:
        return "write into a tensor of the maximum length, or pass it in and return it"
    if one.seen.effect.how is Use.LENGTH or one.seen.effect.how in _GROWING:
        return "change the container outside of the region, or hold a tensor of a fixed size"
    if one.seen.effect.event is Event.LAYER:
        return "give them the same sizes, or raise `torch._dynamo.config.recompile_limit`"
    if "size of a parameter" in one.kinds:
        return "pass a tensor that is not a parameter, or keep its size"
    return "hold it in a tensor, or keep it out of the region"
