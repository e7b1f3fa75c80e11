"""The top-level statements of a text, told apart by what they say and not by where."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.slices import imported_names, slice_for, statements_of
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.confirm.slices import Slice, Statement

#: Comments that decide how a function is run.
_DIRECTIVE = re.compile(r"#\s*nonstrict:")


class Piece(NamedTuple):
    """A top-level statement: its lines (from 1, inclusive, with decorators) in the analysed code, and their text.

    To the text belong the comments above that are for this program.
    """

    first: int
    last: int
    text: str
    statement: Statement


class Pieces:
    """The pieces of one text."""

    def __init__(self, lines: Sequence[str], pieces: Sequence[Piece]) -> None:
        """Take the lines of a text, and its pieces in order; see `pieces_of`."""
        self.lines = lines
        self.pieces = pieces
        self.texts = [piece.text for piece in pieces]
        self._ends = [piece.last for piece in pieces]

    def at(self, line: int) -> int | None:
        """The position of the piece that holds a line, or follows it; None behind the last one."""
        index = bisect.bisect_left(self._ends, line)
        return index if index < len(self.pieces) else None

    def statements(self) -> list[Statement]:
        """The statements, for slices; their positions in the text are not to be relied on."""
        return [piece.statement for piece in self.pieces]


def pieces_of(code: str, before: Pieces | None = None) -> Pieces | None:
    """The pieces of a text; None if it does not parse.

    With those of an earlier state of the same file, only what lies between unchanged pieces is parsed.
    """
    lines = code.split("\n")
    if before is not None:
        edited = _edited(lines, before)
        if edited is not None:
            return edited
    found = _parsed(lines, 0, len(lines))
    return Pieces(lines, found) if found is not None else None


def _edited(lines: Sequence[str], before: Pieces) -> Pieces | None:
    """The pieces after an edit; None where what was edited does not parse by itself."""
    old = before.lines
    shorter = min(len(old), len(lines))
    same = next((n for n in range(shorter) if old[n] != lines[n]), shorter)
    rest = shorter - same
    after = next((n for n in range(rest) if old[len(old) - 1 - n] != lines[len(lines) - 1 - n]), rest)
    shift = len(lines) - len(old)
    pieces = before.pieces
    stop = bisect.bisect_right([piece.last for piece in pieces], same)
    # The line after a statement may continue it, and pieces may share a line.
    while stop and (pieces[stop - 1].last == same or _shares_line(pieces, stop)):
        stop -= 1
    resume = bisect.bisect_right([piece.first for piece in pieces], len(old) - after)
    # What was written above the first unchanged piece may be part of its text.
    resume = max(resume + 1, stop)
    while resume < len(pieces) and _shares_line(pieces, resume):
        resume += 1
    head, tail = pieces[:stop], pieces[resume:]
    begin = head[-1].last if head else 0
    end = tail[0].first - 1 + shift if tail else len(lines)
    between = _parsed(lines, begin, end)
    if between is None:
        return None
    moved = [piece._replace(first=piece.first + shift, last=piece.last + shift) for piece in tail]
    return Pieces(lines, [*head, *between, *moved])


def _shares_line(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a piece begins on the line on which the one before it ends."""
    return 0 < index < len(pieces) and pieces[index - 1].last >= pieces[index].first


def _parsed(lines: Sequence[str], begin: int, end: int) -> list[Piece] | None:
    """The pieces of the lines from `begin` (from 0) up to `end`; None if they do not parse by themselves."""
    try:
        tree = tree_of("\n".join(lines[begin:end]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: list[Piece] = []
    last = begin
    for statement in statements_of(tree):
        node = statement.node
        first = begin + min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        told = (line for line in lines[last : first - 1] if _DIRECTIVE.search(line))
        last = begin + (node.end_lineno or node.lineno)
        found.append(Piece(first, last, "\n".join((*told, *lines[first - 1 : last])), statement))
    return found


class Change(NamedTuple):
    """What became of the pieces of an old text in a new one: those that were added, those that were removed."""

    added: list[Piece]
    removed: list[Piece]


def change_between(old: Pieces, new: Pieces) -> Change:
    """What was added and removed; moving a piece is neither."""
    gone = Counter(old.texts)
    gone.subtract(new.texts)
    come = {text: -count for text, count in gone.items() if count < 0}
    return Change(
        [piece for piece in new.pieces if piece.text in come],
        [piece for piece in old.pieces if gone[piece.text] > 0],
    )


class Ground:
    """The statements that an experiment rests on: those that it kept, and all that have to do with what these read."""

    def __init__(self, text: Pieces, kept: Iterable[int]) -> None:
        """Close some pieces of a text over what they need."""
        positions = [index for index in kept if index < len(text.pieces)]
        statements = text.statements()
        bound = {name for index in positions for name in statements[index].binds}
        self._slice: Slice = slice_for(statements, bound, positions)
        self._imported = imported_names(statements)
        self._texts = [text.texts[index] for index in sorted(self._slice.kept)]
        #: What is defined here, as others would name it.
        self._defined = bound - self._imported

    def is_in(self, new: Pieces, change: Change) -> bool:
        """Whether a text has the same statements in the same order, and no others that have to do with them."""
        if change.removed and not set(self._texts).isdisjoint(piece.text for piece in change.removed):
            return False
        remaining = iter(new.texts)
        if not all(any(text == other for other in remaining) for text in self._texts):
            return False
        return not self._is_touched(new, change)

    def is_used_alike(self, change: Change) -> bool:
        """Whether nothing that mentions what is defined here was added or removed."""
        return all(self._defined.isdisjoint(piece.statement.loads) for piece in (*change.added, *change.removed))

    def _is_touched(self, new: Pieces, change: Change) -> bool:
        """Whether a slice of the new text would keep more."""
        if not change.added and not change.removed:
            return False
        statements = new.statements()
        imported = imported_names(statements)
        fresh = [piece.statement for piece in change.added]
        if imported != self._imported:
            # What is imported decides which statements change a value, and which set something of a library.
            other = imported ^ self._imported
            fresh += [one for one in statements if not other.isdisjoint(one.loads | one.changes)]
        named = frozenset[str]().union(*(one.loads | one.changes | one.binds for one in fresh))
        imports = [one for one in statements if not (imported & named).isdisjoint(one.binds)]
        kept = slice_for([*fresh, *imports], self._slice.names).kept
        return any(index < len(fresh) for index in kept)
