"""The findings of the parts of a project: after an edit only those are examined again that it may concern.

A part depends on the texts that were read for it, on the answers to what it asked of the bytes of all files, on what
the disk was asked, and on what a project says everywhere at once: by which names it applies markers, what it registers,
what it puts on `sys.path`.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypedDict

from nonstrict.check.cache.asked import Rest, hold, kept
from nonstrict.check.cache.glances import Glances
from nonstrict.check.cache.records import Unknown, read, written
from nonstrict.check.faults import is_faulty
from nonstrict.check.registering import far_reaching
from nonstrict.check.shares import Ground, Known, Portion, Share
from nonstrict.program.discovery.exports import Exports
from nonstrict.program.linking.searches import Answers, Bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nonstrict.check.cache.runs import Cache
    from nonstrict.check.shares import Glance
    from nonstrict.program.linking.disk import Question
    from nonstrict.program.linking.searches import Asked

#: Names and texts as JSON: bytes are kept as the code points of the same number.
_ENCODING = "latin-1"


class _Part(TypedDict):
    """A portion as JSON; paths and questions are told by their numbers."""

    own: list[int]
    read: list[int]
    asked: list[int]
    findings: Any
    looked: Any


class PartsMemory:
    """The portions of runs over the same files with the same settings, in the cache of one of them."""

    def __init__(self, cache: Cache, *, keeps: bool = True) -> None:
        """Nothing is read yet; one that does not `keep` leaves what is there."""
        self._cache = cache
        self._keeps = keeps
        #: what answers the questions of all portions; None if they are not kept
        self.rest: Rest | None = Rest()
        self._before: Rest | None = None
        #: what files that are as they were say for the whole program, as far as that is known
        self._far: Mapping[str, str] = {}
        self._written: Mapping[int, tuple[Share, _Part]] = {}
        self._name = f"{cache.kind.analysis}.parts"
        self._glances = Glances(cache)

    def glances(self) -> Mapping[str, Glance | None]:
        """What is known of files at a first look; see `Memory`."""
        return self._glances.known()

    def keep_glances(self, found: Mapping[str, Glance | None]) -> None:
        """Keep looks at further files; see `Memory`."""
        if self._keeps:
            self._glances.keep(found)

    def recall(self, texts: Bytes, wrapping: frozenset[str]) -> Known | None:
        """What is known of the files as they are now; see `Memory`."""
        document: dict[str, Any] | None = self._cache.entries.load(self._name)
        if document is None:
            return None
        recall = _Recall(self._cache, document, texts)
        known = recall.known(wrapping)
        if known is not None:
            self.rest = self._before = recall.rest
            self._far = recall.far
            self._written = recall.written
        return known

    def keep(
        self,
        portions: Iterable[Portion],
        ground: Ground,
        wrapping: frozenset[str],
        answers: Answers,
        questions: Mapping[Question, str],
    ) -> None:
        """Keep portions, unless a file changed since the run began; see `Memory`."""
        cache = self._cache
        portions = [portion for portion in portions if not is_faulty(portion.share.findings)]
        known_in = {path for found in ground.exports.known().values() for path in found}
        known_in |= {path for path, _ in answers.said}
        paths = sorted({*cache.digests, *known_in, *(path for portion in portions for path in portion.share.read)})
        self.rest = None
        if not self._keeps or not cache.is_settled(paths):
            return
        numbers = {path: number for number, path in enumerate(paths)}
        asked = list(dict.fromkeys(question for portion in portions for question in sorted(portion.asked, key=repr)))
        order = {question: number for number, question in enumerate(asked)}
        try:
            parts = [self._portion(portion, numbers, order) for portion in portions]
        except Unknown:
            return
        self.rest = kept(questions, cache, self._before)
        document = {
            "torch": cache.stamp,
            "folders": self.rest.folders,
            "contents": self.rest.files,
            "disk": self.rest.identity,
            "paths": [[cache.places.shared(path), cache.known_digest(path)] for path in paths],
            "files": [numbers[path] for path in cache.digests],
            "far": {numbers[path]: self._far_reaching(path) for path in cache.digests},
            "wrapping": [numbers[path] for path in wrapping],
            "ground": _ground(ground, numbers),
            "asked": [_question(question) for question in asked],
            "answers": _answers(answers, numbers),
            "parts": parts,
        }
        cache.entries.keep(self._name, document)

    def _portion(self, portion: Portion, numbers: Mapping[str, int], order: Mapping[Asked, int]) -> _Part:
        share, places = portion.share, self._cache.places
        _, before = self._written.get(id(share), (None, None))
        return {
            "own": [numbers[path] for path in portion.own],
            "read": sorted(numbers[path] for path in share.read),
            "asked": sorted(order[question] for question in portion.asked),
            "findings": before["findings"] if before is not None else written(tuple(share.findings), places),
            "looked": before["looked"] if before is not None else written(share.looked, places),
        }

    def _far_reaching(self, path: str) -> str:
        known = self._far.get(path)
        return _far_reaching(self._cache.contents.text(path)) if known is None else known


def _far_reaching(text: str) -> str:
    """What tells what a text says for the whole program from anything else; empty if it says nothing."""
    lines = far_reaching(text)
    return blake2b(lines.encode("utf-8", "replace"), digest_size=8).hexdigest() if lines else ""


def _question(question: Asked) -> object:
    return [part.decode(_ENCODING) for part in question] if isinstance(question, tuple) else question.decode(_ENCODING)


def _asked(told: str | tuple[str, str]) -> Asked:
    return told.encode(_ENCODING) if isinstance(told, str) else (told[0].encode(_ENCODING), told[1].encode(_ENCODING))


def _answers(answers: Answers, numbers: Mapping[str, int]) -> list[object]:
    """Answers with the numbers of files."""

    def by_name(found: Mapping[Any, list[str]]) -> list[object]:
        return [[_question(name), [numbers[path] for path in paths]] for name, paths in found.items()]

    said = [[numbers[path], name.decode(_ENCODING), here] for (path, name), here in answers.said.items()]
    return [*map(by_name, answers[:4]), said]


class _Recall:
    """One look at what is kept, held against the files as they are."""

    def __init__(self, cache: Cache, document: dict[str, Any], texts: Bytes) -> None:
        self._cache = cache
        self._document = document
        self._texts = texts
        self.rest = Rest(tuple(document["folders"]), document["contents"], document["disk"])
        self._paths: list[str] = [cache.places.here(path) for path, _ in document["paths"]]
        self._digests: list[str] = [digest for _, digest in document["paths"]]
        self._asked = [_asked(told) for told in document["asked"]]
        #: how the shares of portions that hold were written, by the identity of the share
        self.written: dict[int, tuple[Share, _Part]] = {}
        before: dict[str, str] = {self._paths[number]: self._digests[number] for number in document["files"]}
        self._before = before
        self._far_before: dict[str, str] = {self._paths[int(one)]: told for one, told in document["far"].items()}
        self._came_or_went = before.keys() ^ cache.digests.keys()
        self._changed = {path for path in before.keys() & cache.digests.keys() if before[path] != cache.digests[path]}

    def known(self, wrapping: frozenset[str]) -> Known | None:
        document = self._document
        if document["torch"] != self._cache.stamp or self._reaches_otherwise() or not hold(self.rest, self._cache):
            return None
        ground = _read_ground(document["ground"], self._paths)
        texts, hits, replaced, stored = (_read_answers(told, self._paths) for told in document["answers"][:4])
        answers = Answers(texts, hits, replaced, stored, self._said())
        bytes_then = Bytes(list(self._before), self._texts.overlays)
        bytes_then.resume(answers)
        differing = self._renewed(bytes_then)
        portions = [self._portion(told) for told in document["parts"] if self._holds(told, differing)]
        stands = self._stands(ground, wrapping, {self._paths[number] for number in document["wrapping"]})
        return Known({portion.own: portion for portion in portions}, ground, stands, bytes_then.known_answers())

    def _reaches_otherwise(self) -> bool:
        """Whether a file that changed says something else for the whole program."""
        touched = self._changed | self._came_or_went
        text = self._cache.contents.text
        return any(self._far_before.get(path, "") != _far_reaching(text(path)) for path in touched)

    @property
    def far(self) -> dict[str, str]:
        """What the files that are as they were say for the whole program."""
        return {path: told for path, told in self._far_before.items() if path not in self._changed}

    def _renewed(self, then: Bytes) -> set[Asked]:
        """Have answers be those of now; the questions that were answered otherwise before."""
        found: set[Asked] = set()
        for path in sorted(self._changed):
            found |= then.renew(path)
        if self._came_or_went or list(self._before) != list(self._cache.digests):
            found |= then.replace_files(list(self._cache.digests), self._came_or_went)
        return found

    def _stands(self, ground: Ground, wrapping: frozenset[str], wrapped: set[str]) -> bool:
        """Whether nothing changed that has to do with the names by which the project applies markers."""
        touched = self._changed | self._came_or_went
        if not touched.isdisjoint(wrapping | wrapped | ground.users):
            return False
        names = [name.encode("utf-8", "surrogateescape") for name in ground.exports.known()]
        return not any(name in self._texts.data(path) for path in touched for name in names)

    def _holds(self, told: _Part, differing: set[Asked]) -> bool:
        """Whether a portion would be found again."""
        for number in told["read"]:
            path = self._paths[number]
            if path in self._came_or_went or self._digests[number] != self._cache.known_digest(path):
                return False
        return not differing or differing.isdisjoint(self._asked[number] for number in told["asked"])

    def _portion(self, told: _Part) -> Portion:
        places, paths = self._cache.places, self._paths
        share = Share(
            list(read(told["findings"], places)),
            frozenset(paths[number] for number in told["read"]),
            read(told["looked"], places),
        )
        self.written[id(share)] = share, told
        own = tuple(paths[number] for number in told["own"])
        return Portion(own, share, frozenset(self._asked[number] for number in told["asked"]))

    def _said(self) -> dict[tuple[str, bytes], bool]:
        told = self._document["answers"][4]
        return {(self._paths[number], name.encode(_ENCODING)): here for number, name, here in told}


def _ground(ground: Ground, numbers: Mapping[str, int]) -> list[object]:
    """A ground with the numbers of files."""
    known, compiling = ground.exports.told()
    return [
        [[name, [[numbers[path], marks] for path, marks in paths.items()]] for name, paths in known],
        [[name, [numbers[path] for path in paths]] for name, paths in compiling],
        [numbers[path] for path in ground.users],
    ]


def _read_ground(told: Any, paths: list[str]) -> Ground:
    known: list[tuple[str, list[tuple[int, bool]]]]
    compiling: list[tuple[str, list[int]]]
    users: list[int]
    known, compiling, users = told
    exports = Exports.of(
        [(name, {paths[number]: marks for number, marks in found}) for name, found in known],
        [(name, [paths[number] for number in found]) for name, found in compiling],
    )
    return Ground(exports, frozenset(paths[number] for number in users))


def _read_answers(told: list[Any], paths: list[str]) -> dict[Any, list[str]]:
    return {_asked(name): [paths[number] for number in numbers] for name, numbers in told}
