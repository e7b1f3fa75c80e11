"""Analyses files: which of them a marker reaches, what the marked functions do, and what the rules say of that.

Only files that hold a marker's name are looked at to begin with; what their marked functions call is read on demand.
"""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.environment import Environments
from nonstrict.check.faults import Faults, beginning
from nonstrict.check.shares import Glance, Known, Memory, Portion, Share, merged
from nonstrict.coverage import Looked
from nonstrict.findings import SYNTAX_ERROR, Applicability, Finding, Severity
from nonstrict.knowledge.markers import may_mark, may_wrap
from nonstrict.text.epochs import epochs
from nonstrict.text.hints import may_suppress
from nonstrict.text.source import SourceKind, UnreadableSource, repaired, source_from_bytes, source_kind, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nonstrict.check.environment import Environment
    from nonstrict.check.examination import Prepared
    from nonstrict.program.linking.disk import Disk, Question
    from nonstrict.program.linking.searches import Answers
    from nonstrict.text.source import Problem, Source

#: Marked files are parsed whole, so that a syntax error anywhere in them is told, up to this many bytes in a run;
#: beyond that, as in files without markers, only the statements that are reached are parsed.
_SYNTAX_CHECK_BYTES = 250_000
#: Marked files of fewer bytes are examined together, which tells a little more of what several have to do with one
#: another; of more, each by itself, so that an edit costs those that it may concern.
_PART_BYTES = 400_000
_PARTS = "the cache of what parts of the project yield"
_LOOKS = "what the cache tells of files"
#: Files of more bytes than this are not even searched for markers: they might not fit into memory.
_MAX_SEARCHED_BYTES = 256_000_000


class AnalysisOptions(NamedTuple):
    """What the analysis depends on beside the files.

    `explicit` are files that the user named: they are parsed even if no marker reaches them, so that a syntax error
    is reported. `overlays` are sources by path that stand for files (standard input, unsaved buffers). With `probes`,
    each marked function and region yields a question that an experiment can answer (NST900). `jobs` is the number of
    processes that may be used. What the analysis was made of is added to `kept`: a process that ends anyway need
    not take its syntax trees apart. `fixes` is the least applicability of the fixes that findings carry; None if
    they carry none. `links` are the files that are listed by the name of a link: by the absolute path without
    links. With `regions`, more is told of each compiled region than that it was looked at. `memory` keeps what is found
    for the next run, `disk` what the disk is asked for it.
    """

    environments: Environments = Environments()
    explicit: frozenset[str] = frozenset()
    jobs: int = 1
    progress: Callable[[int, int], None] | None = None
    overlays: Mapping[str, Source] = {}
    kept: list[object] | None = None
    probes: bool = False
    fixes: Applicability | None = None
    links: Mapping[str, str] = {}
    regions: bool = False
    memory: Memory | None = None
    disk: Disk | None = None


class Analysis(NamedTuple):
    """The findings, the sources that are needed to show them, the files that could not be analysed, and all read."""

    findings: list[Finding]
    sources: dict[str, Source]
    failures: list[tuple[str, str]]
    read: frozenset[str]
    looked: Looked = Looked()


class Marked(NamedTuple):
    """A file that holds a marker's name, `size` characters of code; `may_wrap` if it is one that projects wrap.

    The source is kept only where reading the file once more would not do: a project has more text than matters.
    """

    path: str
    size: int
    may_wrap: bool
    source: Source | None = None


def analyse(files: Sequence[str], options: AnalysisOptions) -> Analysis:
    """Analyse files and whatever their marked functions call."""
    failures: list[tuple[str, str]] = []
    faults = Faults()
    marked, named = marked_files(files, options, failures, faults)
    sources = {source.path: source for source in (*(file.source for file in marked), *named) if source is not None}
    findings = [syntax_error(problem) for source in sources.values() for problem in source.problems]
    share = Share([], frozenset())
    if marked:
        if failures:
            unread = {path for path, _ in failures}
            files = [path for path in files if path not in unread]
        collecting = gc.isenabled()
        # Syntax trees are large, long-lived and hold no cycles: collecting garbage more than doubles the parsing time.
        gc.disable()
        try:
            with faults.losing_files("was not analysed", [file.path for file in marked]):
                share = _in_epochs(files, marked, options)
        finally:
            if options.kept is not None:
                gc.freeze()
            if collecting:
                gc.enable()
        findings += share.findings
    read = share.read | {file.path for file in marked} | set(sources)
    findings += faults.found
    return Analysis(findings, _shown(findings, sources, share.looked, options), failures, read, share.looked)


def marked_files(
    files: Sequence[str], options: AnalysisOptions, failures: list[tuple[str, str]], faults: Faults
) -> tuple[list[Marked], list[Source]]:
    """The files that hold a marker's name, and the other files that the user named."""
    lost = len(faults.found)
    known = _glances(files, options, faults)
    looked = dict(_looked_at([path for path in files if path not in known], options, faults))
    first = _FirstLook(options, failures)
    first.seen.update((path, None) for path in files if path not in known and path not in looked)
    for path in files:
        glance = known.get(path)
        if first.knows(path, glance) or (glance is None and path not in looked):
            continue
        with faults.losing_files("was not read", [path]):
            first.read(path, is_marked=looked.get(path, True))
    if options.memory is not None and len(faults.found) == lost:
        with faults.losing("were not written", _LOOKS, beginning(files[0])):
            options.memory.keep_glances(first.seen)
    return first.marked, first.named


def _glances(files: Sequence[str], options: AnalysisOptions, faults: Faults) -> Mapping[str, Glance | None]:
    """What is known of files that need not be read to know whether they hold a marker's name."""
    if options.memory is None:
        return {}
    with faults.losing("were not read", _LOOKS, beginning(files[0])):
        return {path: one for path, one in options.memory.glances().items() if path not in options.explicit}
    return {}


class _FirstLook:
    """One pass over the files in their order, of which the first are parsed."""

    def __init__(self, options: AnalysisOptions, failures: list[tuple[str, str]]) -> None:
        self._options = options
        self._failures = failures
        self._bytes = 0
        self.marked: list[Marked] = []
        self.named: list[Source] = []
        #: what is told of files to the next run
        self.seen: dict[str, Glance | None] = {}

    def knows(self, path: str, glance: Glance | None) -> bool:
        """Take over what is known of a file; false if it has to be read: nobody knows whether it parses, say."""
        if glance is None or (self._bytes + glance.length <= _SYNTAX_CHECK_BYTES and not glance.parsed):
            return False
        self._bytes += glance.length
        self.marked.append(Marked(path, glance.size, glance.may_wrap))
        return True

    def read(self, path: str, *, is_marked: bool) -> None:
        """Read a file that is marked, or that the user named."""
        overlay = self._options.overlays.get(path)
        try:
            data = _bytes(path, self._options)
            source = overlay if overlay is not None else source_from_bytes(path, data)
        except UnreadableSource as error:
            self._failures.append((path, error.reason))
            return
        self._bytes += len(data)
        parses = path in self._options.explicit or self._bytes <= _SYNTAX_CHECK_BYTES
        source = repaired(source) if parses else source
        if not is_marked:
            self.named.append(source)
            return
        file = _marked(source, kept=overlay is not None or _is_special(source))
        self.marked.append(file)
        if file.source is None:
            self.seen[path] = Glance(file.size, len(data), file.may_wrap, parses)


def _looked_at(files: Sequence[str], options: AnalysisOptions, faults: Faults) -> list[tuple[str, bool]]:
    """The files to read as code, and whether each holds a marker: those that do, were named, or cannot be read."""

    def search(paths: Sequence[str]) -> tuple[list[tuple[str, bool]], list[Finding]]:
        found: list[tuple[str, bool]] = []
        own = Faults()
        for path in paths:
            try:
                hit = may_mark(_bytes(path, options))
            except UnreadableSource:
                found.append((path, False))
            except Exception as error:  # noqa: BLE001 - the boundary of one file; told as NST904
                own.lose(error, "was not searched for markers", "the file", [beginning(path)])
            else:
                if hit or path in options.explicit:
                    found.append((path, hit))
        return found, own.found

    if options.jobs < 2:
        results = [search(files)]
    else:
        from nonstrict.check.workers import in_slices

        results = in_slices(search, files, options.jobs)
    faults.found += [fault for _, lost in results for fault in lost]
    return [one for found, _ in results for one in found]


def _marked(source: Source, *, kept: bool) -> Marked:
    return Marked(source.path, len(source.code), may_wrap(source.code), source if kept else None)


def _is_special(source: Source) -> bool:
    """Whether a source has something to show that only its text tells, or is not just what its file holds."""
    return bool(source.problems or source.cells) or may_suppress(source.text, found=False)


def _bytes(path: str, options: AnalysisOptions) -> bytes:
    overlay = options.overlays.get(path)
    if overlay is not None:
        return overlay.code.encode("utf-8", "surrogatepass")
    try:
        with open(path, "rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size > _MAX_SEARCHED_BYTES:
                raise UnreadableSource(path, too_large(size))
            return handle.read()
    except OSError as error:
        raise UnreadableSource(path, error.strerror or str(error)) from error


def syntax_error(problem: Problem) -> Finding:
    """NST901 where a file does not parse; on a page that may be meant: `Image.open(<your image>)`."""
    is_page = source_kind(problem.span.path) is SourceKind.PAGE
    severity = Severity.NOTE if is_page else Severity.ERROR
    advice = "correct the statement, which is not checked until it parses"
    return Finding(SYNTAX_ERROR, severity, problem.span, problem.message, help=advice)


def _in_shares(files: Sequence[str], marked: list[Marked], options: AnalysisOptions) -> Share:
    """Examine the marked files, as far as nothing holds that is known of them already."""
    from nonstrict.check.examination import prepared, texts_of

    memory, texts = options.memory, texts_of(files, marked, options)
    wrapping = frozenset(file.path for file in marked if file.may_wrap)
    faults = Faults()
    known: Known | None = None
    if memory is not None:
        with faults.losing("was not read", _PARTS, beginning(marked[0].path)):
            known = memory.recall(texts, wrapping)
    if known is not None and known.stands:
        parts = _parts(marked, known.ground.users, options)
        if all(part in known.portions for part in parts):
            return merged([known.portions[part].share for part in parts])
    ready = prepared(texts, marked, options, known)
    before: Mapping[tuple[str, ...], Portion] = {}
    if known is not None and known.ground.is_like(ready.ground):
        before = known.portions
    parts = _parts(marked, ready.ground.users, options)
    fresh = _examined([part for part in parts if part not in before], ready, options, faults)
    portions = [*(before[part] for part in parts if part in before), *fresh]
    faults.found += ready.faults
    if memory is not None and not faults.found:
        asked = {question for portion in portions for question in portion.asked}
        with faults.losing("was not written", _PARTS, beginning(marked[0].path)):
            memory.keep(portions, ready.ground, wrapping, texts.answers(asked), ready.disk.answers)
    return merged([*(portion.share for portion in portions), Share(faults.found, frozenset())])


def _examined(
    parts: Sequence[tuple[str, ...]], ready: Prepared, options: AnalysisOptions, faults: Faults
) -> list[Portion]:
    """The portions of some parts, in several processes where there is enough to do."""
    from nonstrict.check.examination import examine
    from nonstrict.check.workers import can_fork, in_own_process, in_processes

    jobs = min(options.jobs, len(parts))
    if jobs < 2 or not can_fork():
        return examine(ready, parts, options)
    texts, disk = ready.texts, ready.disk

    def work(numbers: Iterable[int]) -> tuple[list[int], list[Portion], Answers, dict[Question, str]]:
        done: list[int] = []

        def taken() -> Iterator[tuple[str, ...]]:
            for number in numbers:
                done.append(number)
                yield parts[number]

        found = examine(ready, taken(), options)
        asked = {question for portion in found for question in portion.asked}
        return done, found, texts.answers(asked), disk.answers

    results = in_processes(work, jobs, len(parts), lost=[])
    for number in sorted(set(range(len(parts))).difference(*(done for done, *_ in results))):
        # Its process was killed, perhaps for the memory that all took together: once more, alone.
        with faults.losing_files("was not analysed", parts[number]):
            results.append(in_own_process(lambda number=number: work([number])))
    for _, _, answers, questions in results:
        texts.adopt(answers)
        disk.answers.update(questions)
    return [portion for _, found, _, _ in results for portion in found]


def _in_epochs(files: Sequence[str], marked: list[Marked], options: AnalysisOptions) -> Share:
    """What all files hold, notebooks and pages in their last state, and what earlier states of these held."""
    faults = Faults()
    states: dict[str, list[Source]] = {}
    for file in marked:
        if file.source is not None and file.source.cells:
            with faults.losing_files("was not divided into states", [file.path]):
                states[file.path] = epochs(file.source)
    last = [_marked(states[file.path][-1], kept=True) if states.get(file.path) else file for file in marked]
    earlier = [_marked(state, kept=True) for found in states.values() for state in found[:-1]]
    shares = [Share(faults.found, frozenset())]
    if earlier:
        from nonstrict.check.examination import examined_alone

        shares += [examined_alone(state, options) for state in earlier]
    return merged([_in_shares(files, last, options), *shares])


def _parts(marked: list[Marked], users: frozenset[str], options: AnalysisOptions) -> list[tuple[str, ...]]:
    """The files that are examined together: all of one environment, if they are few, else each by itself.

    That depends on the files alone, never on how many processes there are: the findings are the same for all.
    """
    sizes = {file.path: file.size for file in marked}
    every = (*sizes, *sorted(users.difference(sizes)))
    if sum(sizes.values()) > _PART_BYTES:
        return [(path,) for path in every]
    together: dict[Environment, list[str]] = {}
    for path in every:
        together.setdefault(options.environments.of(path), []).append(path)
    return [tuple(paths) for paths in together.values()]


def _shown(
    findings: list[Finding], known: dict[str, Source], looked: Looked, options: AnalysisOptions
) -> dict[str, Source]:
    """The sources that findings and their evidence lie in, and those that may hold suppressions."""
    shown = dict(known)
    paths = {span.path for finding in findings for span in finding.spans}
    paths |= looked.paths if options.regions else set()
    for path in sorted(paths - set(shown)):
        overlay = options.overlays.get(path)
        with suppress(Exception):  # told where the file is read as code
            shown[path] = overlay if overlay is not None else source_from_bytes(path, _bytes(path, options))
    return shown
