"""Options under which a region would not be compiled again for what varies: the table of guards is asked with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.program.contracts.regions.recompilations import rows_of, told_by
from nonstrict.program.domain.access_paths import Root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.recompilations import Recompilation

#: The key of Dynamo's configuration that lets numbers of modules be no constants.
_NUMBERS_OF_MODULES = "allow_unspec_int_on_nn_module"

_ARGUMENTS = frozenset({Root.ARGUMENT, Root.DEFAULT})
_AS_ARGUMENT = ("argument",)


class Option(NamedTuple):
    """An option of `torch.compile` (`dynamic`), or a key of Dynamo's configuration, that is set to `True`."""

    name: str
    is_config: bool = False


def of(region: Interpreted, one: Recompilation) -> Iterator[Option]:
    """The options with which fewer compilations were measured, and the last call ran compiled."""
    if not one.rows or one.refused or region.dynamic is not None:
        return
    for option in (Option("dynamic"), Option(_NUMBERS_OF_MODULES, is_config=True)):
        told = (
            told_by(region, one.rows, config=f"{option.name}=True")
            if option.is_config
            else told_by(region, one.rows, dynamic=True)
        )
        if told is not None and told.lasting and 0 < told.compilations < one.compilations:
            yield option


def helps_as_argument(region: Interpreted, one: Recompilation) -> bool:
    """Whether a value that is an argument in place of where the region has it has fewer compilations, in all its uses.

    What is a part of an argument becomes one of its own. What the region changes itself has to stay where it is.
    """
    if one.changed or not one.rows or (not one.place.path and one.place.root in _ARGUMENTS):
        return False
    uses = {seen.effect.how for seen in region.observed(Event.GUARD) if seen.effect.place == one.place}
    # What becomes of a result decides, not that one is computed.
    decisive = [use for use in uses if use is not None and use is not Use.NUMBERS]
    told = [told_by(region, rows_of(_AS_ARGUMENT, one.kinds, str(use.value))) for use in decisive]
    lasting = [each.compilations for each in told if each is not None and each.lasting]
    return bool(lasting) and len(lasting) == len(told) and max(lasting) < one.compilations
