"""Examines marked functions: the machine interprets them, the rules look at what they do."""

from __future__ import annotations

import ast
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.analysis import AnalysisOptions, Marked, syntax_error
from nonstrict.check.faults import Faults, beginning, examined_by
from nonstrict.check.gathering import gathered
from nonstrict.check.leading import at_calls
from nonstrict.check.looking import looked_at
from nonstrict.check.shares import Ground, Portion, Share, merged, nearest
from nonstrict.check.stack import with_deep_stack
from nonstrict.check.workers import in_slices
from nonstrict.coverage import Looked
from nonstrict.events import Event
from nonstrict.facts.laziness import is_docstring
from nonstrict.facts.words import Words
from nonstrict.findings import UNEXPLAINED, Finding, Severity, Span
from nonstrict.knowledge.releases import release_of
from nonstrict.models.library import models_of
from nonstrict.program import engine
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.marks import open_targets, unattached
from nonstrict.program.contracts.regions import identity, ineffective, torch_modules
from nonstrict.program.contracts.regions.region import CompiledRegions
from nonstrict.program.contracts.regions.switched_off import switched_off
from nonstrict.program.discovery import callers, roots
from nonstrict.program.discovery.exports import Exports
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.linking.disk import Disk
from nonstrict.program.linking.project import Project
from nonstrict.program.linking.searches import Bytes
from nonstrict.program.mutations.evidence import MODE_TEXTS
from nonstrict.rules.base import report_at
from nonstrict.rules.purity import asked
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from nonstrict.check.environment import Environment
    from nonstrict.check.shares import Known
    from nonstrict.coverage import Region as Covered
    from nonstrict.facts.outline import Chunk
    from nonstrict.fixes.code.documents import Document
    from nonstrict.program.domain.definitions import Mark, Region
    from nonstrict.program.state.machine import Machine
    from nonstrict.text.source import Source

#: Markers of functions that an experiment can compile by themselves or in a region.
PROBED = frozenset({"nonstrict", "in-graph", "make-fx", "leaf", "custom-op", "compiled"})
#: What hands on names that it does not mention.
_ALL = b"import *"
#: How many modules a wrapper may pass through: each layer is one more search of the files.
_WRAPPER_LAYERS = 3


class Prepared(NamedTuple):
    """What all parts have in common: machines of which others are made, and by which names markers are applied.

    There is one `scout` for each environment. `faults` are what was lost in looking for the names.
    """

    scouts: Mapping[Environment, Machine]
    texts: Bytes
    disk: Disk
    ground: Ground
    marked: frozenset[str]
    faults: tuple[Finding, ...] = ()


def texts_of(files: Sequence[str], marked: Iterable[Marked], options: AnalysisOptions) -> Bytes:
    """The bytes of all files, as far as somebody will ask for them."""
    return Bytes(files, _overlays(marked, options))


def prepared(texts: Bytes, marked: list[Marked], options: AnalysisOptions, known: Known | None = None) -> Prepared:
    """Go through all files once; `known` spares looking for what was asked before, and for names that stand."""
    if known is not None:
        texts.adopt(known.answers)
    else:
        texts.take_over(in_slices(lambda paths: texts.indexed(paths, MODE_TEXTS), texts.files, options.jobs))
    ground = known.ground if known is not None and known.stands else None
    return with_deep_stack(lambda: _prepared(texts, marked, options, ground))


def _prepared(texts: Bytes, marked: list[Marked], options: AnalysisOptions, ground: Ground | None) -> Prepared:
    disk, overlays = options.disk or Disk(), _overlays(marked, options)
    scouts: dict[Environment, Machine] = {}
    for environment in options.environments.every:
        torch, packages, models, python = environment
        project = Project(packages, overlays, options.links, models_of(models), python, disk)
        scouts[environment] = engine.machine(project, texts.files, release_of(torch), texts)
    if options.kept is not None:
        options.kept.extend(scouts.values())
    paths = frozenset(file.path for file in marked)
    if ground is not None:
        return Prepared(scouts, texts, disk, ground, paths)
    wrappers = _wrappers(texts.files, marked, scouts[options.environments.main])
    return Prepared(scouts, texts, disk, Ground(wrappers.exports, wrappers.users), paths, wrappers.faults)


def examine(ready: Prepared, parts: Iterable[tuple[str, ...]], options: AnalysisOptions) -> list[Portion]:
    """The findings in the marked functions of some parts of the project.

    Each part gets a machine of its own: what one finds does not depend on which others a process was handed before.
    """
    documents: dict[str, Document | None] = {}
    return with_deep_stack(lambda: [_portion(ready, part, options, documents) for part in parts])


def examined_alone(file: Marked, options: AnalysisOptions) -> Share:
    """The findings in one file as if there was no other."""
    options = options._replace(memory=None, jobs=1)
    ready = prepared(texts_of([file.path], [file], options), [file], options)
    return merged([portion.share for portion in examine(ready, [(file.path,)], options)])


def _overlays(marked: Iterable[Marked], options: AnalysisOptions) -> dict[str, Source]:
    return {**options.overlays, **{file.path: file.source for file in marked if file.source is not None}}


def _portion(
    ready: Prepared, own: tuple[str, ...], options: AnalysisOptions, documents: dict[str, Document | None]
) -> Portion:
    machine, users = ready.scouts[options.environments.of(own[0])].anew(), ready.ground.users
    task = Task(set(own), {*users, *ready.marked}, ready.ground.exports)
    faults, found = Faults(), Share([], frozenset())
    with faults.losing_files("was not analysed", sorted(own)):
        found = examined(machine, task, options, documents=documents).share
    read = (machine.project.module(path) for path in own if path in users)
    problems = [syntax_error(problem) for module in read if module is not None for problem in module.source.problems]
    share = merged([found, Share([*faults.found, *problems], frozenset(own))])
    portion = Portion(own, share, machine.questions())
    machine.dismiss()
    return portion


def _wrappers(files: Sequence[str], marked: list[Marked], machine: Machine) -> Wrappers:
    """The wrappers of markers, none where they cannot be told."""
    faults = Faults()
    with faults.losing("were not all looked for", "wrappers of markers", beginning(marked[0].path)):
        return wrappers_of(files, marked, machine)
    return Wrappers(faults=tuple(faults.found))


class Task(NamedTuple):
    """The files of one part, those of all parts, and the names by which the project applies markers."""

    own: set[str]
    every: set[str]
    exports: Exports


class Told(NamedTuple):
    """A marked function or region that was looked at, and what is told of it; of a region, for each application."""

    body: MarkedBody
    findings: tuple[Finding, ...]
    regions: tuple[Covered, ...] = ()


class Examined(NamedTuple):
    """What is found in one part, and the marked functions and regions that were looked at."""

    share: Share
    told: tuple[Told, ...]


def examined(
    machine: Machine,
    task: Task,
    options: AnalysisOptions,
    wanted: Callable[[MarkedBody], bool] | None = None,
    documents: dict[str, Document | None] | None = None,
) -> Examined:
    """What is found in one part by a machine of its own; only in the bodies that are `wanted`, if that is given.

    `documents` are those that were read for the fixes of other parts.
    """
    faults = Faults()
    consulted: set[str] = set()
    machine.keep(task.exports)
    for path in sorted(task.own):
        with faults.losing_files("was not searched for marks", [path]):
            _discover(machine, path, task.exports, faults)
    told: list[Told] = []
    _examine_bodies(machine, task, options, wanted or _any, told, faults)
    found = nearest(finding for one in told for finding in one.findings)
    if options.fixes is not None and found:
        # Once nothing is looked at any more: what fixes ask of the program must not decide what is found.
        from nonstrict.check.mending import mended
        from nonstrict.check.records import Records

        records = Records()
        with faults.losing_files("was not looked at for fixes", sorted(task.own)):
            found = mended(machine, found, told, faults, documents, records, options.fixes)
        consulted = records.consulted
    read = consulted | machine.read()
    looked = Looked()
    with faults.losing_files("was not searched for what it compiles", sorted(task.own)):
        looked, regions = looked_at(machine, task.own, (one.body for one in told), details=options.regions)
        told = [one._replace(regions=regions.get(one.body, ())) for one in told]
    return Examined(Share([*found.values(), *faults.found], frozenset(read), looked), tuple(told))


def _any(body: MarkedBody) -> bool:
    return True


def _discover(machine: Machine, path: str, exports: Exports, faults: Faults) -> None:
    """Find the marks of a file; a definition that cannot be read costs those in it."""
    module = machine.project.module(path)
    if module is None:
        return

    def losing(chunk: Chunk | None) -> AbstractContextManager[None]:
        subject = f"`{chunk.name}`" if chunk is not None else "what the file does outside functions"
        line = chunk.first if chunk is not None else 1
        return faults.losing("was not searched for marks", subject, Span(path, line, 0, line, 0))

    meant = exports.meant_in(machine.project, module)
    roots.discover(machine, module, roots.words_in(module.source.code) | meant.marking, meant.applying, losing)
    open_targets.seek_callers(machine)


class Wrappers(NamedTuple):
    """Names by which the project applies markers, and the files that use them and hold no marker's own name."""

    exports: Exports = Exports()
    users: frozenset[str] = frozenset()
    faults: tuple[Finding, ...] = ()


def wrappers_of(files: Sequence[str], marked: list[Marked], machine: Machine) -> Wrappers:
    """The aliases and wrappers that marked files define, those that are made of them, and who uses them."""
    faults = Faults()
    exports = Exports()

    def exported(paths: Iterable[str], *, first: bool = False) -> set[str]:
        found: set[str] = set()
        for path in paths:
            with faults.losing_files("was not searched for wrappers of markers", [path]):
                module = machine.project.module(path)
                known = exports.meant_in(machine.project, module) if module is not None and not first else None
                if module is not None and (known is None or known.every):
                    new = roots.exported(machine, module, known)
                    exports.add(path, new)
                    found |= new.every
        return found

    def meaning(paths: Iterable[str]) -> list[str]:
        modules = [module for path in paths if (module := machine.project.module(path)) is not None]
        exports.hand_on(machine.project, modules)
        return [module.path for module in modules if exports.meant_in(machine.project, module).every]

    layer = exported((file.path for file in marked if file.may_wrap), first=True)
    names: set[str] = set()
    users: set[str] = set()
    known = {file.path for file in marked}
    for _ in range(_WRAPPER_LAYERS):
        if not layer:
            break
        names |= layer
        data = machine.elsewhere.found.data
        others = (path for path in files if path not in users)
        wanted = Words(layer)
        mentioning = [path for path in others if wanted.are_in(data(path)) or _ALL in data(path)]
        hits = meaning(mentioning)
        # A file that holds a marker may make a wrapper of one that another file defines.
        users |= set(hits) - known
        layer = exported(hits) - names
    return Wrappers(exports, frozenset(users), tuple(faults.found))


def _examine_bodies(
    machine: Machine,
    task: Task,
    options: AnalysisOptions,
    wanted: Callable[[MarkedBody], bool],
    told: list[Told],
    faults: Faults,
) -> None:
    """Have all rules look at all marked functions."""
    bodies = _announced(machine, task, options, wanted, faults)
    seen: set[Region] = set()
    bodies += _regions(machine, task, seen, faults)
    while bodies:
        for body in bodies:
            if wanted(body) and body not in machine.part(CompiledRegions).failed():
                findings = examined_by(body, _asked(body, options))
                with faults.losing("were not gathered", f"the findings in `{body.function}`", body.marked_at):
                    findings = [*at_calls(body, gathered(body, findings))]
                told.append(Told(body, tuple(findings)))
        # Looking at bodies evaluates more of the program, which may compile more functions.
        bodies = _regions(machine, task, seen, faults)
    _examine_wrapped(machine, task, options, wanted, told, faults)
    for region in machine.part(CompiledRegions).failed():
        if region.failed is not None:
            faults.lose(region.failed, "was not analysed", f"`{region.function}`", [region.marked_at])


def _examine_wrapped(
    machine: Machine,
    task: Task,
    options: AnalysisOptions,
    wanted: Callable[[MarkedBody], bool],
    told: list[Told],
    faults: Faults,
) -> None:
    """Have rules look at wrappers of modules, and at modules of torch in them, once all is evaluated that uses them."""
    with faults.losing_files("was not searched for uses of compiled modules", sorted(task.own)):
        bodies = chain(identity.bodies(machine, task.own), torch_modules.bodies(machine, task.own))
        told.extend(Told(body, tuple(examined_by(body, _asked(body, options)))) for body in bodies if wanted(body))


def _announced(
    machine: Machine, task: Task, options: AnalysisOptions, wanted: Callable[[MarkedBody], bool], faults: Faults
) -> list[MarkedBody]:
    """The marked functions of a part, their calls looked for."""
    own_marks = _own_marks(machine, task, faults)
    marks = [mark for mark in own_marks if mark.kind in roots.TRACED_KINDS]
    for mark in marks:
        with faults.losing("were not all looked for", "the calls of a marked function", _place_of(mark)):
            callers.expect_calls(machine, [mark])
    marks += [mark for mark in own_marks if mark.operator is not None]
    for mark in own_marks:
        with faults.losing_body(MarkedBody(machine, mark, machine.torch)):
            callers.seek_region(machine, mark)
    bodies: list[MarkedBody] = []
    for index, mark in enumerate(marks):
        if options.progress is not None:
            options.progress(index, len(marks))
        body = MarkedBody(machine, mark, machine.torch)
        with faults.losing_body(body):
            if not wanted(body):
                continue
            if mark.operator is None:
                _interpret(body)
                with faults.losing("was not asked of other files", f"what `{body.function}` reads", body.marked_at):
                    body.announce()
            else:
                body.seek_calls()
            bodies.append(body)
    for path in sorted(task.own):
        with faults.losing_files("was not searched for markers without effect", [path]):
            module = machine.project.module(path)
            marks = unattached.marks(machine, module) if module is not None else ()
            bodies += [body for body in (MarkedBody(machine, mark, machine.torch) for mark in marks) if wanted(body)]
            bodies += (
                [body for body in ineffective.bodies(machine, module) if wanted(body)] if module is not None else ()
            )
    return bodies


def _interpret(body: MarkedBody) -> None:
    """Find out what a body does: all that is asked of it rests on that."""
    next(body.observed(Event.READ), None)


def _own_marks(machine: Machine, task: Task, faults: Faults) -> list[Mark]:
    """The marks in the files of a part, those that a factory makes as its calls make them."""
    for mark in list(machine.marks.values()):
        with faults.losing("were not all looked for", "the calls of the factory of a marked function", _place_of(mark)):
            roots.seek_factory_calls(machine, mark)
    return [mark for mark in roots.kept_marks(machine) if mark.path in task.own]


def _place_of(mark: Mark | Region) -> Span:
    return span_of(mark.path, mark.offset, mark.node)


def _regions(machine: Machine, task: Task, seen: set[Region], faults: Faults) -> list[MarkedBody]:
    """The compiled functions that are known by now and were not looked at; `seen` are those that were.

    What surely runs as plain Python, as torch is switched off, has nothing to look at.
    One that is compiled in a file of another part counts too: that part may not come to know of it.
    """
    known = [*machine.regions.values(), *(region for others in machine.recompiled.values() for region in others)]
    new = [
        region
        for region in known
        if region not in seen and region.path in task.every and region.target.kind is not Kind.MARKED
    ]
    seen.update(new)
    bodies: list[MarkedBody] = []
    for region in new:
        with faults.losing("was not analysed", "the compiled region", _place_of(region)):
            if switched_off(machine, region.path, region.offset, region.node) is None:
                bodies.append(machine.part(CompiledRegions).of(machine, region, machine.torch))
    return bodies


def _probes(body: MarkedBody) -> Iterator[Finding]:
    """A question for experiments: does the function compute the same when it is compiled?"""
    function = body.mark.function
    if function is None or body.marker not in PROBED or isinstance(function.node, ast.Lambda):
        return
    first = next((s for s in function.node.body if not is_docstring(s)), function.node.body[-1])
    span = span_of(function.module.path, function.offset, first)
    message = f"does `{body.function}` compute the same when it is compiled?"
    yield report_at(RULES[UNEXPLAINED], body, span, message, severity=Severity.NOTE)


def _asked(body: MarkedBody, options: AnalysisOptions) -> Iterator[tuple[str, Iterable[Finding]]]:
    """What each rule has to say of a body, and the question for experiments."""
    yield from asked(body, RULES.values())
    if options.probes:
        yield UNEXPLAINED, _probes(body)
