"""Examines marked functions: the machine interprets them, the rules look at what they do."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from nonstrict.check.analysis import AnalysisOptions, Share
from nonstrict.findings import Finding, Severity
from nonstrict.program import callers, roots
from nonstrict.program.body import MarkedBody
from nonstrict.program.machine import Machine
from nonstrict.program.project import Project
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.text.source import Source

_STACK = 512 * 1024 * 1024
_RECURSION = 40_000
#: How many modules a wrapper may pass through: each layer is one more search of the files.
_WRAPPER_LAYERS = 3


def examine(
    files: Sequence[str], marked: list[Source], part: list[Source], options: AnalysisOptions, torch: tuple[int, int]
) -> Share:
    """The findings in the marked functions of `part`; `marked` are all marked files, whose wrappers count too.

    Runs in a thread with a deep stack, for expressions and call chains of any depth.
    """
    told: list[Share] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            told.append(_examine(files, marked, part, options, torch))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)
    thread = threading.Thread(target=work)
    thread.start()
    threading.stack_size(stack)
    thread.join()
    sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return told[0]


def _examine(
    files: Sequence[str], marked: list[Source], part: list[Source], options: AnalysisOptions, torch: tuple[int, int]
) -> Share:
    project = Project(options.site_packages, {**options.overlays, **{source.path: source for source in marked}})
    machine = Machine(project, files)
    own = {source.path for source in part}
    failures: list[tuple[str, str]] = []
    for source in part:
        module = project.module(source.path)
        try:
            if module is not None:
                roots.discover(machine, module)
        except RecursionError:
            failures.append((source.path, "the code is nested too deeply to be analysed"))
    wrapped = _through_wrappers(files, marked, machine)
    # A file that only uses a wrapper belongs to the process that has the first marked file.
    own |= wrapped if part and part[0] is marked[0] else set()
    findings, untold = _told(machine, own, torch, options)
    failures += untold
    findings += [
        Finding("NST901", Severity.ERROR, problem.span, problem.message)
        for module in project.loaded()
        if module.path in wrapped
        for problem in module.source.problems
    ]
    read = frozenset(module.path for module in project.loaded())
    return Share(findings, failures, read)


def _through_wrappers(files: Sequence[str], marked: list[Source], machine: Machine) -> set[str]:
    """Find markers applied through names that the marked files define: aliases and wrappers. Returns those files."""
    names: set[str] = set()
    for source in marked:
        if roots.may_export(source.code):
            module = machine.project.module(source.path)
            names |= roots.exported(machine, module) if module is not None else set()
    found: set[str] = set()
    known = {source.path for source in marked}
    for _ in range(_WRAPPER_LAYERS):
        if not names:
            break
        hits = [path for path in files if path not in known and _holds(path, [name.encode() for name in names])]
        layer: set[str] = set()
        for path in hits:
            module = machine.project.module(path)
            if module is not None:
                roots.discover(machine, module, names)
                layer |= roots.exported(machine, module, names)
        found |= set(hits)
        names = layer - names
    return found


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
    marks = [mark for mark in roots.settled_marks(machine) if mark.kind in roots.TRACED_KINDS and mark.path in own]
    callers.expect_calls(machine, marks)
    bodies: list[MarkedBody] = []
    for index, mark in enumerate(marks):
        if options.progress is not None:
            options.progress(index, len(marks))
        body = MarkedBody(machine, mark, torch)
        try:
            body.announce()
        except RecursionError:
            failures.append(_too_deep(body))
        else:
            bodies.append(body)
    for body in bodies:
        try:
            for finding in _of_body(body):
                known = found.get((finding.code, finding.span))
                if known is None or len(finding.related) < len(known.related):
                    found[finding.code, finding.span] = finding
        except RecursionError:
            failures.append(_too_deep(body))
    return list(found.values()), failures


def _too_deep(body: MarkedBody) -> tuple[str, str]:
    return body.mark.path, f"`{body.function}` is nested too deeply to be analysed"


def _of_body(body: MarkedBody) -> Iterator[Finding]:
    for rule in RULES.values():
        if rule.examine is not None and body.marker in rule.markers:
            yield from rule.examine(body)
