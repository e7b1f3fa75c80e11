"""What rules say of values that are not the same in all calls of a region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Change, Use

if TYPE_CHECKING:
    from nonstrict.program.contracts.regions.recompilations import Recompilation

#: What a region does to a container that it changes in each call.
_GROWING = frozenset({Change.METHOD, Change.ITEM})


def changes(one: Recompilation) -> str:
    """What is not the same in all calls."""
    effect = one.seen.effect
    name = f"`{effect.place.text}`"
    if one.changed:
        return f"{name} {'grows' if effect.how in _GROWING and one.limit else 'changes'} in each call"
    return f"{name} {'has another length' if effect.how is Use.LENGTH else 'varies'} from call to call"


def use_instead(one: Recompilation) -> str:
    """The way out of compilations for each value."""
    if one.seen.effect.how is Use.LENGTH or one.seen.effect.how in _GROWING:
        return "change the container outside of the region, or hold a tensor of a fixed size"
    if "size of a parameter" in one.kinds:
        return "pass a tensor that is no parameter, or keep its size"
    return "hold it in a tensor, or keep it out of the region"
