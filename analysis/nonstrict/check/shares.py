"""What the examination of some files yields, and how the shares of several are put together.

A portion is a share with what it rests on, so that it can be known again as long as all of that is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nonstrict.coverage import Looked
from nonstrict.coverage import merged as merged_looks
from nonstrict.findings import INTERNAL_FAULT, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.findings import Span
    from nonstrict.program.discovery.exports import Exports
    from nonstrict.program.linking.disk import Question
    from nonstrict.program.linking.searches import Answers, Asked, Bytes


class Share(NamedTuple):
    """Findings, and the files that were read for them."""

    findings: list[Finding]
    read: frozenset[str]
    looked: Looked = Looked()


class Portion(NamedTuple):
    """What was found in a part of the project: the files `own`; `asked` is what it asked of the bytes of all files."""

    own: tuple[str, ...]
    share: Share
    asked: frozenset[Asked]


class Ground(NamedTuple):
    """What all portions rest on: the names by which the project applies markers, and the files that are `users`."""

    exports: Exports
    users: frozenset[str]

    def is_like(self, other: Ground) -> bool:
        """Whether the project applies markers by the same names, known in the same files."""
        return self.users == other.users and self.exports.told() == other.exports.told()


class Known(NamedTuple):
    """The portions of an earlier run that hold, by the files that they are of, and its ground.

    The ground `stands` if no file changed that has to do with it. `answers` are those of all questions now.
    """

    portions: Mapping[tuple[str, ...], Portion]
    ground: Ground
    stands: bool
    answers: Answers


class Glance(NamedTuple):
    """What a first look told of a file that holds a marker's name and has nothing to show that only its text tells.

    It has `size` characters of code and `length` bytes; `may_wrap` as in `Marked`; `parsed` if it was found to parse.
    """

    size: int
    length: int
    may_wrap: bool
    parsed: bool


class Memory(Protocol):
    """What keeps the portions of runs over the same files with the same settings."""

    def glances(self) -> Mapping[str, Glance | None]:
        """What is known of files that hold what they held, by path; None of one that holds no marker's name."""
        ...

    def keep_glances(self, found: Mapping[str, Glance | None]) -> None:
        """Keep what was seen of further files."""
        ...

    def recall(self, texts: Bytes, wrapping: frozenset[str]) -> Known | None:
        """What is known, None if nothing is; `wrapping` are the files that may wrap markers now."""
        ...

    def keep(
        self,
        portions: Iterable[Portion],
        ground: Ground,
        wrapping: frozenset[str],
        answers: Answers,
        questions: Mapping[Question, str],
    ) -> None:
        """Keep all portions of a run, with what it asked of the disk."""
        ...


def merged(shares: Sequence[Share]) -> Share:
    """One finding for each place, told where it is worst, for the nearest marked function."""
    found = nearest(finding for share in shares for finding in share.findings)
    read = frozenset[str]().union(*(share.read for share in shares))
    return Share(list(found.values()), read, merged_looks([share.looked for share in shares]))


def nearest(findings: Iterable[Finding]) -> dict[tuple[object, ...], Finding]:
    """The worst or nearest finding of each rule at each place; it notes who else comes there.

    The order is total, so that it does not matter which came first.
    """
    places: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        # Faults at one place are different things that were lost.
        thing = finding.message if finding.code == INTERNAL_FAULT else ""
        places.setdefault((finding.code, finding.span, thing), []).append(finding)
    return {place: found[0] if len(found) == 1 else _nearest(found) for place, found in places.items()}


def _nearest(findings: Sequence[Finding]) -> Finding:
    best = min(findings, key=_rank)
    ways = {way for finding in findings for way in (_way(finding), *finding.others)} - {_way(best)}
    return best._replace(others=tuple(sorted(ways)))


def _way(finding: Finding) -> tuple[str, Span]:
    """The function that a finding is told of, and its marker."""
    return finding.function, finding.marked_at


def _rank(finding: Finding) -> tuple[object, ...]:
    texts = (finding.message, finding.note, finding.help)
    about = finding.cause.subject if finding.cause is not None else None
    told = (*texts, finding.function, finding.marker, finding.links, about or ())
    return -finding.severity, len(finding.related), finding.related, told
