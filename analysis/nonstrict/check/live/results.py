"""What is known of the marked files of a folder, and which of it an edit makes doubtful."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import is_faulty, log_faults
from nonstrict.check.shares import Share, merged
from nonstrict.coverage import Looked
from nonstrict.coverage import merged as merged_looks
from nonstrict.program.contracts.marks import unattached
from nonstrict.program.domain.effects import span_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.check.live.units import Seen
    from nonstrict.coverage import Counts, Region
    from nonstrict.findings import Finding, Location, Span
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.linking.searches import Asked
    from nonstrict.text.source import Source


class Mark(NamedTuple):
    """A marked function or compiled region.

    `function` and `kind` are as in `Diagnostic.function` and `Diagnostic.marker`, `api` is the marker as users spell
    it. `location` is that of the marker, `definition` the line of the function's `def`, None where it has none or lies
    in another file.
    """

    function: str
    kind: str
    api: str
    location: Location
    definition: Location | None


class SeenMark(NamedTuple):
    """A mark in positions of the analysed code; see `Mark`."""

    function: str
    kind: str
    api: str
    span: Span
    definition: Span | None


class Result(NamedTuple):
    """What the marked functions of one file yield, in whatever file, and what that depends on.

    `read` are the files that were read for it, `asked` the questions to the bytes of all files, `looked` what was
    looked at: the regions as they are, the marks in the lines of the last whole examination. `seen` is the same mark by
    mark, where that is known.
    """

    findings: tuple[Finding, ...]
    marks: tuple[SeenMark, ...]
    read: frozenset[str]
    asked: frozenset[Asked]
    looked: Looked = Looked()
    seen: Seen | None = None

    @property
    def paths(self) -> frozenset[str]:
        """The files that findings lie in."""
        return frozenset(finding.span.path for finding in self.findings)

    @property
    def compiled(self) -> frozenset[str]:
        """The files in and from which something is compiled."""
        return frozenset[str]().union(*(region.paths for region in self.looked.regions))


class Results:
    """The results of all marked files by path; those that are out of date are kept until there are new ones."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known: dict[str, Result] = {}
        #: by file, the marked files with findings in it, and those that know of regions in it or applied in it
        self._found: dict[str, set[str]] = {}
        self._compiled: dict[str, set[str]] = {}
        self._stale: set[str] = set()
        self._edited: set[str] = set()

    def get(self, path: str) -> Result | None:
        """The result of a file, perhaps out of date."""
        return self._known.get(path)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of which there are results."""
        return tuple(self._known)

    def is_current(self, path: str) -> bool:
        """Whether the result of a file holds for the texts as they are."""
        return path in self._known and path not in self._stale

    def is_only_edited(self, path: str) -> bool:
        """Whether nothing but the text of the file itself makes its result doubtful."""
        return path in self._edited

    def put(self, path: str, result: Result) -> frozenset[str]:
        """Keep a result; the files whose findings or regions it changes."""
        log_faults(result.findings)
        before = self._known.get(path)
        self._known[path] = result
        self._index(path, before, result)
        self._stale.discard(path)
        self._edited.discard(path)
        old = _by_path(before.findings if before is not None else ())
        new = _by_path(result.findings)
        others = _differing(before.looked.regions if before is not None else (), result.looked.regions)
        moved = frozenset[str]().union(*(region.paths for region in others))
        return moved.union(one for one in old.keys() | new.keys() if old.get(one) != new.get(one))

    def drop(self, path: str) -> frozenset[str]:
        """Forget a file that holds no marks any more; the files that its findings and regions lay in."""
        self._stale.discard(path)
        self._edited.discard(path)
        before = self._known.pop(path, None)
        self._index(path, before, None)
        return before.paths | before.compiled if before is not None else frozenset()

    def _index(self, marked: str, before: Result | None, now: Result | None) -> None:
        """Note in which files a result has something, in place of those of the one before."""
        for index, old, new in (
            (self._found, before.paths if before else (), now.paths if now else ()),
            (self._compiled, before.compiled if before else (), now.compiled if now else ()),
        ):
            for path in old:
                index[path].discard(marked)
            for path in new:
                index.setdefault(path, set()).add(marked)

    def outdate(self, path: str, changed: Iterable[Asked] = ()) -> None:
        """A file changed, and with it the answers to some questions."""
        asked = frozenset(changed)
        for marked, result in self._known.items():
            answered = not asked.isdisjoint(result.asked)
            if not answered and path not in result.read:
                continue
            if answered or marked != path:
                self._edited.discard(marked)
            elif marked not in self._stale:
                self._edited.add(marked)
            self._stale.add(marked)

    def outdate_readers(self, path: str) -> None:
        """What the imports of a file mean is doubtful."""
        readers = self.depending_on(path)
        self._stale |= readers
        self._edited -= readers

    def outdate_all(self) -> None:
        """Nothing is certain any more."""
        self._stale |= self._known.keys()
        self._edited.clear()

    def depending_on(self, path: str) -> frozenset[str]:
        """The marked files for which a file was read."""
        return frozenset(marked for marked, result in self._known.items() if path in result.read)

    def found_in(self, path: str) -> frozenset[str]:
        """The marked files that have findings in a file."""
        return frozenset(self._found.get(path, ()))

    def compiled_in(self, path: str) -> frozenset[str]:
        """The marked files that know of regions in a file, or applied in it."""
        return frozenset(self._compiled.get(path, ()))

    def findings_in(self, path: str) -> list[Finding]:
        """The findings in a file, whichever marked files they come from; one for each rule and place."""
        shares = [
            Share([finding for finding in result.findings if finding.span.path == path], frozenset())
            for result in (self._known[marked] for marked in sorted(self._found.get(path, ())))
        ]
        return merged([share for share in shares if share.findings]).findings

    def is_faulty(self) -> bool:
        """Whether a fault of nonstrict lost something."""
        return any(is_faulty(result.findings) for result in self._known.values())

    def regions(self, path: str = "") -> tuple[Region, ...]:
        """What is compiled; in or from a file, if one is named. Results out of date count for their own file alone."""
        found = (
            region
            for marked, result in self._known.items()
            for region in result.looked.regions
            if (not path or path in region.paths) and (region.span.path == marked or marked not in self._stale)
        )
        return merged_looks([Looked(tuple(found))]).regions

    def counts(self) -> Counts:
        """How much was looked at; only as long as no text was edited."""
        return merged_looks([result.looked for result in self._known.values()]).counts

    def read(self) -> frozenset[str]:
        """All files that were read."""
        return frozenset[str]().union(*(result.read for result in self._known.values()))

    def paths(self) -> frozenset[str]:
        """All files with findings."""
        return frozenset[str]().union(*(result.paths for result in self._known.values()))


def _differing(old: Sequence[Region], new: Sequence[Region]) -> set[Region]:
    """The regions that came, went or changed; most are the very objects that they were before an edit."""
    kept = {id(region) for region in old} & {id(region) for region in new}
    return {one for one in old if id(one) not in kept} ^ {one for one in new if id(one) not in kept}


def _by_path(findings: Iterable[Finding]) -> dict[str, set[Finding]]:
    found: dict[str, set[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.span.path, set()).add(finding)
    return found


def shown_marks(path: str, bodies: Iterable[MarkedBody]) -> tuple[SeenMark, ...]:
    """The marks of a file that are of functions: names that torch lacks are only told of."""
    shown = (body for body in bodies if body.marker not in unattached.KINDS and body.mark.path == path)
    return tuple(dict.fromkeys(map(seen_mark, shown)))


def seen_mark(body: MarkedBody) -> SeenMark:
    """The mark of a function that was looked at."""
    function = body.mark.function
    definition = None
    if function is not None and function.module.path == body.mark.path and hasattr(function.node, "name"):
        span = span_of(body.mark.path, function.offset, function.node)
        definition = span._replace(end_line=span.line, end_column=span.column)
    return SeenMark(body.function, body.marker, body.api, body.marked_at, definition)


def located(mark: SeenMark, source: Source) -> Mark:
    """A mark, located for users."""
    definition = source.locate(mark.definition) if mark.definition is not None else None
    return Mark(mark.function, mark.kind, mark.api, source.locate(mark.span), definition)
