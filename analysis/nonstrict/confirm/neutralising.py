"""Programs in which one finding of a function is left, so that the others do not stand in the way of its experiment.

The others are mended with our own fixes, or the statement or expression that they stand in is left out. What is then
compared is eager code with the same change.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.programs import program_of
from nonstrict.findings import Applicability, LocatedEdit, LocatedFix, Location
from nonstrict.fixes.applying import CannotApply, Places, moved, replaced, replacements
from nonstrict.rules.expectation import Trait
from nonstrict.text.source import UnreadableSource, read_source
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect

#: Statements that do nothing but what is left out with them.
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Assert, ast.Raise)
#: Nodes with a condition.
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)


class Neutral(NamedTuple):
    """A program with one finding, the other findings that are left beside it, and what was done about the rest."""

    program: Program
    suspect: Suspect
    others: tuple[Suspect, ...]
    done: tuple[str, ...]


class _Way(NamedTuple):
    """Edits after which a finding no longer counts, and what they are in words."""

    done: str
    fix: LocatedFix


def neutral(program: Program, suspect: Suspect, suspects: Sequence[Suspect]) -> Iterator[Neutral]:
    """The programs in which other findings do not stand in the way of one, the likeliest first.

    At first those of its function are taken away, then all of the program.
    """
    others = [other for other in suspects if other.places != suspect.places and not other.is_probe]
    near = [other for other in others if other.function == suspect.function]
    seen: set[tuple[LocatedEdit, ...]] = set()
    for rivals, orders in ((near, _ORDERS), (others, _ORDERS[:2])):
        for order in orders if rivals else ():
            found = _without(program, suspect, rivals, order)
            if found is not None and found[1] not in seen:
                seen.add(found[1])
                yield found[0]


_MENDED, _LEFT_OUT, _REPLACED, _REPLACED_OTHERWISE = range(4)
#: In which order ways are tried.
_ORDERS = (
    (_MENDED, _LEFT_OUT, _REPLACED, _REPLACED_OTHERWISE),
    (_LEFT_OUT, _REPLACED, _MENDED, _REPLACED_OTHERWISE),
    (_REPLACED, _LEFT_OUT, _MENDED, _REPLACED_OTHERWISE),
    (_REPLACED_OTHERWISE, _LEFT_OUT, _MENDED, _REPLACED),
)


def _without(
    program: Program, suspect: Suspect, rivals: Sequence[Suspect], order: Sequence[int]
) -> tuple[Neutral, tuple[LocatedEdit, ...]] | None:
    """The program with the rivals neutralised as far as they can be, and the edits; None if none of them can."""
    texts = _Texts(program)
    places = Places()
    places.take(LocatedFix("", Applicability.SAFE, (LocatedEdit(_around(suspect), ""),)))
    taken: list[_Way] = []
    others: list[Suspect] = []
    for rival in rivals:
        ways = [way for kind in order for way in texts.ways(rival, kind)]
        way = next((one for one in ways if one in taken or places.take(one.fix)), None)
        if way is None:
            others.append(rival)
        elif way not in taken:
            taken.append(way)
    edits = tuple(edit for way in taken for edit in way.fix.edits)
    changed = texts.changed(edits) if edits else None
    if changed is None:
        return None
    kept = tuple(_moved(other, edits) for other in others)
    return Neutral(changed, _moved(suspect, edits), kept, tuple(way.done for way in taken)), edits


class _Texts:
    """The files of a program, as experiments see them."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._read: dict[str, str | None] = {program.path: program.text, **program.overlays}

    def ways(self, rival: Suspect, kind: int) -> Iterator[_Way]:
        """The ways of one kind to neutralise a finding."""
        if kind == _MENDED:
            # Those of notebooks speak of cells.
            fixes = rival.fixes if not self._program.in_cells else ()
            yield from (_Way(_told(rival, "mended"), _with_absolute_paths(fix)) for fix in fixes)
            return
        if rival.has(Trait.IN_FAKES):
            # What a fake returns in its place is another mismatch.
            return
        text = self._text(rival.path)
        tree = _parsed(text) if text is not None else None
        if text is None or tree is None:
            return
        found = _expression(tree, rival)
        if kind == _LEFT_OUT:
            statement = _statement(tree, rival)
            if statement is not None:
                rows = (statement.end_lineno or statement.lineno) - statement.lineno
                yield _way(rival, text, statement, "pass" + "\n" * rows, "left out")
        elif found is not None:
            first = kind == _REPLACED
            value = str(first) if _is_condition(tree, found) else ("1" if first else "None")
            yield _way(rival, text, found, value, f"replaced by {value}")

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


def _statement(tree: ast.Module, rival: Suspect) -> ast.stmt | None:
    """The statement that a finding stands in, if it can be left out."""
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and rival.lines <= _lines(node)]
    inner = min(around, key=lambda node: len(_lines(node)), default=None)
    return inner if isinstance(inner, _SIMPLE) and _lines(inner) >= rival.lines else None


def _expression(tree: ast.Module, rival: Suspect) -> ast.expr | None:
    """The expression that a finding is about."""
    start, end = (min(rival.lines), rival.column), (max(rival.lines), rival.end_column)
    found = (node for node in ast.walk(tree) if isinstance(node, ast.expr))
    return next((one for one in found if _starts(one) == start and _ends(one) == end), None)


def _starts(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _ends(node: ast.expr) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


def _is_condition(tree: ast.Module, node: ast.expr) -> bool:
    return any(isinstance(other, _ASKING) and other.test is node for other in ast.walk(tree))


def _lines(node: ast.stmt) -> frozenset[int]:
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _way(rival: Suspect, text: str, node: ast.stmt | ast.expr, new: str, done: str) -> _Way:
    lines = text.split("\n")
    end_row, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = _characters(lines, node.lineno, node.col_offset)
    where = Location(rival.path, node.lineno, start, end_row, _characters(lines, end_row, end_column))
    return _Way(_told(rival, done), LocatedFix("", Applicability.UNSAFE, (LocatedEdit(where, new),)))


def _told(rival: Suspect, done: str) -> str:
    return f"{rival.code} ({done}, line {min(rival.lines)})"


def _characters(lines: Sequence[str], row: int, column: int) -> int:
    """A column from 1 in code points, of one from 0 in UTF-8 bytes."""
    line = lines[row - 1].encode("utf-8", "surrogatepass")[:column]
    return len(line.decode("utf-8", "surrogatepass")) + 1


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

    first = min(suspect.lines)
    at = moved(Location(suspect.path, first, suspect.column + 1, first, suspect.column + 1), edits)
    wide = suspect.end_column - suspect.column
    return suspect._replace(
        lines=frozenset(line - first + at[0] for line in suspect.lines),
        column=at[1] - 1 if suspect.column >= 0 else suspect.column,
        end_column=at[1] - 1 + wide if suspect.column >= 0 else suspect.end_column,
        marked_line=row(suspect.file, suspect.marked_line),
        chain=rows(suspect.chain),
        writers=rows(suspect.writers),
    )
