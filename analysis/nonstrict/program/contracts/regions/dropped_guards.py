"""What a region uses without the guard that Dynamo made for it, because the program drops that: it keeps one value.

Measured on torch 2.13: without its guard, what Dynamo took for a constant keeps the value of the first call of the
region, and what would be compiled again runs what was compiled. Tensors are inputs, as are numbers with `dynamic=True`:
they need no guard. So it is what would be compiled anew with its guard that keeps its value without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.program.contracts.regions import differing_options, recompilations, torch_states, training_modes
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.guard_sources import holders
from nonstrict.program.contracts.regions.variation import OF_TENSORS
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.definitions import DEFAULT_BACKEND, GuardFilter, Told
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Related
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value

_TRAINING_MODE = frozenset({training_modes.SOURCE})
_OTHER_OPTION = frozenset({differing_options.SOURCE})
#: What is computed with as a symbol where sizes are dynamic from the start: its guard is one of `SHAPE_ENV`.
_NUMBERS = frozenset({"int", "float"})


class DroppedGuard(NamedTuple):
    """Something that a region uses, and that is not the same in all calls, without a guard.

    It is not `sure` to keep a value where it may be that the region is compiled anew for something else each time.
    """

    seen: Observed
    evidence: tuple[Related, ...]
    sure: bool

    @property
    def place(self) -> AccessPath:
        """Where the region has it from."""
        return self.seen.effect.place

    @property
    def name(self) -> str:
        """What varies, as the text has it: of a module that is its mode."""
        mode = ".training" if self.seen.effect.event is Event.MODE else ""
        return self.place.text + mode


def of_region(region: Interpreted, backend: str) -> Iterator[DroppedGuard]:
    """What varies in a region whose guards a filter drops, where it drops that guard."""
    dropped = _filter(region)
    if not isinstance(dropped, GuardFilter):
        return
    varied = (one for one in recompilations.of_region(region, ()) if one.kinds != _TRAINING_MODE)
    found = [(one, _drops(region, dropped, one)) for one in varied]
    kept = [one for one, is_dropped in found if not is_dropped]
    for one, is_dropped in found:
        # What other backends than the default one compile for tensors of one form runs with others, or does not.
        known = backend == DEFAULT_BACKEND or not one.kinds <= OF_TENSORS.keys()
        if is_dropped:
            yield DroppedGuard(one.seen, one.evidence, known and not _may_follow(kept, one.values))
    of_mode = list(training_modes.uses(region))
    sure = all(_drops_mode(dropped, seen) for seen, _ in of_mode) and not _may_follow(kept, training_modes.NUMBER)
    yield from (DroppedGuard(seen, evidence, sure) for seen, evidence in of_mode)


def is_among(dropped: Iterable[DroppedGuard], one: Recompilation) -> bool:
    """Whether what a region would be compiled anew for has no guard."""
    if one.kinds == _TRAINING_MODE:
        return any(guard.sure for guard in dropped if guard.seen.effect.event is Event.MODE)
    return any(guard.place == one.place for guard in dropped)


def _may_follow(kept: Iterable[Recompilation], values: int) -> bool:
    """Whether the region may be compiled anew whenever something varies, for something else that has its guard."""
    return any(one.limit or one.compilations >= values for one in kept)


def may_drop(region: Interpreted) -> bool:
    """Whether it is not known which guards of a region are dropped."""
    return _filter(region) is Told.NOT_KNOWN


def _filter(region: Interpreted) -> object:
    """The filter that a region is compiled with; where it is compiled with several, it is not known which runs."""
    sites = region.machine.part(Compilations).at.values()
    compiled = (one for site in sites for one in site.compiled if one.function is region.mark.function)
    found = {one.options.guard_filter for one in compiled} or {Told.NOT_GIVEN}
    return found.pop() if len(found) == 1 else Told.NOT_KNOWN


def _drops(region: Interpreted, dropped: GuardFilter, one: Recompilation) -> bool:
    """Whether a filter drops the guard for which a region would be compiled anew."""
    if one.kinds == _OTHER_OPTION:
        return False  # that is no guard
    if one.kinds & torch_states.SOURCES:
        return dropped in (GuardFilter.BUT_TENSORS, GuardFilter.ALL)
    is_global, of_tensor = one.place.seen_as is Root.GLOBAL, one.kinds <= OF_TENSORS.keys()
    if dropped is GuardFilter.ALL:
        return True
    if dropped is GuardFilter.BUT_TENSORS:
        return not of_tensor
    if dropped is GuardFilter.BUT_PORTABLE:
        is_symbol = region.dynamic is True and bool(one.kinds & _NUMBERS)
        return is_global if of_tensor else not is_symbol
    return is_global if dropped is GuardFilter.GLOBALS else _of_module(region, dropped, one.place)


def _of_module(region: Interpreted, dropped: GuardFilter, place: AccessPath) -> bool:
    """Whether a filter for modules drops the guards of what lives at a place: an attribute, or what lies below one."""
    found = holders(region, place) if place.path else []
    if dropped is GuardFilter.MODULES:
        return any(one is not None and one.kind is Kind.MODULE for one in found)
    return bool(found) and _is_built_in(found[-1])


def _drops_mode(dropped: GuardFilter, seen: Observed) -> bool:
    """Whether a filter drops the guard of the mode of a module that a region has."""
    if dropped is GuardFilter.GLOBALS:
        return seen.effect.place.seen_as is Root.GLOBAL
    return dropped is not GuardFilter.BUILT_IN_MODULES or _is_built_in(seen.effect.value)


def _is_built_in(holder: Value | None) -> bool:
    return holder is not None and holder.kind is Kind.MODULE and holder.dotted.startswith("torch.nn.")
