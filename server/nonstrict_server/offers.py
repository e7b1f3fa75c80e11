"""What can be done about the findings of some rows, best first: mend one, all of its rule, or suppress it.

Everything here runs in the thread of the analysis.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.selection import codes_by_name
from nonstrict.findings import Applicability, Status
from nonstrict.fixes.suppressing import suppress_in_file, suppress_on_line
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nonstrict.check.live.fixed import Choose
    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.engine import Engine

    CanMake = Callable[[Iterable[LocatedEdit]], bool]

_SUFFIXES = {Applicability.SAFE: "", Applicability.UNSAFE: " (unsafe)", Applicability.DISPLAY: " (to complete)"}
_CODES = codes_by_name(RULES)


class Sweep(NamedTuple):
    """All fixes of a rule in a file that are at least so applicable."""

    code: str
    least: Applicability


class Offer(NamedTuple):
    """Something to do about some findings: edits, or a sweep, whose edits are made when somebody wants them."""

    title: str
    diagnostics: tuple[Diagnostic, ...]
    edits: tuple[LocatedEdit, ...] = ()
    preferred: bool = False
    sweep: Sweep | None = None
    #: The confirmed finding that is confirmed again afterwards.
    again: Diagnostic | None = None


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
        *_suppressions(source, suppressible.values()),
    ]


def _lies_in(diagnostic: Diagnostic, place: Place, rows: tuple[int, int]) -> bool:
    where = diagnostic.location
    return where.cell == place.cell and where.row <= rows[1] and where.end_row >= rows[0]


def _fixes(mendable: Sequence[tuple[Diagnostic, LocatedFix]]) -> Iterator[Offer]:
    """One offer for each fix, which may mend several findings; the best safe one of a finding is preferred."""
    groups: dict[tuple[str, LocatedFix], list[Diagnostic]] = {}
    preferred: dict[Diagnostic, tuple[str, LocatedFix]] = {}
    for diagnostic, fix in sorted(mendable, key=lambda one: -one[1].applicability):
        key = (diagnostic.code, fix)
        groups.setdefault(key, []).append(diagnostic)
        if fix.applicability is Applicability.SAFE:
            preferred.setdefault(diagnostic, key)
    for (code, fix), diagnostics in groups.items():
        title = f"nonstrict ({code}): {fix.title}{_SUFFIXES[fix.applicability]}"
        yield Offer(title, tuple(diagnostics), fix.edits, preferred=(code, fix) in preferred.values())


def _sweeps(mendable: Sequence[tuple[Diagnostic, LocatedFix]], counts: Counter[str]) -> Iterator[Offer]:
    """One offer for each rule that has several findings in the file."""
    best: dict[str, tuple[Applicability, list[Diagnostic]]] = {}
    for diagnostic, fix in mendable:
        least, diagnostics = best.get(diagnostic.code, (Applicability.DISPLAY, []))
        kept = diagnostics if diagnostic in diagnostics else [*diagnostics, diagnostic]
        best[diagnostic.code] = max(least, fix.applicability), kept
    for code, (least, diagnostics) in best.items():
        if counts[code] > 1 and least > Applicability.DISPLAY:
            title = f"nonstrict ({code}): Fix all in this file{_SUFFIXES[least]}"
            yield Offer(title, tuple(diagnostics), sweep=Sweep(code, least))


def _confirmed_again(mendable: Sequence[tuple[Diagnostic, LocatedFix]]) -> Iterator[Offer]:
    """One offer for each confirmed finding: its best fix, reviewed first and confirmed afterwards."""
    best: dict[Diagnostic, LocatedFix] = {}
    for one, fix in sorted(mendable, key=lambda pair: -pair[1].applicability):
        if one.verdict is not None and one.verdict.status is Status.CONFIRMED and one.function:
            best.setdefault(one._replace(fixes=()), fix)
    for one, fix in best.items():
        if fix.applicability > Applicability.DISPLAY:
            title = f"nonstrict ({one.code}): {fix.title}{_SUFFIXES[fix.applicability]}, then confirm"
            yield Offer(title, (one,), fix.edits, again=one)


def _suppressions(source: Source, suppressible: Iterable[Diagnostic]) -> Iterator[Offer]:
    suppressible = list(suppressible)
    for title, suppress in (
        ("Disable for this line", suppress_on_line),
        ("Disable for this file", suppress_in_file),
    ):
        known: set[tuple[str, LocatedEdit]] = set()
        for one in suppressible:
            edit = suppress(source, one.location, one.code, _CODES)
            if edit is not None and (one.code, edit) not in known:
                known.add((one.code, edit))
                yield Offer(f"nonstrict ({one.code}): {title}", (one,), (edit,))


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
