"""Examines marked functions: the machine interprets them, the rules look at what they do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.analysis import AnalysisOptions, Marked, Part, Share, torch_of
from nonstrict.check.stack import with_deep_stack
from nonstrict.facts.laziness import is_docstring
from nonstrict.findings import Finding, Severity
from nonstrict.program.body import MarkedBody
from nonstrict.program.effects import span_of
from nonstrict.program.machine import Machine
from nonstrict.program.marks import callers, roots
from nonstrict.program.project import Project
from nonstrict.program.values import Kind
from nonstrict.rules.base import report_at
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Markers of functions that an experiment can compile by themselves or in a region.
PROBED = frozenset({"nonstrict", "in-graph", "make-fx", "leaf", "custom-op", "compiled"})
#: How many modules a wrapper may pass through: each layer is one more search of the files.
_WRAPPER_LAYERS = 3


def examine(files: Sequence[str], marked: list[Marked], parts: Iterable[Part], options: AnalysisOptions) -> Share:
    """The findings in the marked functions of some parts of the marked files; wrappers in all of them count.

    The process that gets part 0 also has the files which only use wrappers.
    """
    return with_deep_stack(lambda: _examine(files, marked, parts, options))


def _examine(files: Sequence[str], marked: list[Marked], parts: Iterable[Part], options: AnalysisOptions) -> Share:
    sources = {file.path: file.source for file in marked if file.source is not None}
    project = Project(options.site_packages, {**options.overlays, **sources})
    torch = torch_of(options.torch_version)
    machine = Machine(project, files, torch)
    if options.kept is not None:
        options.kept.append(machine)
    findings: list[Finding] = []
    failures: list[tuple[str, str]] = []
    wrappers: _Wrappers | None = None
    for number, part in parts:
        if wrappers is None:
            wrappers = _wrappers(files, marked, machine)
        own = {file.path for file in part} | (wrappers.users if number == 0 else set[str]())
        for path in sorted(own):
            failures += _discovered(machine, path, wrappers.names)
        told, untold = _told(machine, own, torch, options)
        findings += told
        failures += untold
    used = wrappers.users if wrappers is not None else set[str]()
    findings += [
        Finding("NST901", Severity.ERROR, problem.span, problem.message)
        for module in project.loaded()
        if module.path in used
        for problem in module.source.problems
    ]
    return Share(findings, failures, frozenset(module.path for module in project.loaded()))


def _discovered(machine: Machine, path: str, names: set[str]) -> list[tuple[str, str]]:
    """Find the marks of a file; the reason if it cannot be done."""
    module = machine.project.module(path)
    if module is None:
        return []
    code = module.source.code
    try:
        roots.discover(machine, module, roots.words_in(code) | {name for name in names if name in code})
    except RecursionError:
        return [(path, "the code is nested too deeply to be analysed")]
    return []


class _Wrappers(NamedTuple):
    """Names by which the project applies markers, and the files that use them and hold no marker's own name."""

    names: set[str]
    users: set[str]


def _wrappers(files: Sequence[str], marked: list[Marked], machine: Machine) -> _Wrappers:
    """The aliases and wrappers that marked files define, those that are made of them, and who uses them."""
    layer: set[str] = set()
    for file in marked:
        if file.may_wrap:
            module = machine.project.module(file.path)
            layer |= roots.exported(machine, module) if module is not None else set()
    names: set[str] = set()
    users: set[str] = set()
    known = {file.path for file in marked}
    for _ in range(_WRAPPER_LAYERS):
        if not layer:
            break
        names |= layer
        wanted = [name.encode() for name in layer]
        hits = [path for path in files if path not in known and path not in users and _holds(path, wanted)]
        users |= set(hits)
        found: set[str] = set()
        for path in hits:
            module = machine.project.module(path)
            if module is not None:
                found |= roots.exported(machine, module, names)
        layer = found - names
    return _Wrappers(names, users)


def _holds(path: str, wanted: list[bytes]) -> bool:
    try:
        with open(path, "rb") as handle:
            data = handle.read()
    except OSError:
        return False
    return any(name in data for name in wanted)


def _told(
    machine: Machine, own: set[str], torch: tuple[int, int], options: AnalysisOptions
) -> tuple[list[Finding], list[tuple[str, str]]]:
    """The findings of all rules in all marked functions; one that several reach is told for the nearest."""
    found: dict[tuple[object, ...], Finding] = {}
    failures: list[tuple[str, str]] = []
    own_marks = [mark for mark in roots.settled_marks(machine) if mark.path in own]
    marks = [mark for mark in own_marks if mark.kind in roots.TRACED_KINDS]
    callers.expect_calls(machine, marks)
    marks += [mark for mark in own_marks if mark.operator is not None]
    for mark in own_marks:
        callers.seek_region(machine, mark)
    bodies: list[MarkedBody] = []
    for index, mark in enumerate(marks):
        if options.progress is not None:
            options.progress(index, len(marks))
        body = MarkedBody(machine, mark, torch)
        try:
            if mark.operator is None:
                body.announce()
            else:
                body.seek_calls()
        except RecursionError:
            failures.append(_too_deep(body))
        else:
            bodies.append(body)
    regions = [
        region for region in machine.regions.values() if region.path in own and region.target.kind is not Kind.MARKED
    ]
    bodies += [machine.compiled_region(region, torch) for region in regions]
    for body in bodies:
        try:
            for finding in (*_of_body(body), *(_probes(body) if options.probes else ())):
                known = found.get((finding.code, finding.span))
                if known is None or len(finding.related) < len(known.related):
                    found[finding.code, finding.span] = finding
        except RecursionError:
            failures.append(_too_deep(body))
    return list(found.values()), failures


def _probes(body: MarkedBody) -> Iterator[Finding]:
    """A question for experiments: does the function compute the same when it is compiled?"""
    function = body.mark.function
    if function is None or body.marker not in PROBED or isinstance(function.node, ast.Lambda):
        return
    first = next((s for s in function.node.body if not is_docstring(s)), function.node.body[-1])
    span = span_of(function.module.path, function.offset, first)
    message = f"does `{body.function}` compute the same when it is compiled?"
    yield report_at(RULES["NST900"], body, span, message, severity=Severity.NOTE)


def _too_deep(body: MarkedBody) -> tuple[str, str]:
    return body.mark.path, f"`{body.function}` is nested too deeply to be analysed"


def _of_body(body: MarkedBody) -> Iterator[Finding]:
    for rule in RULES.values():
        if rule.examine is not None and body.marker in rule.markers:
            yield from rule.examine(body)
