"""Programs in which one finding of a function is left, so that the others do not stand in the way of its experiment.

The others are mended with our own fixes, or taken out otherwise (see `neutral_ways`). What is then compared is eager
code with the same change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.neutral_ways import (
    LEFT_OUT,
    MENDED,
    REPLACED,
    REPLACED_OTHERWISE,
    WITH_ITS_VALUE,
    Text,
    Way,
    told,
    ways,
)
from nonstrict.confirm.programs import program_of
from nonstrict.findings import Applicability, LocatedEdit, LocatedFix, Location
from nonstrict.fixes.applying import CannotApply, Places, moved, replaced, replacements
from nonstrict.rules.expectation import Experiment
from nonstrict.text.source import UnreadableSource, read_source
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect


class Neutral(NamedTuple):
    """A program with one finding, the other findings that are left beside it, and what was done about the rest.

    In one that `shows_only`, agreement says nothing of the finding: what it is about may be gone with the others.
    """

    program: Program
    suspect: Suspect
    others: tuple[Suspect, ...]
    done: tuple[str, ...]
    shows_only: bool = False


def neutral(
    program: Program, suspect: Suspect, suspects: Sequence[Suspect], ran: Mapping[str, Collection[int]] | None = None
) -> Iterator[Neutral]:
    """The programs in which other findings do not stand in the way of one, the likeliest first.

    At first those of its function are taken away, then all of the program. `ran` are the lines that eager code executes
    in calls of regions: conditions are decided as they are there.
    """
    others = [other for other in suspects if not other.is_probe and not _is_at(other, suspect)]
    near = [other for other in others if other.function == suspect.function]
    seen: set[tuple[LocatedEdit, ...]] = set()
    for rivals, orders in ((near, _ORDERS), (others, _ORDERS[:2])):
        for order in orders if rivals else ():
            found = _without(_Texts(program, ran or {}), suspect, rivals, order)
            if found is not None and found[1] not in seen:
                seen.add(found[1])
                yield found[0]


def without(program: Program, suspect: Suspect, ran: Mapping[str, Collection[int]] | None = None) -> Iterator[Program]:
    """The programs without one finding, the likeliest first; their statements are those of the program, line by line.

    `ran` are the lines that eager code executes in calls of regions.
    """
    texts, nowhere = _Texts(program, ran or {}), suspect._replace(lines=frozenset({0}), column=-1, end_column=-1)
    for kind in _IN_PLACE:
        for way in texts.ways(suspect, kind, nowhere):
            changed = texts.changed(way.fix.edits)
            if changed is not None:
                yield changed


def _is_at(other: Suspect, suspect: Suspect) -> bool:
    """Whether a finding is about the same expression as another; about the same lines, where columns are not known."""
    if other.number == suspect.number or other.span is None or suspect.span is None:
        return other.places == suspect.places
    return other.path == suspect.path and other.span == suspect.span


def _is_inside(other: Suspect, suspect: Suspect) -> bool:
    """Whether a finding is about a part of the expression that another is about."""
    if other.span is None or suspect.span is None or other.path != suspect.path:
        return False
    return suspect.span.covers(other.span)


#: In which order ways are tried.
_ORDERS = (
    (MENDED, WITH_ITS_VALUE, LEFT_OUT, REPLACED, REPLACED_OTHERWISE),
    (LEFT_OUT, WITH_ITS_VALUE, REPLACED, MENDED, REPLACED_OTHERWISE),
    (REPLACED, LEFT_OUT, WITH_ITS_VALUE, MENDED, REPLACED_OTHERWISE),
    (REPLACED_OTHERWISE, LEFT_OUT, MENDED, WITH_ITS_VALUE, REPLACED),
)
#: Ways that move no other statement.
_IN_PLACE = (WITH_ITS_VALUE, LEFT_OUT, REPLACED, REPLACED_OTHERWISE)
#: What may be done about a part of the finding's own expression.
_INSIDE = frozenset({WITH_ITS_VALUE, REPLACED, REPLACED_OTHERWISE})


def _without(
    texts: _Texts, suspect: Suspect, rivals: Sequence[Suspect], order: Sequence[int]
) -> tuple[Neutral, tuple[LocatedEdit, ...]] | None:
    """The program with the rivals neutralised as far as they can be, and the edits; None if none of them can."""
    around, within = Places(), Places()
    around.take(LocatedFix("", Applicability.SAFE, (LocatedEdit(_around(suspect), ""),)))
    taken: list[Way] = []
    others: list[Suspect] = []
    constant = False
    # What is stored first: where it is kept for the call alone, what reads it captures nothing any more.
    for rival in sorted(rivals, key=lambda one: one.experiment is not Experiment.EFFECT):
        inside = _is_inside(rival, suspect)
        kinds = [kind for kind in order if not inside or kind in _INSIDE]
        found = [way for kind in kinds for way in texts.ways(rival, kind, suspect)]
        places = within if inside else around
        way = next((one for one in found if one in taken or places.take(one.fix)), None)
        if way is None:
            others += [rival] if rival.number >= 0 else []
        elif way not in taken:
            taken.append(way)
            constant = constant or inside or (way.constant and suspect.expectation.is_refused)
    edits = tuple(edit for way in taken for edit in way.fix.edits)
    changed = texts.changed(edits) if edits else None
    if changed is None:
        return None
    kept = tuple(_moved(other, edits) for other in others)
    done = tuple(way.done for way in taken)
    return Neutral(changed, _moved(suspect, edits), kept, done, constant), edits


class _Texts:
    """The files of a program, as experiments see them."""

    def __init__(self, program: Program, ran: Mapping[str, Collection[int]]) -> None:
        self._program = program
        self._ran = ran
        self._read: dict[str, str | None] = {program.path: program.text, **program.overlays}

    def ways(self, rival: Suspect, kind: int, spared: Suspect) -> Iterator[Way]:
        """The ways of one kind to neutralise a finding, beside one that stays."""
        if kind == MENDED:
            # Those of notebooks speak of cells.
            fixes = rival.fixes if not self._program.in_cells else ()
            yield from (Way(told(rival, "fix applied"), _with_absolute_paths(fix)) for fix in fixes)
            return
        text = self._text(rival.path)
        tree = _parsed(text) if text is not None else None
        if text is not None and tree is not None:
            yield from ways(Text(text.split("\n"), tree, self._ran.get(rival.path)), rival, kind, spared)

    def changed(self, edits: Sequence[LocatedEdit]) -> Program | None:
        """The program with some edits made; None where they cannot be."""
        texts: dict[str, str] = {}
        try:
            for path in {edit.location.path for edit in edits}:
                text = self._text(path)
                if text is None:
                    return None
                here = [edit for edit in edits if edit.location.path == path]
                texts[path] = replaced(text, replacements(text, here))
        except CannotApply:
            return None
        program = self._program
        own = texts.pop(program.path, program.text)
        overlays = {**program.overlays, **texts}
        return program_of(program.path, own, program.root, overlays, program.makers, in_cells=program.in_cells)

    def _text(self, path: str) -> str | None:
        if path not in self._read:
            try:
                self._read[path] = read_source(path).code
            except UnreadableSource:
                self._read[path] = None
        return self._read[path]


def _with_absolute_paths(fix: LocatedFix) -> LocatedFix:
    edits = (one._replace(location=one.location._replace(path=os.path.abspath(one.location.path))) for one in fix.edits)
    return fix._replace(edits=tuple(edits))


def _parsed(text: str) -> ast.Module | None:
    try:
        return tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _around(suspect: Suspect) -> Location:
    """The lines of a finding as far as its columns are known: what is done about others leaves them as they are."""
    first, last = min(suspect.lines), max(suspect.lines)
    if suspect.column < 0:
        return Location(suspect.path, first, 1, last + 1, 1)
    return Location(suspect.path, first, suspect.column + 1, last, suspect.end_column + 1)


def _moved(suspect: Suspect, edits: Sequence[LocatedEdit]) -> Suspect:
    """A finding where it stands once some edits are made."""

    def row(path: str, line: int, column: int = 1) -> int:
        return moved(Location(path, line, column, line, column), edits)[0]

    def rows(places: frozenset[tuple[str, int]]) -> frozenset[tuple[str, int]]:
        return frozenset((path, row(path, line)) for path, line in places)

    first, last = min(suspect.lines), max(suspect.lines)
    at = moved(Location(suspect.path, first, suspect.column + 1, first, suspect.column + 1), edits)
    # What is edited inside of it ends with it.
    end = moved(Location(suspect.path, last, suspect.end_column + 1, last, suspect.end_column + 1), edits)
    return suspect._replace(
        lines=frozenset(range(at[0], end[0] + 1)) if suspect.end_column >= 0 else _shifted(suspect, at[0] - first),
        column=at[1] - 1 if suspect.column >= 0 else suspect.column,
        end_column=end[1] - 1 if suspect.end_column >= 0 else suspect.end_column,
        marked_line=row(suspect.file, suspect.marked_line),
        chain=rows(suspect.chain),
        writers=rows(suspect.writers),
    )


def _shifted(suspect: Suspect, rows: int) -> frozenset[int]:
    return frozenset(line + rows for line in suspect.lines)
