"""What can be done about the findings of some rows, best first: mend one, all of its rule, look closer, suppress it.

Everything here runs in the thread of the analysis.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from nonstrict.check.live.verdicts import marker_of
from nonstrict.check.selection import codes_by_name
from nonstrict.findings import Applicability, Status
from nonstrict.fixes.suppressing import suppress_in_file, suppress_on_line
from nonstrict.rules.registry import RULES
from nonstrict_server.regions import undecided

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nonstrict.check.live.fixed import Choose
    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.engine import Engine

    CanMake = Callable[[Iterable[LocatedEdit]], bool]

_SUFFIXES = {Applicability.SAFE: "", Applicability.UNSAFE: " (unsafe)", Applicability.DISPLAY: " (to complete)"}
#: What edits are shown for before they are made, where a client can.
_WARNINGS = {
    Applicability.UNSAFE: "Eager code may compute something else, or callers that were not analyzed may break",
}
_CODES = codes_by_name(RULES)


class Sweep(NamedTuple):
    """All fixes of a rule in a file that are at least so applicable."""

    code: str
    least: Applicability


class Run(NamedTuple):
    """An experiment: `confirm` a function that is marked or compiled in a file, or show its `graph`."""

    what: Literal["confirm", "graph"]
    path: str
    function: str


class Offer(NamedTuple):
    """Something to do about some findings: edits, or a sweep, whose edits are made when somebody wants them.

    Instead of edits there may be an experiment to `run`. The `warning` is what edits are reviewed for.
    """

    title: str
    diagnostics: tuple[Diagnostic, ...]
    edits: tuple[LocatedEdit, ...] = ()
    preferred: bool = False
    sweep: Sweep | None = None
    #: The confirmed finding that is confirmed again afterwards.
    again: Diagnostic | None = None
    run: Run | None = None
    suppresses: bool = False
    warning: str = ""


def offers(
    engine: Engine, place: Place, rows: tuple[int, int], can_make: CanMake, is_outdated: Callable[[], bool]
) -> list[Offer]:
    """What is offered for some rows of a document.

    Raises:
        SupersededError: `is_outdated` was true before all was known.
    """
    source, known = engine.source(place.path), engine.diagnostics(place.path)
    touched = [one for one in known if _lies_in(one, place, rows)]
    if source is None or not touched:
        return []
    mended = engine.with_fixes(place.path, touched, is_outdated)
    mendable = [(one, fix) for one in mended for fix in one.fixes if can_make(fix.edits)]
    suppressible = {(one.code, one.location): one for one in touched if not one.code.startswith("NST9")}
    return [
        *_fixes(mendable),
        *_sweeps(mendable, Counter(one.code for one in known)),
        *_confirmed_again(mendable),
        *_experiments(engine, touched),
        *_suppressions(source, suppressible.values()),
    ]


def title_of(words: str, code: str = "", applicability: Applicability = Applicability.SAFE, *, then: str = "") -> str:
    """The title of an action: ``NST101: Pass `scale` as an argument (unsafe), then confirm``.

    The `code` is given where actions for several rules stand in one list, as these titles do not tell them apart.
    """
    return f"{code}: {words}{_SUFFIXES[applicability]}{then}".removeprefix(": ")


def _lies_in(diagnostic: Diagnostic, place: Place, rows: tuple[int, int]) -> bool:
    where = diagnostic.location
    return where.cell == place.cell and where.row <= rows[1] and where.end_row >= rows[0]


def _named(mendable: Sequence[tuple[Diagnostic, LocatedFix]]) -> Callable[[str], str]:
    """Gives the code of a rule as titles of fixes have it: empty if all of them are for one rule."""
    several = len({one.code for one, _ in mendable}) > 1
    return lambda code: code if several else ""


def _fixes(mendable: Sequence[tuple[Diagnostic, LocatedFix]]) -> Iterator[Offer]:
    """One offer for each fix, which may mend several findings; the best safe one of a finding is preferred."""
    groups: dict[tuple[str, LocatedFix], list[Diagnostic]] = {}
    preferred: dict[Diagnostic, tuple[str, LocatedFix]] = {}
    named = _named(mendable)
    for diagnostic, fix in sorted(mendable, key=lambda one: -one[1].applicability):
        key = (diagnostic.code, fix)
        groups.setdefault(key, []).append(diagnostic)
        if fix.applicability is Applicability.SAFE:
            preferred.setdefault(diagnostic, key)
    for (code, fix), diagnostics in groups.items():
        yield Offer(
            title_of(fix.title, named(code), fix.applicability),
            tuple(diagnostics),
            fix.edits,
            preferred=(code, fix) in preferred.values(),
            warning=_WARNINGS.get(fix.applicability, ""),
        )


def _sweeps(mendable: Sequence[tuple[Diagnostic, LocatedFix]], counts: Counter[str]) -> Iterator[Offer]:
    """One offer for each rule that has several findings in the file."""
    best: dict[str, tuple[Applicability, list[Diagnostic]]] = {}
    for diagnostic, fix in mendable:
        least, diagnostics = best.get(diagnostic.code, (Applicability.DISPLAY, []))
        kept = diagnostics if diagnostic in diagnostics else [*diagnostics, diagnostic]
        best[diagnostic.code] = max(least, fix.applicability), kept
    for code, (least, diagnostics) in best.items():
        if counts[code] > 1 and least > Applicability.DISPLAY:
            title = title_of(f"Fix all {code} in this file", applicability=least)
            yield Offer(title, tuple(diagnostics), sweep=Sweep(code, least), warning=_WARNINGS.get(least, ""))


def _confirmed_again(mendable: Sequence[tuple[Diagnostic, LocatedFix]]) -> Iterator[Offer]:
    """One offer for each confirmed finding: its best fix, reviewed first and confirmed afterwards."""
    best: dict[Diagnostic, LocatedFix] = {}
    named = _named(mendable)
    for one, fix in sorted(mendable, key=lambda pair: -pair[1].applicability):
        if one.verdict is not None and one.verdict.status is Status.CONFIRMED and one.function:
            best.setdefault(one._replace(fixes=()), fix)
    for one, fix in best.items():
        if fix.applicability > Applicability.DISPLAY:
            title = title_of(fix.title, named(one.code), fix.applicability, then=", then confirm")
            warning = _WARNINGS.get(fix.applicability, "")
            yield Offer(title, (one,), fix.edits, again=one, warning=warning)


def _experiments(engine: Engine, touched: Sequence[Diagnostic]) -> Iterator[Offer]:
    """For each function with a finding: confirm it while one has no verdict, and show its graph."""
    functions: dict[tuple[str, str], list[Diagnostic]] = {}
    for one in touched:
        if one.function:
            functions.setdefault((marker_of(one).path, one.function), []).append(one)
    for (path, function), found in functions.items():
        left = undecided(found)
        if left:
            yield Offer(title_of(f"Confirm `{function}`"), left, run=Run("confirm", path, function))
        defined = _defined_in(engine, path, function)
        if defined:
            yield Offer(title_of(f"Show FX graph of `{function}`"), tuple(found), run=Run("graph", defined, function))


def _defined_in(engine: Engine, path: str, function: str) -> str:
    """The file that defines a function which is marked or compiled in a file; empty if nobody knows."""
    marks = (one.definition.path for one in engine.marks(path) if one.function == function and one.definition)
    regions = (one.defined.path for one in engine.regions(path) if one.function == function and one.defined)
    return next(marks, "") or next(regions, "")


def _suppressions(source: Source, suppressible: Iterable[Diagnostic]) -> Iterator[Offer]:
    suppressible = list(suppressible)
    for where, suppress in (("line", suppress_on_line), ("file", suppress_in_file)):
        known: set[tuple[str, LocatedEdit]] = set()
        for one in suppressible:
            edit = suppress(source, one.location, one.code, _CODES)
            if edit is not None and (one.code, edit) not in known:
                known.add((one.code, edit))
                yield Offer(title_of(f"Disable {one.code} for this {where}"), (one,), (edit,), suppresses=True)


def of_rule(sweep: Sweep, can_make: CanMake) -> Choose:
    """The fixes of a sweep, in whatever files their edits are."""
    return lambda diagnostics: _first(
        (one for one in diagnostics if one.code == sweep.code),
        lambda fix: fix.applicability >= sweep.least and can_make(fix.edits),
    )


def safe_ones(place: Place) -> Choose:
    """The safe fixes of a document, or of a notebook's cell or all of its cells, that edit nothing else.

    Other files would be left unsaved beside one that is being saved.
    """

    def is_inside(edit: LocatedEdit) -> bool:
        where = edit.location
        return where.path == place.path and (place.cell is None or where.cell == place.cell)

    return lambda diagnostics: _first(
        (one for one in diagnostics if place.cell is None or one.location.cell == place.cell),
        lambda fix: fix.applicability is Applicability.SAFE and all(map(is_inside, fix.edits)),
    )


def _first(
    diagnostics: Iterable[Diagnostic], accepts: Callable[[LocatedFix], bool]
) -> Iterator[tuple[Diagnostic, LocatedFix]]:
    for one in diagnostics:
        fix = next((fix for fix in one.fixes if accepts(fix)), None)
        if fix is not None:
            yield one, fix
