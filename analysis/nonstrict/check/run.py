"""One run of the check: files, analysis, selection, suppressions, and what of it can be kept for the next run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import Faults, Losses, beginning
from nonstrict.check.files import Discovery, discover
from nonstrict.coverage import Counts, Looked
from nonstrict.findings import Applicability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.check.analysis import Analysis
    from nonstrict.check.cache.held import Held
    from nonstrict.check.cache.parts import PartsMemory
    from nonstrict.check.cache.runs import Cache, Entry
    from nonstrict.check.environment import Environments, Home
    from nonstrict.check.files import NestedSettings
    from nonstrict.findings import Diagnostic, Measured
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source


class RunOptions(NamedTuple):
    """What a caller decides about one run, beside the settings.

    `standard_input` is (name, bytes) of a file that is not read from the disk. `nested` gives the settings of
    directories below that of the main settings; None where only the main settings count. `jobs` 0 means as many
    as there are processors. `cache` allows reading the cache, and writing it if it `keeps` what is found. `progress` is
    told how many marked functions are done, and how many there are. `overlays` are sources that stand for files of the
    same path, `unsaved` texts by path of files that are checked whether they are on the disk or not. `kept`, `probes`,
    `fixes`, `regions`: see `AnalysisOptions`. `home`: see `environments_of`. `held` is what a process keeps that runs
    again and again: with it, the cache is used in memory, whether it is allowed on the disk or not, also for texts that
    are not those of the disk.
    """

    jobs: int = 0
    cache: bool = False
    keeps: bool = True
    standard_input: tuple[str, bytes] | None = None
    nested: NestedSettings | None = None
    progress: Callable[[int, int], None] | None = None
    overlays: Mapping[str, Source] = {}
    kept: list[object] | None = None
    probes: bool = False
    fixes: Applicability | None = Applicability.DISPLAY
    regions: bool = False
    home: Home | None = None
    unsaved: Mapping[str, str] = {}
    held: Held | None = None


class CheckResult(NamedTuple):
    """What a run has to say.

    `failures` are sentences about what could not be checked, `faulty` says that a fault of nonstrict is among them,
    `unread` are the paths among them that could not be read, with the reason; `nested` maps files below a further
    configuration file to its settings;
    `read` holds the sources of files with diagnostics that the run had to read (empty when the answer came from the
    cache), and all overlays. `counts` say how much was looked at, `looked` at what, which the cache does not keep.
    `checked` are the paths of the `files` that were checked. `torches` are the versions that the findings hold for,
    None among them where none was found. Where experiments were `interrupted`, there are the verdicts that were known
    by then. `measured` are the regions that they compiled.
    """

    diagnostics: tuple[Diagnostic, ...]
    files: int
    failures: tuple[str, ...]
    read: Mapping[str, Source]
    cached: bool = False
    checked: tuple[str, ...] = ()
    faulty: bool = False
    unread: tuple[tuple[str, str], ...] = ()
    counts: Counts = Counts()
    looked: Looked = Looked()
    nested: Mapping[str, Settings] = {}
    torches: tuple[str | None, ...] = (None,)
    interrupted: bool = False
    measured: tuple[Measured, ...] = ()


def check(paths: Sequence[str], settings: Settings, options: RunOptions | None = None) -> CheckResult:
    """Check files and directories.

    Raises:
        ConfigurationError: a configuration file below `paths` is not valid, or a selector selects no rule.
    """
    options = options or RunOptions()
    losses = Losses()
    result = CheckResult((), 0, (), {})
    with losses.losing("nothing was checked", next(iter(paths), os.curdir)):
        result = _checked(paths, settings, options, losses)
    return losses.added_to(result)


def _checked(paths: Sequence[str], settings: Settings, options: RunOptions, losses: Losses) -> CheckResult:
    """The result, but for the faults of the cache, which cost no finding."""
    given = (options.standard_input,) if options.standard_input is not None else ()
    texts = (*given, *options.unsaved.items())
    discovery = discover(paths, settings, options.nested, [name for name, _ in texts])
    unsaved: dict[str, Source] = {}
    for name, content in texts:
        discovery, source = _with_unsaved(discovery, name, content)
        if source is not None:
            unsaved[source.path] = source
    failures = _sentences(discovery.failures)
    if not discovery.files and not discovery.faults:
        _validated(settings)
        return CheckResult((), 0, failures, {}, unread=discovery.failures)
    supposed = {**unsaved, **options.overlays}
    remembers = options.held is not None or (options.cache and not supposed)
    if not remembers or options.regions or discovery.faults:
        return _analysed(discovery, settings, options, unsaved, None)[0]
    cache, hit = _remembered(paths, discovery, settings, options, losses, supposed)
    if cache is not None and hit is not None:
        if options.held is not None:
            options.held.note(cache, (), cache.rest)
        count = len(discovery.files) - len(hit.unread)
        checked = () if hit.unread else tuple(discovery.files)
        unread = (*discovery.failures, *hit.unread)
        told = CheckResult(hit.diagnostics, count, _sentences(unread), {}, True, checked, unread=unread)
        return told._replace(counts=hit.counts, nested=discovery.nested, torches=cache.torches)
    memory = _memory(cache, options) if cache is not None else None
    result, dependencies = _analysed(discovery, settings, options, unsaved, memory)
    if supposed:
        return result
    if options.held is not None:
        options.held.note(cache, dependencies, memory.rest if memory is not None else None)
    # A fault may be gone with the next run, or its traceback be wanted.
    if cache is not None and memory is not None and options.keeps and memory.rest is not None and not result.faulty:
        from nonstrict.check.cache.runs import Entry

        unread = result.unread[len(discovery.failures) :]
        with losses.losing("the cache was not written", cache.directory):
            cache.store(Entry(result.diagnostics, unread, result.counts), dependencies, memory.rest)
    return result


def _memory(cache: Cache, options: RunOptions) -> PartsMemory:
    from nonstrict.check.cache.parts import PartsMemory

    return PartsMemory(cache, keeps=options.keeps)


def _remembered(
    paths: Sequence[str],
    discovery: Discovery,
    settings: Settings,
    options: RunOptions,
    losses: Losses,
    supposed: Mapping[str, Source],
) -> tuple[Cache | None, Entry | None]:
    """The cache entry of a run, and the answer that it holds; None for what cannot be told.

    Answers about `supposed` texts are not kept as a whole.
    """
    from nonstrict.check.cache.runs import open_cache
    from nonstrict.check.cache.store import cache_directory

    with losses.losing("the cache was not read", cache_directory(settings)):
        home, held = options.home, options.held
        cache = open_cache(paths, discovery, settings, home, fixes=options.fixes, held=held, supposed=supposed)
        return cache, cache.load() if not supposed else None
    return None, None


def _with_unsaved(discovery: Discovery, name: str, content: bytes | str) -> tuple[Discovery, Source | None]:
    """The discovery with one more file, which is not read from the disk; a failure if it can be none."""
    from nonstrict.text.source import UnreadableSource, source_from_bytes, source_from_text

    if os.path.isdir(name):
        return discovery._replace(failures=(*discovery.failures, (name, "is a directory, and has no text"))), None
    try:
        is_text = isinstance(content, str)
        source = source_from_text(name, content) if is_text else source_from_bytes(name, content)
    except UnreadableSource as error:
        return discovery._replace(failures=(*discovery.failures, (name, error.reason))), None
    absolute = os.path.abspath(name)
    files = [*(path for path in discovery.files if os.path.abspath(path) != absolute), name]
    return discovery._replace(files=files, explicit=discovery.explicit | {name}), source


def _sentences(failures: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{path}: {reason}" for path, reason in failures)


def _validated(settings: Settings) -> None:
    """Raise `ConfigurationError` for selectors that select nothing, which otherwise only an analysis would notice."""
    from nonstrict.check.selection import Selection
    from nonstrict.rules.registry import RULES

    Selection(settings, RULES)


def _analysed(
    discovery: Discovery,
    settings: Settings,
    options: RunOptions,
    unsaved: Mapping[str, Source],
    memory: PartsMemory | None,
) -> tuple[CheckResult, tuple[str, ...]]:
    """Analyse the files: the result, and the further files that it depends on."""
    from nonstrict.check.diagnostics import Presenter
    from nonstrict.check.faults import sentences

    presenter = Presenter(settings, discovery.nested)
    faults = Faults()
    environments = _environments(settings, discovery, faults, options.home)
    analysis = _analysis(discovery, environments, options, unsaved, memory)
    analysis.findings.extend((*discovery.faults, *faults.found))
    diagnostics = presenter.diagnostics(analysis, options.overlays)
    lost_things = sentences(diagnostics)
    unread = (*discovery.failures, *analysis.failures)
    failures = (*_sentences(unread), *lost_things)
    paths = {d.location.path for d in diagnostics}
    if options.regions:
        paths |= analysis.looked.paths
    shown = paths & set(analysis.sources)
    read = {**options.overlays, **{path: analysis.sources[path] for path in shown}}
    lost = {path for path, _ in analysis.failures}
    checked = tuple(path for path in discovery.files if path not in lost)
    count = len(discovery.files) - len(lost)
    result = CheckResult(diagnostics, count, failures, read, False, checked, bool(lost_things), unread)
    looked = analysis.looked
    torches = environments.torches(discovery.files)
    result = result._replace(counts=looked.counts, looked=looked, nested=discovery.nested, torches=torches)
    return result, _dependencies(analysis)


def _dependencies(analysis: Analysis) -> tuple[str, ...]:
    """The files that the analysis read, checked or not."""
    return tuple(analysis.read)


def _environments(settings: Settings, discovery: Discovery, faults: Faults, home: Home | None) -> Environments:
    """The user's environments; what the settings say of that of the run where they cannot be looked at."""
    from nonstrict.check.environment import Environment, Environments, environments_of
    from nonstrict.settings.projects import Projects

    first = next(iter(discovery.files), os.curdir)
    with faults.losing("was not looked at", "the environment of the project", beginning(first)):
        return environments_of(Projects(settings, discovery.nested), home)
    return Environments(Environment(settings.torch_version, (), settings.models))


def _analysis(
    discovery: Discovery,
    environments: Environments,
    options: RunOptions,
    unsaved: Mapping[str, Source],
    memory: PartsMemory | None,
) -> Analysis:
    """Run the analysis for the torch of the user's environments."""
    from nonstrict.check.analysis import AnalysisOptions, analyse
    from nonstrict.program.linking.disk import Disk

    return analyse(
        discovery.files,
        AnalysisOptions(
            environments=environments,
            explicit=discovery.explicit,
            jobs=options.jobs or _processors(),
            progress=options.progress,
            overlays={**unsaved, **options.overlays},
            kept=options.kept,
            probes=options.probes,
            fixes=options.fixes,
            regions=options.regions,
            links=discovery.links,
            memory=memory,
            disk=Disk(),
        ),
    )


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
