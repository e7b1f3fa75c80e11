"""The result of a marked file, mark by mark, so that an edit within one definition costs only the marks it concerns.

After such an edit marks are found anew, which is cheap, and only those are looked at that the edited definition may
concern (`nonstrict.check.live.mentions`); what was found for the others is kept, moved to where the text is now.
Wherever more than the bodies of a few definitions changed, or something else came of it than was expected, the whole
file is examined.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.live.mentions import Mentions, Piece, edited_sheet, names_operators, parts_of, sheet_of
from nonstrict.check.live.results import SeenMark, seen_mark
from nonstrict.check.live.texts import differing_lines
from nonstrict.check.shares import nearest
from nonstrict.facts.words import identifiers
from nonstrict.program.contracts.marks import unattached
from nonstrict.program.domain import marker_words
from nonstrict.program.domain.effects import span_of
from nonstrict.program.linking.imports import stem_of
from nonstrict.program.linking.searches import imported_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.check.examination import Examined, Told
    from nonstrict.coverage import Region
    from nonstrict.facts.outline import Chunk, Outline
    from nonstrict.findings import Finding, Span
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: So many definitions may have changed between two looks at a file.
_MAX_CHANGED = 4
#: With more files that import the edited one, comparing all their names costs more than it spares.
_MAX_READERS = 8
#: Words that mean something for a whole file, or for all files, wherever they stand.
_FAR_REACHING = re.compile(
    r"\b(?:global|nonlocal|import|export|draft_export|library|environ|putenv|unsetenv|set_stance|config|globals|exec"
    r"|eval|train|(?:un)?register\w*|\w*pytree\w*|dataclass|impl\w*|fullgraph|error_on_graph_break|nopython|optimize_assert|\w*compile\w*"
    r"|__all__|" + "|".join(sorted(map(re.escape, marker_words.ALL_WORDS | marker_words.OPERATOR_WORDS))) + r")\b"
)


class Unit(NamedTuple):
    """One mark or region: the pieces of its file that it stands in, and what was found.

    `key` tells it from the others of its file whatever happens to the lines above. It is `outside` if it was applied in
    another file. `regions` are the applications of a region.
    """

    key: tuple[object, ...]
    pieces: frozenset[int]
    outside: bool
    mark: SeenMark
    findings: tuple[Finding, ...]
    regions: tuple[Region, ...] = ()


class Seen(NamedTuple):
    """A file as it was when all its marks had been looked at.

    `evaluated` are the pieces that were interpreted outside traced bodies, `elsewhere` the same for other files;
    `words` are the names by which markers were applied, `operators` tells whether it may define some. `mentions` are
    those of its pieces and of the files `readers`, once that was asked for, and `active` the pieces that any
    interpreted one leads to. `others` are the applications of `torch.compile` to what was not looked at.
    """

    path: str
    outline: Outline
    sheet: tuple[Piece, ...]
    lines: Lines
    units: tuple[Unit, ...]
    evaluated: frozenset[int]
    elsewhere: frozenset[tuple[str, str | int]]
    words: frozenset[str]
    operators: bool
    others: tuple[Region, ...] = ()
    readers: tuple[Outline, ...] = ()
    mentions: Mentions | None = None
    active: frozenset[int] = frozenset()

    def findings(self) -> list[Finding]:
        """One finding for each rule and place, as if all marks had been looked at together."""
        return list(nearest(finding for unit in self.units for finding in unit.findings).values())

    def regions(self) -> tuple[Region, ...]:
        """All applications of `torch.compile` that are known."""
        return (*(region for unit in self.units for region in unit.regions), *self.others)

    def marks(self) -> tuple[SeenMark, ...]:
        """The marks and regions that were applied in the file."""
        return tuple(
            dict.fromkeys(
                unit.mark for unit in self.units if not unit.outside and unit.mark.kind not in unattached.KINDS
            )
        )


class Lines:
    """Which piece of a file a line lies in."""

    def __init__(self, sheet: Sequence[Piece]) -> None:
        """Sort the pieces by line."""
        self._order = sorted(range(len(sheet)), key=lambda number: sheet[number].line)
        self._first = [sheet[number].line for number in self._order]

    def piece(self, line: int) -> int:
        """The number of the piece; -1 above the first."""
        index = bisect_right(self._first, line) - 1
        return self._order[index] if index >= 0 else -1


def seen(path: str, outline: Outline, examined: Examined, machine: Machine) -> Seen:
    """What is to be remembered of an examination of all marks of a file."""
    sheet = sheet_of(outline)
    lines = Lines(sheet)
    inside, elsewhere = _evaluated(path, machine, sheet, lines)
    units = tuple(unit_of(path, one, sheet, lines) for one in examined.told)
    others = _others(examined.share.looked.regions, units)
    words = frozenset(machine.words)
    return Seen(path, outline, sheet, lines, units, inside, elsewhere, words, names_operators(outline), others)


def _others(regions: Iterable[Region], units: Iterable[Unit]) -> tuple[Region, ...]:
    """The applications that none of the marks and regions has."""
    known = {region.key for unit in units for region in unit.regions}
    return tuple(region for region in regions if region.key not in known)


def unit_of(path: str, told: Told, sheet: Sequence[Piece], lines: Lines) -> Unit:
    """A mark or region that was looked at."""
    key, pieces = _key(path, told.body, sheet, lines)
    return Unit(key, pieces, told.body.mark.path != path, seen_mark(told.body), told.findings, told.regions)


def _key(
    path: str, body: MarkedBody, sheet: Sequence[Piece], lines: Lines
) -> tuple[tuple[object, ...], frozenset[int]]:
    mark, at = body.mark, body.marked_at
    places: list[tuple[object, ...]] = []
    pieces: set[int] = set()
    spans = [at]
    if mark.function is not None:
        spans.append(span_of(mark.function.module.path, mark.function.offset, mark.function.node))
    for span in spans:
        if span.path == path:
            piece = lines.piece(span.line)
            pieces.add(piece)
            places.append((piece, span.line - (sheet[piece].line if piece >= 0 else 0), span.column))
        else:
            places.append(tuple(span))
    return (body.function, body.marker, body.api, *places), frozenset(pieces)


def _evaluated(
    path: str, machine: Machine, sheet: Sequence[Piece], lines: Lines
) -> tuple[frozenset[int], frozenset[tuple[str, str | int]]]:
    names: dict[str, list[int]] = {}
    for number, piece in enumerate(sheet):
        if piece.name:
            names.setdefault(piece.name, []).append(number)
    inside: set[int] = set()
    for where, what in machine.evaluated:
        if where == path:
            inside.update(names.get(what, ()) if isinstance(what, str) else (lines.piece(what),))
    return frozenset(inside), frozenset(one for one in machine.evaluated if one[0] != path)


class Again:
    """A file of which only the bodies of some definitions changed since all its marks were looked at."""

    def __init__(self, before: Seen, outline: Outline, changed: frozenset[int]) -> None:
        """Compare two states; see `again`, which tells whether that is enough."""
        self._before = before
        self._outline = outline
        self._changed = changed
        self._sheet = edited_sheet(before.sheet, outline, changed, operators=before.operators)
        self._lines = Lines(self._sheet)
        self._known = {unit.key for unit in before.units}
        self._doubtful: set[tuple[object, ...]] = set()
        self._needed: set[str] = set()
        self._readers: tuple[Outline, ...] = ()
        self._mentions: Mentions | None = None
        self._active: frozenset[int] = frozenset()

    def reaches_out(self, others: Iterable[Module]) -> bool:
        """Whether what changed may change something that other files read, which do not import this one."""
        imported = {name for piece in self._sheet if not piece.name and piece.imports for name in piece.defines}
        words = [
            word
            for number in self._changed
            for word in self._sheet[number].changes | self._before.sheet[number].changes
        ]
        if any(word in imported for word in words):
            return True
        attributes = [word for word in words if word[0] == "."]
        return bool(attributes) and any(word in module.source.code for module in others for word in attributes)

    def look(self, readers: Sequence[Module]) -> None:
        """Find which marks the edit may concern; `readers` are the other files that lead to this one."""
        before = self._before
        self._readers = tuple(module.outline for module in readers)
        known = before.mentions if before.readers == self._readers else None
        mentions = self._mentions = known or _mentions(before, self._readers)
        for number in self._changed:
            mentions.add(number, self._sheet[number])
        new = set(self._changed)
        if known is None:
            # A function that nothing interprets outside traced bodies tells nothing of what it calls.
            looked_at = {piece for unit in before.units for piece in unit.pieces if piece >= 0}
            new |= {*before.evaluated, *looked_at, *range(len(self._sheet), len(mentions))}
        active = self._active = before.active | mentions.below(mentions.parts(new))
        leading = mentions.above(mentions.parts(self._changed))
        concerned = mentions.numbers(mentions.used_by(leading & active) | leading)
        doubtful = [
            unit
            for unit in before.units
            if unit.outside or not concerned.isdisjoint(unit.pieces) or self._lies_in_changed(unit)
        ]
        self._doubtful = {unit.key for unit in doubtful}
        pieces = {piece for unit in doubtful for piece in unit.pieces if piece >= 0} | self._changed
        needed = mentions.numbers(mentions.below(mentions.users(mentions.parts(pieces), active)))
        self._needed = {before.sheet[number].name for number in needed if number < len(before.sheet)}

    def wanted(self, body: MarkedBody) -> bool:
        """Whether a mark is to be looked at."""
        key, pieces = _key(self._before.path, body, self._sheet, self._lines)
        return key in self._doubtful or key not in self._known or not self._changed.isdisjoint(pieces)

    def concerns(self, module: Module, chunk: Chunk) -> bool:
        """Whether a definition may have to do with the marks that are to be looked at."""
        return module.path != self._before.path or chunk.name in self._needed

    def result(self, examined: Examined, machine: Machine) -> Seen | None:
        """What is known of the file now; None if something else came of the edit than bodies can tell."""
        before = self._before
        fresh = [unit_of(before.path, one, self._sheet, self._lines) for one in examined.told]
        keys = {unit.key for unit in fresh}
        gone = {unit.key for unit in before.units if self._changed.isdisjoint(unit.pieces)} & self._doubtful - keys
        new = any(unit.key not in self._known and self._changed.isdisjoint(unit.pieces) for unit in fresh)
        inside, elsewhere = _evaluated(before.path, machine, self._sheet, self._lines)
        if gone or new or frozenset(machine.words) != before.words or not elsewhere <= before.elsewhere:
            return None
        if not inside - self._changed <= before.evaluated:
            return None
        still = all(was.line == now.line for was, now in zip(before.sheet, self._sheet, strict=True))
        kept = [
            unit if still else self._moved(unit)
            for unit in before.units
            if unit.key not in self._doubtful and self._changed.isdisjoint(unit.pieces)
        ]
        units = (*kept, *fresh)
        return Seen(
            before.path,
            self._outline,
            self._sheet,
            self._lines,
            units,
            before.evaluated | inside,
            before.elsewhere,
            before.words,
            before.operators,
            _others((*self._kept_others(), *self._fresh_others(examined)), units),
            self._readers,
            self._mentions,
            self._active,
        )

    def _kept_others(self) -> Iterator[Region]:
        """The applications to what was not looked at, in what did not change."""
        return (region.moved(self._at) for region in self._before.others if not self._is_in_changed(region.span))

    def _fresh_others(self, examined: Examined) -> Iterator[Region]:
        """Those in what changed."""
        path, lines = self._before.path, self._lines
        found = (region for region in examined.share.looked.regions if region.span.path == path)
        return (region for region in found if lines.piece(region.span.line) in self._changed)

    def _lies_in_changed(self, unit: Unit) -> bool:
        return any(
            self._is_in_changed(span)
            for places in (
                *(finding.spans for finding in unit.findings),
                *(region.spans for region in unit.regions),
            )
            for span in places
        )

    def _is_in_changed(self, span: Span) -> bool:
        """Whether a place as it was before lies in what changed."""
        piece = self._before.lines.piece
        return span.path == self._before.path and not self._changed.isdisjoint((piece(span.line), piece(span.end_line)))

    def _moved(self, unit: Unit) -> Unit:
        definition = self._at(unit.mark.definition) if unit.mark.definition is not None else None
        mark = unit.mark._replace(span=self._at(unit.mark.span), definition=definition)
        findings = tuple(finding.moved(self._at) for finding in unit.findings)
        regions = tuple(region.moved(self._at) for region in unit.regions)
        return unit._replace(mark=mark, findings=findings, regions=regions)

    def _at(self, span: Span) -> Span:
        """Where a span is now."""
        piece = self._before.lines.piece(span.line) if span.path == self._before.path else -1
        by = self._sheet[piece].line - self._before.sheet[piece].line if piece >= 0 else 0
        return span._replace(line=span.line + by, end_line=span.end_line + by) if by else span


def _mentions(before: Seen, readers: Iterable[Outline]) -> Mentions:
    """The pieces of a file, those with marks whole, and of the files that lead to it."""
    looked_at = {piece for unit in before.units for piece in unit.pieces}
    pieces: list[Sequence[Piece]] = [[piece] for piece in before.sheet]
    for number, chunk in enumerate(before.outline.chunks):
        if number not in looked_at:
            pieces[number] = parts_of(chunk, operators=before.operators)
    for outline in readers:
        operators = names_operators(outline)
        sheet = sheet_of(outline)
        pieces += (
            [piece] if _FAR_REACHING.search(chunk.text) else parts_of(chunk, operators=operators)
            for piece, chunk in zip(sheet, outline.chunks, strict=False)
        )
        pieces += ([piece] for piece in sheet[len(outline.chunks) :])
    return Mentions(pieces)


def again(before: Seen, outline: Outline, read: Iterable[Module]) -> Again | None:
    """What an edit changed, if no more than the bodies of some definitions; `read` are the files read before."""
    changed = _changed(before, outline)
    if changed is None:
        return None
    others = [module for module in read if module.path != before.path]
    readers = _importing(before.path, others)
    if len(readers) > _MAX_READERS:
        return None
    made = Again(before, outline, changed)
    if made.reaches_out(set(others) - set(readers)):
        return None
    made.look(readers)
    return made


def _changed(before: Seen, outline: Outline) -> frozenset[int] | None:
    """The numbers of the definitions whose text differs; None if anything else does, or something far-reaching."""
    old, new = before.outline, outline
    if old.exact or new.exact or len(old.chunks) != len(new.chunks):
        return None
    changed: set[int] = set()
    was = now = 0
    for number, (one, other) in enumerate(zip(old.chunks, new.chunks, strict=True)):
        same = one.name == other.name and one.is_class == other.is_class
        if not same or old.code[was : one.start] != new.code[now : other.start] or other.broken:
            return None
        was, now = one.end, other.end
        if one.length != other.length or one.text != other.text:
            changed.add(number)
            lines = differing_lines(one.text, other.text)
            if len(changed) > _MAX_CHANGED or any(_is_far_reaching(text, before.words) for text in lines):
                return None
    return frozenset(changed) if old.code[was:] == new.code[now:] else None


def _is_far_reaching(text: str, words: frozenset[str]) -> bool:
    return _FAR_REACHING.search(text) is not None or not words.isdisjoint(identifiers(text))


def _importing(path: str, modules: Sequence[Module]) -> list[Module]:
    """The modules that may import a file, directly or through one another, told by the names on their import lines."""
    found: list[Module] = []
    rest = [(module, imported_words(module.source.code.encode("utf-8", "surrogatepass"))) for module in modules]
    stems = {stem_of(path)}
    while stems:
        layer = [module for module, words in rest if not stems.isdisjoint(words)]
        rest = [(module, words) for module, words in rest if stems.isdisjoint(words)]
        found += layer
        stems = {stem_of(module.path) for module in layer}
    return found
