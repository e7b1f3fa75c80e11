"""What makes Dynamo compile a region again: what it uses of what varies, answered by the measured table of guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Lowered, Use
from nonstrict.knowledge import guards
from nonstrict.program.contracts.regions import (
    between,
    combined,
    differing_options,
    drawn_flags,
    freezing,
    growing_tensors,
    guarded,
    idle_paths,
    inside,
    kept_objects,
    optimizer_steps,
    parameter_sizes,
    rehearsed,
    rehearsed_layers,
    rehearsed_states,
    sizes,
    torch_settings,
    torch_states,
    training_modes,
    types_passed,
    variation,
)
from nonstrict.program.contracts.regions import options as dynamo_options
from nonstrict.program.contracts.regions.guard_sources import of_objects, sources
from nonstrict.program.interpret.rounds import MANY, SOME

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterable, Iterator

    from nonstrict.events import How
    from nonstrict.findings import Related
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.contracts.regions.inside import Changed
    from nonstrict.program.contracts.regions.variation import Varied
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed

#: The use that what a region changes itself has in the table.
_CHANGED = "changed in the region"
#: Numbers that a region changes itself by what they are: where that was not measured, it computes with what varies.
_COUNTED = {"int counter": "int", "float sum": "float"}
#: Uses of a number of which Dynamo makes a constant, other than computing with it.
_DECISIVE = (Use.POSITION, Use.KEY, Use.BOUND, Use.FORMAT, Use.FUNCTION)
#: Keys of Dynamo's configuration that the table was measured with, as programs set them.
_CONFIG = {
    "specialize_float": "specialize_float=True",
    "allow_unspec_int_on_nn_module": "allow_unspec_int_on_nn_module=True",
    "assume_static_by_default": "assume_static_by_default=False",  # whatever the next one says
    "automatic_dynamic_shapes": "automatic_dynamic_shapes=False",
    "force_parameter_static_shapes": "force_parameter_static_shapes=False",
}
#: What says how often a function is compiled anew.
_LIMITS = ("recompile_limit", "cache_size_limit")


#: A row of the table: a source, a kind of values, a use.
Row = tuple[str, str, str]


class Recompilation(NamedTuple):
    """Something that a region uses, and that is not the same in all calls.

    The region is compiled `compilations` times for the `values` that it takes, `rounds.MANY` where nothing bounds
    them. With `limit`, Dynamo gives it up after them: for the next value it runs as plain Python, or fails where it
    must not. `changed` says that the region changes it itself, `refused` that torch has no graph for a value that
    varies. With `settles` more values need no more compilations, without there is one for each. `kinds` are those
    of the values as the table of guards names them; of a state of torch its source. `rows` are those of the table
    that it was told from. `beside` names other places that vary too, with which it is as many combinations.
    """

    seen: Observed
    compilations: int
    values: int
    limit: bool
    evidence: tuple[Related, ...]
    changed: bool = False
    refused: bool = False
    settles: bool = False
    kinds: frozenset[str] = frozenset()
    rows: tuple[Row, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def costs(self) -> bool:
        """Whether one compilation is not enough for all values."""
        return self.compilations >= _SEVERAL or not self.settles

    @property
    def grows(self) -> bool:
        """Whether it is a tensor that the region makes longer in each call."""
        return bool(self.kinds & growing_tensors.KINDS)

    @property
    def place(self) -> AccessPath:
        """Where the region has it from."""
        return self.seen.effect.place


class _Varied:
    """How the values of regions vary that were asked for: recompilations are not all that is told of it."""

    def __init__(self) -> None:
        self._known: dict[Interpreted, dict[tuple[AccessPath, How | None], Varied]] = {}

    def of(self, region: Interpreted) -> dict[tuple[AccessPath, How | None], Varied]:
        """What is known of a region, by place and use."""
        return self._known.setdefault(region, {})


def of_region(region: Interpreted, stale: Collection[AccessPath]) -> Iterator[Recompilation]:
    """What a region is compiled anew for, each place once: by what is worst of its uses.

    What is `stale` is another matter (NST805).
    """
    if between.is_forgotten(region):
        return
    changed = inside.changes(region)
    for place, one in changed.items():
        if not between.is_set_anew(region, place) and (found := _of_change(region, place, one)) is not None:
            yield found
    at: set[ast.AST] = set()  # what differs in the same call is one compilation
    for source, seen, values in _of_states(region):
        told = guards.compiled(source, torch=region.torch, dynamic=region.dynamic)
        found = _recompilation(seen, told, values, (), region) if values >= _SEVERAL else None
        if found is not None and seen.effect.node not in at:
            at.add(seen.effect.node)
            yield found._replace(kinds=frozenset({source}))
    anew = [one for one in _of_uses(region, {*changed, *stale}) if one.costs]
    used = [*_with_combined(region, anew)]
    yield from used
    told = {one.span for each in used for one in each.evidence}
    sized = _of_parameters(region)
    if sized is not None and not any(one.span in told for one in sized.evidence):  # what is made there is told once
        yield sized
    yield from _of_layers(region)


def symbols(region: Interpreted) -> Iterator[Recompilation]:
    """What a region is not compiled anew for whenever it varies, each place once: a symbol stands for it."""
    for one in _of_uses(region, inside.changes(region)):
        if one.settles and one.values >= _SEVERAL:
            yield one


def _of_layers(region: Interpreted) -> Iterator[Recompilation]:
    """Layers that a rehearsal shows to differ, other than in their sizes."""
    frozen = any(freezing.observed(region))
    for one in rehearsed_layers.observed(region):
        source, kind, _ = one.row
        place, seen = one.seen.effect.place, one.seen
        if not kind:
            place = place.step(f".{freezing.ATTRIBUTE}")
        if kind or not frozen:
            effect = seen.effect._replace(event=Event.GUARD, place=place, how=Use.CALL)
            told = told_by(region, (one.row,))
            if not kind and told is not None:  # of each parameter Dynamo knows two: together they are more
                told = guards.Compiled(guards.limit(region.torch), lasting=False, guard=told.guard)
            found = _recompilation(seen._replace(effect=effect), told, one.number, one.evidence, region)
            if found is not None:
                yield found._replace(kinds=frozenset({kind or source}))


def _of_parameters(region: Interpreted) -> Recompilation | None:
    """Layers whose parameters have other sizes in other modules that are compiled to the region."""
    sized = parameter_sizes.observed(region)
    if sized is None:
        return None
    rows = rows_of((parameter_sizes.SOURCE,), {parameter_sizes.KIND}, Use.ARITHMETIC.value)
    found = _recompilation(sized.seen, told_by(region, rows), sized.number, sized.evidence, region)
    return found._replace(kinds=frozenset({parameter_sizes.KIND}), rows=rows) if found is not None else None


def _of_states(region: Interpreted) -> Iterator[tuple[str, Observed, int]]:
    """What else Dynamo tells calls apart by than what a region uses: its source, and how many of it there are."""
    yield from ((differing_options.SOURCE, *one) for one in differing_options.observed(region))
    told = [*torch_states.observed(region)]
    known = {source for source, _, _ in told}
    yield from told
    yield from (one for one in rehearsed_states.observed(region) if one[0] not in known)
    yield from torch_settings.observed(region)
    yield from ((optimizer_steps.SOURCE, *one) for one in optimizer_steps.observed(region))
    yield from ((training_modes.SOURCE, *one) for one in training_modes.observed(region))
    yield from ((freezing.SOURCE, *one) for one in freezing.observed(region))


def _of_change(region: Interpreted, place: AccessPath, one: Changed) -> Recompilation | None:
    """What the region changes itself in each call, of what the next one finds."""
    kept = kept_objects.of(region, place)
    values, evidence = kept.calls, kept.evidence
    if one.of_size is not None:
        varied = variation.of(region, one.of_size.given)
        values, evidence = min(values, varied.number, MANY if one.of_size.each else SOME), varied.evidence
    if values < _SEVERAL:
        return None
    among, counted = sources(region, place), _COUNTED.get(one.kind, "")
    several = [rows_of(among, {one.kind}, _CHANGED)]
    if told_by(region, several[0]) is None and counted:
        several = [rows_of(among, {counted}, Use.ARITHMETIC.value)]
    uses = {seen.effect.how for seen in region.observed(Event.GUARD) if seen.effect.place == place and counted}
    several += [rows_of(among, {counted}, how.value) for how in _DECISIVE if how in uses]
    found = [
        told._replace(changed=True, kinds=frozenset({one.kind}), rows=rows)
        for rows in several
        if (told := _recompilation(one.seen, told_by(region, rows), values, evidence, region)) is not None
    ]
    return max(found, key=_cost, default=None)


def _of_uses(region: Interpreted, but: Collection[AccessPath]) -> Iterator[Recompilation]:
    """What calls pass and others write, apart from some places."""
    worst: dict[AccessPath, Recompilation] = {}
    first: dict[AccessPath, Observed] = {}
    known = region.machine.part(_Varied).of(region)
    for seen in _guarded(region):
        place = seen.effect.place
        size = sizes.at(place)
        whole = place if size is None else size.tensor
        if place in but:
            continue
        if seen.effect.how is Use.NUMBERS:
            first.setdefault(place, seen)  # that makes the guard, what becomes of the result decides which
            continue
        key = (place, seen.effect.how)
        if key not in known:
            known[key] = variation.of(region, seen.effect)
        found = _of_use(region, seen, known[key])
        if found is not None and (whole not in worst or _cost(found) > _cost(worst[whole])):
            worst[whole] = found
    for place, one in worst.items():
        yield one._replace(seen=first[place]) if place in first and one.seen.effect.how is Use.ARITHMETIC else one


def _with_combined(region: Interpreted, used: list[Recompilation]) -> Iterator[Recompilation]:
    """The same; in the place of several that are too many only together, the first of them with the others."""
    apart = [one for one in used if not one.settles or one.kinds <= _ONE_OR_OTHER]
    whole = [one for one in apart if not (one.limit or one.refused or one.seen.effect.sight.lost)]
    several = [one for one in whole if one.values < MANY]
    if len(several) < _SEVERAL:
        yield from used
        return
    looped = combined.number(region, {one.place: one.values for one in several})
    number = max(looped, rehearsed.combinations(region, [one.seen.effect for one in several]))
    together = number > max((one.values for one in several), default=0) and number > _limit(region)
    for one in used:
        if not together or one not in several:
            yield one
        elif one is several[0]:
            beside, evidence = tuple(other.seen.effect.text for other in several[1:]), _evidence(several)
            most = _limit(region)
            yield one._replace(compilations=most, values=number, limit=True, evidence=evidence, beside=beside)


def _evidence(several: Iterable[Recompilation]) -> tuple[Related, ...]:
    return tuple(dict.fromkeys(related for one in several for related in one.evidence))


def _guarded(region: Interpreted) -> Iterator[Observed]:
    """The uses of what a region has from outside, and what it returns of them."""
    returned = guarded.returned(region.summary)
    for seen in region.observed(Event.GUARD):
        yield seen
        if seen.effect.how is Use.NUMBERS and seen.effect.place in returned:
            yield seen._replace(effect=seen.effect._replace(how=Use.RETURNED))


def _cost(one: Recompilation) -> tuple[bool, bool, int]:
    return one.limit, one.refused, one.compilations


def _of_use(region: Interpreted, seen: Observed, varied: Varied) -> Recompilation | None:
    use, place = seen.effect.how, seen.effect.place
    if seen.effect.sight.lost and not _is_each_constant(region, place, varied):
        varied = varied._replace(number=min(varied.number, SOME))
    if use is None or varied.number < _SEVERAL:
        return None
    if (size := sizes.at(place)) is not None:
        rows = rows_of(sources(region, size.tensor), varied.kinds, sizes.USES[use]) if use in sizes.USES else ()
        found = _known(seen, told_by(region, rows), varied.number, varied.evidence, region)
        return found._replace(kinds=varied.kinds, rows=rows) if found is not None else None
    if varied.kinds <= _DECIDING and _decides(region, place) and idle_paths.has_idle_path(region):
        return None  # whether the first call computes anything, the number decides
    of_list = varied.kinds <= drawn_flags.KINDS
    among = (
        of_objects(region, place)
        if varied.of_objects
        else sources(region, place._replace(path=()) if of_list else place)
    )
    if use is Use.PARAMETER and varied.kinds <= variation.OF_TENSORS.keys():
        use = Use.ARITHMETIC  # nothing was known of it but that an operator is given it
    if use is Use.ARITHMETIC and varied.kinds == _OPTIONAL:
        use = Use.PARAMETER  # what is computed with may be missing only where an operator or a layer is given it
    rows = rows_of(among, varied.kinds, str(use.value))
    told = told_by(region, rows)
    if use is Use.PARAMETER and _FLOATS <= varied.kinds <= _NUMBERS and _is_constant_in_graph(region, place):
        rows = rows_of(among, varied.kinds - _FLOATS, str(use.value))  # as whole numbers, where they may be such
        each = guards.Compiled(guards.limit(region.torch), lasting=False, guard="")
        told = told_by(region, rows) if rows else each
    found = _known(seen, told, varied.number, varied.evidence, region)
    return found._replace(kinds=varied.kinds, rows=rows) if found is not None else None


def _decides(region: Interpreted, place: AccessPath) -> bool:
    """Whether the region branches on what lives there."""
    return any(one.effect.how is Use.BRANCH and one.effect.place == place for one in region.observed(Event.GUARD))


def _is_each_constant(region: Interpreted, place: AccessPath, varied: Varied) -> bool:
    """Whether Dynamo makes a constant of each number that lives there, whatever is computed with it."""
    if not varied.kinds or not varied.kinds <= _NUMBERS or sizes.at(place) is not None:
        return False
    among = of_objects(region, place) if varied.of_objects else sources(region, place)
    told = told_by(region, rows_of(among, varied.kinds, Use.ARITHMETIC.value))
    return told is not None and not told.lasting


def _is_constant_in_graph(region: Interpreted, place: AccessPath) -> bool:
    """Whether a `float` is a constant of the graph that operators take it for, so that each value needs one."""
    lowered = {seen.effect.how for seen in region.observed(Event.FLOAT) if seen.effect.place == place}
    return Lowered.KNOWN in lowered or (Lowered.SPECIALIZED in lowered and Lowered.TENSORIFIED not in lowered)


_SEVERAL = 2
_FLOATS = frozenset({"float"})
_NUMBERS = _FLOATS | {"int"}
_OPTIONAL = frozenset({types_passed.OPTIONAL})
#: Kinds of which there are two, each compiled for by itself.
_ONE_OR_OTHER = frozenset({"bool", "requires_grad", "parameter", *_OPTIONAL})
#: Values that a first call may go a way with on which nothing is computed.
_DECIDING = _FLOATS | {"int", "type of a plain value"}


def rows_of(among: Iterable[str], kinds: Iterable[str], use: str) -> tuple[Row, ...]:
    """The rows of the table for values of some kinds that may come from several sources."""
    return tuple((source, kind, use) for source in among for kind in sorted(kinds))


def told_by(
    region: Interpreted, rows: Iterable[Row], *, dynamic: bool | None = None, config: str = ""
) -> guards.Compiled | None:
    """What the table says; the least where it is not known which of several rows it is. None where one is missing.

    It is asked under the options of the region, or with others than these: `dynamic`, a key of the `config`.
    """
    dynamic, config = (dynamic, config) if dynamic is not None or config else (region.dynamic, _config(region))
    found = [guards.compiled(*row, torch=region.torch, dynamic=dynamic, config=config) for row in rows]
    known = [one for one in found if one is not None]
    return (
        min(known, key=lambda one: (not one.lasting, one.compilations)) if known and len(known) == len(found) else None
    )


def _config(region: Interpreted) -> str:
    """The key of Dynamo's configuration that the program sets, and the table knows."""
    path = region.mark.path
    return next((told for key, told in _CONFIG.items() if dynamo_options.is_set(region.machine, key, path)), "")


def _limit(region: Interpreted) -> int:
    """How often the region is compiled at most; `MANY` where the program says that, and it is not known how often."""
    if region.recompile_limit is not None:
        return region.recompile_limit
    said = (dynamo_options.constants(region.machine, option, region.mark.path) for option in _LIMITS)
    told = frozenset[object]().union(*said)
    limits = [one for one in told if isinstance(one, int) and not isinstance(one, bool)]
    return max(limits, default=guards.limit(region.torch)) if len(limits) == len(told) else MANY


def _recompilation(
    seen: Observed, told: guards.Compiled | None, values: int, evidence: tuple[Related, ...], region: Interpreted
) -> Recompilation | None:
    """What follows for so many values from what was measured with others; None if that is one compilation for all."""
    found = _known(seen, told, values, evidence, region)
    return found if found is not None and found.costs else None


def _known(
    seen: Observed, told: guards.Compiled | None, values: int, evidence: tuple[Related, ...], region: Interpreted
) -> Recompilation | None:
    """The same, also of what takes one compilation."""
    if told is None or not told.compilations:
        return None
    if told.lasting:
        number = min(told.compilations, values)
        return Recompilation(seen, number, values, limit=False, evidence=evidence, settles=True)
    refused = told.compilations < guards.limit(region.torch)
    most = told.compilations if refused else _limit(region)
    unbounded = values >= MANY and most > guards.limit(region.torch)  # the program allows for more: perhaps for all
    limit = values > most and not unbounded
    return Recompilation(seen, min(most, values), values, limit, evidence, refused=refused)
