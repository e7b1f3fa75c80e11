"""What is known of compiled regions, held against what they may be compiled to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.recorded import plain_name
from nonstrict.confirm.testing import is_test_file
from nonstrict.report.budget import Balance, Held, Known
from nonstrict.settings.budget import NUMBERS, covers, governing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nonstrict.coverage import Region
    from nonstrict.findings import Measured
    from nonstrict.settings.budget import Budget
    from nonstrict.settings.model import Settings
    from nonstrict.settings.projects import Projects


class Figures(NamedTuple):
    """A region, by the absolute path and the name of its function, and what is known of its numbers.

    Of what runs tell it `is_sure` that it is a region, and no function that one calls, where the analysis knows it.
    """

    path: str
    line: int
    function: str
    known: Mapping[str, Known]
    is_sure: bool = True


def figures(regions: Iterable[Region], measured: Iterable[tuple[float, Measured]]) -> tuple[Figures, ...]:
    """What is known of regions: what runs or experiments `measured`, and when, else what the analysis foretells."""
    found: dict[tuple[str, str], Figures] = {}
    for when, one in measured:
        path, function = one.path, plain_name(one.function)
        found[path, function] = Figures(path, one.line, function, _measured(one, when), is_sure=False)
    for region in regions:
        where = region.defined
        if where is None or region.missed:
            continue
        path, function = os.path.abspath(where.path), plain_name(region.function)
        before = found.get((path, function))
        is_measured = before is not None and any(one.is_measured for one in before.known.values())
        told = before.known if before is not None and is_measured else _foretold(region, before)
        found[path, function] = Figures(path, where.line, function, told)
    return tuple(sorted(found.values(), key=lambda one: (one.path, one.line, one.function)))


def _measured(one: Measured, when: float) -> dict[str, Known]:
    graphs, again = len(one.graphs), sum(again.times for again in one.again)
    told = {"graphs": Known(graphs, graphs, when)}
    # Experiments vary what a region is compiled for until torch gives up: the program itself may not.
    return told if one.backends else {**told, "recompilations": Known(again, again, when)}


def _foretold(region: Region, before: Figures | None) -> dict[str, Known]:
    """The graphs of a region that is compiled at several places: those of the one that takes most."""
    graphs = region.foretold
    known = [Known(*graphs)] if graphs is not None else []
    known += [before.known["graphs"]] if before is not None and "graphs" in before.known else []
    return {"graphs": max(known)} if known else {}


def held(known: Iterable[Figures], budgets: Sequence[Budget]) -> Iterator[Held]:
    """Each number of a region for which there is a budget."""
    for region in known:
        for number in NUMBERS:
            entry = governing(budgets, number, region.path, region.function)
            allowed = entry.allowed(number) if entry is not None else None
            if entry is not None and allowed is not None and (region.is_sure or entry.function):
                told = region.known.get(number)
                is_own = bool(entry.function)
                yield Held(region.path, region.line, region.function, number, told, allowed, entry.key, is_own)


def idle(known: Sequence[Figures], budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    """The entries of which no region is known."""
    return tuple(one for one in budgets if not any(one.covers(each.path, each.function) for each in known))


def unlimited(known: Iterable[Figures], budgets: Sequence[Budget]) -> tuple[Figures, ...]:
    """The regions for which there is no budget, those of tests left out."""
    return tuple(
        one
        for one in known
        if _deserves(one) and all(governing(budgets, number, one.path, one.function) is None for number in NUMBERS)
    )


def budget_of(projects: Projects) -> tuple[Budget, ...]:
    """The entries of all projects."""
    return tuple(dict.fromkeys(entry for one in projects.every for entry in one.budget))


def base_of(projects: Projects, path: str) -> str:
    """The folder of the configuration that counts for a file, to which its entries are relative."""
    return base_in(projects.of(path))


def base_in(settings: Settings) -> str:
    """The folder to which the entries of a configuration are relative."""
    return os.path.dirname(settings.source) if settings.source is not None else settings.root


def moved(known: Sequence[Figures], budgets: Sequence[Budget], base: Callable[[str], str]) -> dict[Budget, Budget]:
    """The entries of files that are gone whose region is elsewhere now in the project, and what they should be.

    Only one region of the name may be without an entry of its own: else nobody can tell which one it is. `base` gives
    the folder of the configuration that counts for a file.
    """
    own = [entry for entry in budgets if entry.function]
    free = [one for one in known if one.is_sure and not any(entry.covers(one.path, one.function) for entry in own)]
    found: dict[Budget, Budget] = {}
    for entry in own:
        there = (one for one in free if base(one.path) == entry.base)
        named = [one for one in there if covers("", entry.function, one.path, one.function, entry.base)]
        rivals = [one for one in own if (one.function, one.base) == (entry.function, entry.base) and one.is_gone]
        if len(named) == len(rivals) == 1 and entry in rivals:
            place = _key(named[0], entry.base).partition("::")[0]
            found[entry] = entry._replace(key=f"{place}::{entry.function}")
    return found


def followed(known: Sequence[Figures], budgets: Sequence[Budget], base: Callable[[str], str]) -> tuple[Budget, ...]:
    """The entries, each where its region is now: as the baseline, a budget survives that a file is moved."""
    now = moved(known, budgets, base)
    return tuple(now.get(one, one) for one in budgets)


def rewritten(
    known: Sequence[Figures], budgets: Sequence[Budget], base: Callable[[str], str]
) -> dict[str, dict[str, dict[str, int]]]:
    """The entries that have to be added or changed for the budget to say what is known, by their bases and keys.

    An entry of a folder is only made less, and only where all below it was measured. `base`: see `moved`.
    """
    changes: dict[str, dict[str, dict[str, int]]] = {}

    def change(where: str, key: str, number: str, most: int) -> None:
        changes.setdefault(where, {}).setdefault(key, {})[number] = most

    for region in known:
        for number in NUMBERS:
            told = region.known.get(number)
            entry = governing(budgets, number, region.path, region.function)
            needs = _deserves(region) if entry is None else told is not None and _differs(told, entry, number)
            # That nothing is compiled is nothing to be kept.
            if told is None or not needs or (number == "graphs" and not told.most):
                continue
            own = next((one for one in budgets if one.function and one.covers(region.path, region.function)), None)
            where = own.base if own is not None else base(region.path)
            change(where, own.key if own is not None else _key(region, where), number, told.most)
    for entry in budgets:
        for number in NUMBERS if not entry.function else ():
            least = _least(entry, number, known, budgets)
            if least is not None:
                change(entry.base, entry.key, number, least)
    return changes


def _deserves(region: Figures) -> bool:
    """Whether a region is to have a budget: it has a name, and is none that a test makes for itself."""
    return region.is_sure and not region.function.endswith("<lambda>") and not is_test_file(region.path)


def _differs(told: Known, entry: Budget, number: str) -> bool:
    """Whether a region takes more than an entry allows, or less than one that is its own."""
    allowed = entry.allowed(number) or 0
    return told.least > allowed or (bool(entry.function) and told.is_measured and told.most < allowed)


def _least(entry: Budget, number: str, known: Iterable[Figures], budgets: Sequence[Budget]) -> int | None:
    """What would do for all regions that an entry of a folder limits; None if it is not less, or not known.

    Those that exceed it get entries of their own.
    """
    allowed = entry.allowed(number)
    below = [one for one in known if governing(budgets, number, one.path, one.function) is entry]
    told = [one.known.get(number) for one in below]
    told = [one for one in told if one is None or not _differs(one, entry, number)]
    sure = [one.most for one in told if one is not None and one.is_measured]
    if allowed is None or not sure or len(sure) < len(told) or max(sure) >= allowed:
        return None
    return max(sure)


def _key(region: Figures, root: str) -> str:
    path = os.path.relpath(region.path, root).replace(os.sep, "/")
    return f"{path}::{region.function}"


def balance_of(known: Sequence[Figures], budgets: Sequence[Budget], base: Callable[[str], str]) -> Balance:
    """A budget, as reports show it; `base`: see `moved`."""
    now, budgets = moved(known, budgets, base), followed(known, budgets, base)
    keys = {(one.base, one.key) for one in now.values()}
    keys |= {(where, key) for where, changes in rewritten(known, budgets, base).items() for key in changes}
    without = tuple(one.key for one in idle(known, budgets))
    told = {before.key: after.key for before, after in now.items()}
    return Balance(tuple(held(known, budgets)), without, len(unlimited(known, budgets)), len(keys), told)
