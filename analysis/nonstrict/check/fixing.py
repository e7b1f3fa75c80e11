"""Applies fixes to a fixpoint, in memory: some that are apart, a new analysis, the next ones.

A fix that breaks its promise is our mistake: one after which the file does not parse, the finding stays, or a new error
is found. It is taken back and told, and the others go on.
"""

from __future__ import annotations

import builtins
import keyword
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import told_of
from nonstrict.facts.words import identifiers
from nonstrict.findings import Severity
from nonstrict.fixes.applying import CannotApply, Places, applied, moved
from nonstrict.text.source import UnreadableSource, read_bytes, repaired, source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix, Location
    from nonstrict.text.source import Source

    #: Checks everything anew, with some sources in place of what the disk holds.
    Examine = Callable[[Mapping[str, Source]], CheckResult]
    #: What is to be done about the findings of a run: a fix for some of them.
    Propose = Callable[[CheckResult], Iterable[tuple[Diagnostic, LocatedFix]]]

    #: What tells a finding from others: its rule, what it says, its file, and where it starts.
    Place = tuple[str, str, str, int | None, int, int]

#: Analyses at most; a project whose fixes need more has fixes that make work for one another.
MAX_ROUNDS = 100
_NO_NAMES = frozenset({*dir(builtins), *keyword.kwlist})
_REPORT = "This is a bug of nonstrict; please report it."
_TAKEN_BACK = f"and was taken back. {_REPORT}"


class Change(NamedTuple):
    """The bytes of a file as they were read, and as they are to be."""

    path: str
    before: bytes
    after: bytes


class Fixed(NamedTuple):
    """What was done: the findings of the text after it, the files that change, and the findings that were fixed.

    `mistakes` are sentences about fixes that were taken back, `faults` are exceptions of nonstrict in making some.
    """

    result: CheckResult
    changes: tuple[Change, ...]
    fixed: tuple[Diagnostic, ...]
    mistakes: tuple[str, ...]
    faults: tuple[Diagnostic, ...] = ()


def fix(examine: Examine, propose: Propose, known: Mapping[str, bytes] | None = None) -> Fixed:
    """Apply what is proposed until nothing is left; `known` are the bytes of files that are not on the disk.

    Raises:
        ConfigurationError: as `nonstrict.check.run.check`.
    """
    return _Fixing(examine, propose, dict(known or {})).done()


class _BrokenError(Exception):
    """A file does not parse after some fixes."""


class _Step(NamedTuple):
    """A fix of a round, and the findings that it is the fix of."""

    fix: LocatedFix
    findings: list[Diagnostic]

    @property
    def key(self) -> tuple[object, ...]:
        """What a fix is known by in later rounds, when everything has moved."""
        finding = self.findings[0]
        texts = tuple((edit.location.path, edit.text) for edit in self.fix.edits)
        return finding.code, finding.location.path, finding.function, self.fix.title, texts


class _Fixing:
    """The rounds, and what they made of the files so far."""

    def __init__(self, examine: Examine, propose: Propose, before: dict[str, bytes]) -> None:
        self._examine = examine
        self._propose = propose
        self._before = before
        self._now: dict[str, bytes] = {}
        self._refused: set[tuple[object, ...]] = set()
        self._fixed: list[Diagnostic] = []
        self._mistakes: list[str] = []
        self._faults: list[Diagnostic] = []

    def done(self) -> Fixed:
        result = self._examine({})
        states = {frozenset(self._now.items())}
        limit = len(result.diagnostics)
        for _ in range(MAX_ROUNDS):
            refused = len(self._refused)
            steps, texts = self._next(result, limit)
            if not steps and len(self._refused) == refused:
                break
            if not steps:
                continue
            if frozenset({**self._now, **texts}.items()) in states:
                self._refuse(steps[0], f"leads back to a text that others had changed, {_TAKEN_BACK}")
                continue
            after = self._examine(_sources({**self._now, **texts}))
            wrong = _wrong(result, after, steps)
            if wrong:
                for step, reason in wrong:
                    self._refuse(step, f"{reason}, {_TAKEN_BACK}")
            elif _accuses(result, after, steps):
                if len(steps) == 1:
                    self._refuse(steps[0], f"would have made a new error, {_TAKEN_BACK}")
                limit = max(len(steps) // 2, 1)
            else:
                result = after
                self._now.update(texts)
                states.add(frozenset(self._now.items()))
                self._fixed += [finding for step in steps for finding in step.findings]
                limit *= 2
        else:
            self._mistakes.append(f"Fixes still change something after {MAX_ROUNDS} rounds. {_REPORT}")
        changes = (Change(path, self._before[path], data) for path, data in sorted(self._now.items()))
        kept = tuple(change for change in changes if change.before != change.after)
        return Fixed(result, kept, tuple(self._fixed), tuple(self._mistakes), tuple(self._faults))

    def _refuse(self, step: _Step, reason: str) -> None:
        """Never try a fix again, and say why."""
        if step.key in self._refused:
            return
        self._refused.add(step.key)
        finding = step.findings[0]
        where = finding.location
        cell = "" if where.cell is None else f"cell {where.cell}:"
        place = f"{where.path}:{cell}{where.row}:{where.column}"
        self._mistakes.append(f"{place}: the fix of {finding.code} ({step.fix.title}) {reason}")

    def _lose(self, step: _Step, error: Exception) -> None:
        """Never try a fix again that fails for a mistake of nonstrict."""
        self._refused.add(step.key)
        finding = step.findings[0]
        lost = f"the fix of {finding.code} ({step.fix.title}) cannot be made"
        self._faults.append(told_of(error, lost, finding.location))

    def _next(self, result: CheckResult, limit: int) -> tuple[list[_Step], dict[str, bytes]]:
        """At most so many fixes that can be made together, and the files that they change, which parse."""
        places = Places()
        steps: dict[tuple[LocatedEdit, ...], _Step] = {}
        for finding, fix in self._propose(result):
            step = _Step(fix, [finding])
            if fix.edits in steps:
                steps[fix.edits].findings.append(finding)
            elif len(steps) < limit and step.key not in self._refused and self._takes(places, step):
                steps[fix.edits] = step
        taken = self._without_last(list(steps.values()))
        try:
            return taken, self._texts(taken)
        except Exception:  # noqa: BLE001 - whose it is, shows when each is made by itself
            return self._one_by_one(taken)

    def _takes(self, places: Places, step: _Step) -> bool:
        """Whether a fix touches none of those that were taken; it is taken then."""
        try:
            return places.take(step.fix)
        except Exception as error:  # noqa: BLE001 - the boundary of one fix
            self._lose(step, error)
            return False

    def _without_last(self, steps: list[_Step]) -> list[_Step]:
        """Some fixes without the last one of those that take out uses of the same name.

        In a later round that one sees that nothing else uses the name, and takes it out too.
        """
        sources: dict[str, Source] = {}
        users: dict[tuple[str, str], list[int]] = {}
        for number, step in enumerate(steps):
            for name in self._names_taken_out(step, sources):
                users.setdefault(name, []).append(number)
        waiting = {numbers[-1] for numbers in users.values() if len(numbers) > 1}
        return [step for number, step in enumerate(steps) if number not in waiting]

    def _names_taken_out(self, step: _Step, sources: dict[str, Source]) -> set[tuple[str, str]]:
        """The names, by file, in the lines that a fix takes out."""
        found: set[tuple[str, str]] = set()
        for edit in step.fix.edits:
            where = edit.location
            if edit.text or where.row == where.end_row:
                continue
            try:
                source = sources.get(where.path) or source_from_bytes(where.path, self._bytes(where.path))
            except UnreadableSource:
                continue  # told when the fix is made
            sources[where.path] = source
            for row in range(where.row, where.end_row):
                found.update((where.path, word) for word in identifiers(source.line_text(row, where.cell)))
        return {(path, word) for path, word in found if word not in _NO_NAMES}

    def _one_by_one(self, steps: Sequence[_Step]) -> tuple[list[_Step], dict[str, bytes]]:
        """Those of some fixes that can be made; the others are refused."""
        good: list[_Step] = []
        texts: dict[str, bytes] = {}
        for step in steps:
            try:
                texts = self._texts([*good, step])
            except _BrokenError:
                self._refuse(step, f"would have left a file that does not parse, {_TAKEN_BACK}")
            except (CannotApply, UnreadableSource) as error:
                self._refuse(step, f"cannot be made: {error}.")
            except Exception as error:  # noqa: BLE001 - the boundary of one fix
                self._lose(step, error)
            else:
                good.append(step)
        return good, texts

    def _texts(self, steps: Sequence[_Step]) -> dict[str, bytes]:
        """The files that some fixes change.

        Raises:
            CannotApply: the edits cannot be made.
            UnreadableSource: a file is no longer there.
            _BrokenError: one does not parse any more.
        """
        edits: dict[str, list[LocatedEdit]] = {}
        for step in steps:
            for edit in step.fix.edits:
                edits.setdefault(edit.location.path, []).append(edit)
        texts = {path: applied(path, self._bytes(path), found) for path, found in edits.items()}
        if any(_problems(path, data) > _problems(path, self._bytes(path)) for path, data in texts.items()):
            raise _BrokenError
        return texts

    def _bytes(self, path: str) -> bytes:
        if path in self._now:
            return self._now[path]
        if path not in self._before:
            self._before[path] = read_bytes(path)
        return self._before[path]


def _problems(path: str, data: bytes) -> int:
    """In how many places a text does not parse."""
    return len(repaired(source_from_bytes(path, data)).problems)


def _sources(texts: Mapping[str, bytes]) -> dict[str, Source]:
    return {path: source_from_bytes(path, data) for path, data in texts.items()}


# -- what a round did -------------------------------------------------------------------------------------------------


def _wrong(before: CheckResult, after: CheckResult, steps: Sequence[_Step]) -> list[tuple[_Step, str]]:
    """The fixes whose finding is still there."""
    known, now = _moved(before.diagnostics, steps), Counter(map(_place, after.diagnostics))
    edits = [edit for step in steps for edit in step.fix.edits]
    stays = [step for step in steps if any(now[(place := _place(one, edits))] >= known[place] for one in step.findings)]
    return [(step, "leaves the finding as it is") for step in stays]


def _accuses(before: CheckResult, after: CheckResult, steps: Sequence[_Step]) -> bool:
    """Whether there are errors now that were not there before, wherever in the file they stood.

    What says the same rule of the same place in other words is not new: it may name what a fix wrote anew. Nor is what
    a place that was mended for one function does in another that came there before.
    """
    edits = [edit for step in steps for edit in step.fix.edits]
    fixed = {id(finding) for step in steps for finding in step.findings}
    others = [one for one in before.diagnostics if id(one) not in fixed]
    known = Counter(_spot(one, edits) for one in others)
    now = Counter(map(_spot, after.diagnostics))
    left = {(_spot(one, edits), other) for step in steps for one in step.findings for other, _ in one.others}
    new = [
        one
        for one in after.diagnostics
        if one.severity is Severity.ERROR
        and now[_spot(one)] > known[_spot(one)]
        and (_spot(one), one.function) not in left
    ]
    if len(after.failures) > len(before.failures):
        return True
    if not new:
        return False
    gone = Counter(_content(one) for one in others if not now[_spot(one, edits)])
    return bool(Counter(map(_content, new)) - gone)


def _moved(diagnostics: Iterable[Diagnostic], steps: Sequence[_Step]) -> Counter[Place]:
    """How many findings a rule had at each place, after the edits."""
    edits = [edit for step in steps for edit in step.fix.edits]
    return Counter(_place(one, edits) for one in diagnostics)


def _place(diagnostic: Diagnostic, edits: Iterable[LocatedEdit] = ()) -> Place:
    where: Location = diagnostic.location
    return diagnostic.code, diagnostic.message, where.path, where.cell, *moved(where, edits)


def _spot(diagnostic: Diagnostic, edits: Iterable[LocatedEdit] = ()) -> tuple[str, str, int | None, int, int]:
    """The rule and the place of a finding, whatever it says."""
    code, _, path, cell, row, column = _place(diagnostic, edits)
    return code, path, cell, row, column


def _content(diagnostic: Diagnostic) -> tuple[str, str, str]:
    return diagnostic.code, diagnostic.function, diagnostic.message
