"""Options under which a region would not be compiled again for what varies: the table of guards is asked with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.contracts.regions.recompilations import told_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.recompilations import Recompilation

#: The key of Dynamo's configuration that lets numbers of modules be no constants.
_NUMBERS_OF_MODULES = "allow_unspec_int_on_nn_module"


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
