"""Verdicts of experiments in texts that go on changing: which of them still hold, and for which findings.

A verdict is found by what its finding says (rule, function, message, subject) and by where it lies: the line within its
top-level statement. It holds as long as what the experiment rested on is the same:

- of the file of the marked function, the statements that the experiment kept, those of the finding and of its function,
  and everything that a slice of the text adds to these. Lines may move, other statements may come and go, unless they
  have to do with what the kept ones read;
- for what is not confirmed, also the statements that mention what is defined there: they may be callers that tell more.
  Where nothing is known of what was kept, all statements of the file;
- the other files that were loaded, as a whole.

So an edit elsewhere leaves a verdict alone, and undoing an edit brings it back.

Where none holds any more, the last one is told of an earlier text: it is stale. Its finding is known again by rule,
function and cause, wherever it lies now. What is stale counts for nothing.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.live.pieces import Change, Ground, Pieces, change_between, pieces_of
from nonstrict.confirm.suspects import code_line
from nonstrict.findings import Status
from nonstrict.text.source import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.findings import Diagnostic, Location, Subject, Verdict
    from nonstrict.text.source import Source

#: Rounds of experiments that are remembered for a file: texts that undoing may bring back.
_ROUNDS = 6


class _Key(NamedTuple):
    """What a finding says, and where: in the file of the program, lines are counted from the beginning of the piece."""

    path: str
    code: str
    function: str
    marker: str
    message: str
    subject: Subject | None
    line: int
    column: int

    @property
    def cause(self) -> tuple[object, ...]:
        """What stays the same when the code around a finding is edited."""
        return self.path, self.code, self.function, self.marker, self.subject or self.message

    def far_from(self, other: _Key) -> tuple[int, int]:
        """How far two places are apart."""
        return abs(self.line - other.line), abs(self.column - other.column)


class _Kept(NamedTuple):
    """A verdict, and the statements that it rests on; None if these are all."""

    verdict: Verdict
    ground: Ground | None


class _Strange(NamedTuple):
    """An NST900, with what it rests on and the piece that it lies in."""

    diagnostic: Diagnostic
    ground: Ground | None
    piece: int


def marker_of(diagnostic: Diagnostic) -> Location:
    """Where the marked function of a finding is marked, which decides on whose file experiments run."""
    return diagnostic.related[0].location if diagnostic.links else diagnostic.location


def ways_of(diagnostic: Diagnostic) -> tuple[tuple[str, Location], ...]:
    """The marked functions that come to the place of a finding, each with its marker: first the one it is told of."""
    return ((diagnostic.function, marker_of(diagnostic)), *diagnostic.others)


def reached_by(diagnostic: Diagnostic, paths: AbstractSet[str], function: str = "") -> bool:
    """Whether a function that is marked in one of some files comes to the place of a finding; any if none is named."""
    return any(name and function in ("", name) and marker.path in paths for name, marker in ways_of(diagnostic))


class Texts:
    """The texts of files as they are now: those of open documents, else those on the disk."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._sources: dict[str, tuple[object, Source]] = {}
        self._pieces: dict[str, tuple[str, Pieces | None]] = {}
        self._digests: dict[str, tuple[object, str]] = {}

    def pieces(self, path: str, code: str) -> Pieces | None:
        """The pieces of a file with this text; what did not change since the last call is not parsed again."""
        known = self._pieces.get(path)
        if known is not None and known[0] == code:
            return known[1]
        found = pieces_of(code, known[1] if known is not None else None)
        # Of a text that does not parse, the next one is not an edit.
        self._pieces[path] = (code, found)
        return found

    def source(self, path: str, opened: Mapping[str, Source]) -> Source | None:
        """The source of a file; None if it cannot be read."""
        from nonstrict.text.source import UnreadableSource, read_source

        source = opened.get(path)
        if source is not None:
            return source
        state = _state(path)
        known = self._sources.get(path)
        if known is not None and known[0] == state:
            return known[1]
        try:
            source = read_source(path)
        except UnreadableSource:
            return None
        self._sources[path] = (state, source)
        return source

    def digest(self, path: str, opened: Mapping[str, Source]) -> str:
        """A text that tells the contents of a file apart, empty if it cannot be read."""
        source = opened.get(path)
        state: object = source if source is not None else _state(path)
        known = self._digests.get(path)
        if known is not None and (known[0] is source if source is not None else known[0] == state):
            return known[1]
        digest = _digest(path, source)
        self._digests[path] = (state, digest)
        return digest


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _digest(path: str, source: Source | None) -> str:
    from nonstrict.text.source import UnreadableSource, read_source

    try:
        code = (source or read_source(path)).code
    except UnreadableSource:
        return ""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


class Round:
    """The verdicts of the experiments of one program."""

    def __init__(self, path: str, code: str, text: Pieces) -> None:
        """Begin without verdicts; `path` is that of the program."""
        self.path = path
        self.code = code
        self._text = text
        self._others: dict[str, str] = {}
        self._kept: dict[_Key, _Kept] = {}
        self._grounds: dict[frozenset[int], Ground] = {}
        self._compared: tuple[Pieces | None, Change] = (None, Change([], []))

    def rest_on(self, files: Mapping[str, str]) -> None:
        """Note the other files that were loaded, with their digests."""
        self._others |= {path: digest for path, digest in files.items() if path != self.path}

    def put(
        self, diagnostic: Diagnostic, line: int, verdict: Verdict, lines: Iterable[int], kept: frozenset[int] | None
    ) -> bool:
        """Keep a verdict; `line` is that of the finding in the analysed code, `lines` are those that it rests on.

        Tells whether there was another one.
        """
        key, fresh = self.key(diagnostic, line, self._text), _Kept(verdict, self.ground(lines, kept))
        known, self._kept[key] = self._kept.get(key), fresh
        return fresh != known

    def ground(self, lines: Iterable[int], kept: frozenset[int] | None) -> Ground | None:
        """What rests on some lines and statements of the program."""
        if kept is None:
            return None
        at = (self._text.at(line) for line in lines)
        positions = kept | {index for index in at if index is not None}
        if positions not in self._grounds:
            self._grounds[positions] = Ground(self._text, positions)
        return self._grounds[positions]

    def verdict(
        self, diagnostic: Diagnostic, line: int, code: str, now: Pieces, texts: Texts, opened: Mapping[str, Source]
    ) -> Verdict | None:
        """The verdict of a finding, if it holds for the text as it is now."""
        kept = self._kept.get(self.key(diagnostic, line, now))
        if kept is None or not self._others_hold(texts, opened):
            return None
        if code != self.code and not self._holds(kept.ground, now, is_proof=kept.verdict.status is Status.CONFIRMED):
            return None
        return kept.verdict

    def earlier(self, keys: Sequence[_Key], waiting: Sequence[_Key]) -> dict[_Key, Verdict]:
        """The verdicts of findings without one that holds, each of the nearest finding of the same cause.

        `keys` are those of all findings now: what one of the others has, is not of a finding that waits.
        """
        others = set(keys).difference(waiting)
        left: dict[tuple[object, ...], list[_Key]] = {}
        for key in self._kept.keys() - others:
            left.setdefault(key.cause, []).append(key)
        pairs = [(one, key) for one in waiting for key in left.get(one.cause, ())]
        found: dict[_Key, Verdict] = {}
        taken: set[_Key] = set()
        for one, key in sorted(pairs, key=lambda pair: (pair[0].far_from(pair[1]), pair[1].line, pair[1].column)):
            if one not in found and key not in taken:
                found[one] = self._kept[key].verdict
                taken.add(key)
        return found

    def holds(self, ground: Ground | None, code: str, now: Pieces, texts: Texts, opened: Mapping[str, Source]) -> bool:
        """Whether something that is no proof for good still holds."""
        return self._others_hold(texts, opened) and (code == self.code or self._holds(ground, now, is_proof=False))

    def is_of(self, code: str, texts: Texts, opened: Mapping[str, Source]) -> bool:
        """Whether its experiments were made in these texts."""
        return code == self.code and self._others_hold(texts, opened)

    def piece(self, line: int) -> int | None:
        """The position of the piece at a line."""
        return self._text.at(line)

    def shift(self, piece: int, now: Pieces) -> int | None:
        """By how many lines a piece has moved; None if it is gone."""
        known = self._text.pieces[piece]
        moved = (other.first - known.first for other in now.pieces if other.text == known.text)
        return min(moved, key=abs, default=None)

    def _holds(self, ground: Ground | None, now: Pieces, *, is_proof: bool) -> bool:
        if ground is None:
            return now.texts == self._text.texts
        change = self._change(now)
        return ground.is_in(now, change) and (is_proof or ground.is_used_alike(change))

    def _change(self, now: Pieces) -> Change:
        if self._compared[0] is not now:
            self._compared = (now, change_between(self._text, now))
        return self._compared[1]

    def _others_hold(self, texts: Texts, opened: Mapping[str, Source]) -> bool:
        return all(texts.digest(path, opened) == digest for path, digest in self._others.items())

    def key(self, diagnostic: Diagnostic, line: int, text: Pieces) -> _Key:
        """What a finding says, and where it lies in a text."""
        where = diagnostic.location
        if where.path == self.path:
            index = text.at(line)
            line -= text.pieces[index].first if index is not None else 0
        said = (diagnostic.code, diagnostic.function, diagnostic.marker, diagnostic.message, diagnostic.subject)
        return _Key(where.path, *said, line, where.column)


class Verdicts:
    """The verdicts of all files; may be used from several threads."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._lock = threading.Lock()
        self._texts = Texts()
        self._rounds: dict[str, deque[Round]] = {}
        self._strange: dict[str, list[tuple[Round, _Strange]]] = {}

    def begin(self, path: str, code: str, opened: Mapping[str, Source]) -> Round | None:
        """Begin a round of experiments on a program, or take up one in the same texts; None if it does not parse."""
        with self._lock:
            text = self._texts.pieces(path, code)
            if text is None:
                return None
            same = (one for one in reversed(self._rounds.get(path, ())) if one.is_of(code, self._texts, opened))
            return next(same, None) or Round(path, code, text)

    def rest_on(self, round_: Round, files: Iterable[str], opened: Mapping[str, Source]) -> None:
        """Note files that experiments loaded."""
        with self._lock:
            round_.rest_on({path: self._texts.digest(path, opened) for path in files})

    def put(
        self,
        round_: Round,
        diagnostic: Diagnostic,
        sources: Mapping[str, Source],
        verdict: Verdict,
        kept: frozenset[int] | None,
    ) -> bool:
        """Keep a verdict, and that the statements `kept` are what it rests on; None if that is all of them.

        Tells whether there was another one in this round.
        """
        line = code_line(diagnostic.location, sources)
        lines = [code_line(marker_of(diagnostic), sources)]
        if diagnostic.location.path == round_.path:
            lines.append(line)
        with self._lock:
            rounds = self._rounds.setdefault(round_.path, deque(maxlen=_ROUNDS))
            if round_ in rounds:
                rounds.remove(round_)
            rounds.append(round_)
            return round_.put(diagnostic, line, verdict, lines, kept)

    def put_strange(
        self,
        round_: Round,
        functions: frozenset[str],
        found: Iterable[Diagnostic],
        sources: Mapping[str, Source],
        kept: frozenset[int] | None,
    ) -> bool:
        """Keep what no finding explains, in place of what was known of some functions; see `put`."""
        with self._lock:
            known = self._strange.get(round_.path, [])
            listed = [entry for entry in known if entry[1].diagnostic.function not in functions]
            for diagnostic in found:
                line = code_line(diagnostic.location, sources)
                piece = round_.piece(line)
                if piece is not None:
                    listed.append((round_, _Strange(diagnostic, round_.ground([line], kept), piece)))
            self._strange[round_.path] = listed
            return bool(known or listed)

    def differing(self, opened: Mapping[str, Source]) -> dict[str, str]:
        """The texts of open Python files that are others than those on the disk."""
        with self._lock:
            python = (path for path, source in opened.items() if source.kind is SourceKind.PYTHON)
            return {p: opened[p].code for p in python if self._texts.digest(p, opened) != _digest(p, None)}

    def get(self, diagnostic: Diagnostic, opened: Mapping[str, Source]) -> Verdict | None:
        """The newest verdict of a finding that holds."""
        path = marker_of(diagnostic).path
        rounds = self._rounds.get(path)
        if not rounds:
            return None
        with self._lock:
            source = self._texts.source(path, opened)
            other = self._texts.source(diagnostic.location.path, opened)
            now = self._texts.pieces(path, source.code) if source is not None else None
            if source is None or other is None or now is None:
                return None
            line = code_line(diagnostic.location, {diagnostic.location.path: other})
            found = (r.verdict(diagnostic, line, source.code, now, self._texts, opened) for r in reversed(rounds))
            return next((verdict for verdict in found if verdict is not None), None)

    def earlier(self, diagnostics: Sequence[Diagnostic], opened: Mapping[str, Source]) -> dict[Diagnostic, Verdict]:
        """The last verdicts of those findings of a file, of all that it has, for which none holds any more."""
        found: dict[Diagnostic, Verdict] = {}
        by_program: dict[str, list[Diagnostic]] = {}
        for one in diagnostics:
            by_program.setdefault(marker_of(one).path, []).append(one)
        for path, listed in by_program.items():
            if self._rounds.get(path):
                waiting = [one for one in listed if self.get(one, opened) is None]
                found |= self._earlier(path, listed, waiting, opened)
        return found

    def _earlier(
        self, path: str, listed: Sequence[Diagnostic], waiting: Sequence[Diagnostic], opened: Mapping[str, Source]
    ) -> dict[Diagnostic, Verdict]:
        with self._lock:
            source = self._texts.source(path, opened)
            now = self._texts.pieces(path, source.code) if source is not None else None
            places = {one.location.path: self._texts.source(one.location.path, opened) for one in listed}
            sources = {place: text for place, text in places.items() if text is not None}
            if now is None or len(sources) < len(places):
                return {}
            lines = {one: code_line(one.location, sources) for one in listed}
            found: dict[Diagnostic, Verdict] = {}
            for round_ in reversed(self._rounds.get(path, ())):
                left = [one for one in waiting if one not in found]
                keys = {one: round_.key(one, line, now) for one, line in lines.items()}
                told = round_.earlier(list(keys.values()), [keys[one] for one in left])
                found |= {one: told[keys[one]] for one in left if keys[one] in told}
            return found

    def strange(self, path: str, opened: Mapping[str, Source]) -> tuple[Diagnostic, ...]:
        """The NST900 of a file that hold, where they lie now."""
        if not self._strange.get(path):
            return ()
        with self._lock:
            source = self._texts.source(path, opened)
            now = self._texts.pieces(path, source.code) if source is not None else None
            if source is None or now is None:
                return ()
            entries = self._strange.get(path, [])
            held = [one for one in entries if one[0].holds(one[1].ground, source.code, now, self._texts, opened)]
            moved = (_moved(one.diagnostic, round_.shift(one.piece, now), source) for round_, one in held)
            return tuple(diagnostic for diagnostic in moved if diagnostic is not None)


def _moved(diagnostic: Diagnostic, shift: int | None, source: Source) -> Diagnostic | None:
    if not shift:
        return None if shift is None else diagnostic
    if source.kind is not SourceKind.PYTHON:
        return None
    where = diagnostic.location
    return diagnostic._replace(location=where._replace(row=where.row + shift, end_row=where.end_row + shift))
