"""Analyses files: which of them a marker reaches, what the marked functions do, and what the rules say of that."""

from __future__ import annotations

import gc
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nonstrict.findings import Finding, Severity
from nonstrict.knowledge.markers import NEEDLES
from nonstrict.program import roots
from nonstrict.program.body import MarkedBody
from nonstrict.program.machine import Machine
from nonstrict.program.project import Project
from nonstrict.rules.registry import RULES
from nonstrict.text.source import UnreadableSource, repaired, source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.program.modules import Module
    from nonstrict.text.source import Source

_STACK = 512 * 1024 * 1024
_RECURSION = 40_000
_DEFAULT_TORCH = (2, 13)


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """What the analysis depends on beside the files.

    `explicit` are files that the user named: they are parsed even if no marker reaches them, so that a syntax error
    is reported. `site_packages` are folders of installed packages. `overlays` are sources by path that stand for
    files (standard input, unsaved buffers).
    """

    torch_version: str | None = None
    site_packages: tuple[str, ...] = ()
    explicit: frozenset[str] = frozenset()
    jobs: int = 1
    progress: Callable[[int, int], None] | None = None
    overlays: dict[str, Source] = field(default_factory=dict["str", "Source"])


@dataclass(slots=True)
class Analysis:
    """The findings, the sources that are needed to show them, and the files that could not be analysed."""

    findings: list[Finding] = field(default_factory=list[Finding])
    sources: dict[str, Source] = field(default_factory=dict["str", "Source"])
    failures: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def analyse(files: Sequence[str], options: AnalysisOptions) -> Analysis:
    """Analyse files and whatever their marked functions call; runs in a thread with a deep stack."""
    result = Analysis()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            _analyse(files, options, result)
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    collecting = gc.isenabled()
    # Syntax trees are large, long-lived and hold no cycles: collecting garbage more than doubles the time to parse.
    gc.disable()
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)
    thread = threading.Thread(target=work)
    thread.start()
    threading.stack_size(stack)
    thread.join()
    sys.setrecursionlimit(limit)
    if collecting:
        gc.enable()
    if failed:
        raise failed[0]
    return result


def _analyse(files: Sequence[str], options: AnalysisOptions, result: Analysis) -> None:
    project = Project(options.site_packages, dict(options.overlays))
    machine = Machine(project)
    marked = _marked_modules(files, options, project, result)
    for module in marked:
        roots.discover(machine, module)
    _follow_wrappers(files, options, machine, marked, result)
    findings = _examine(machine, _torch(options.torch_version), options.progress, result)
    result.findings.extend(findings)
    for module in project.loaded():
        for problem in module.source.problems:
            if module.path in options.explicit or module in marked:
                result.findings.append(Finding("NST901", Severity.ERROR, problem.span, problem.message))
    shown = {finding.span.path for finding in result.findings} | {module.path for module in marked} | options.explicit
    shown |= {related.span.path for finding in result.findings for related in finding.related}
    result.sources.update({module.path: module.source for module in project.loaded() if module.path in shown})


def _marked_modules(
    files: Sequence[str], options: AnalysisOptions, project: Project, result: Analysis
) -> list[Module]:
    """The modules that hold a marker's name; explicit files are read and checked for syntax in any case."""
    found: list[Module] = []
    for path in files:
        overlay = options.overlays.get(path)
        if overlay is not None:
            data = overlay.code.encode("utf-8", "surrogatepass")
        else:
            try:
                with open(path, "rb") as handle:
                    data = handle.read()
            except OSError as error:
                result.failures.append((path, error.strerror or str(error)))
                continue
        hit = any(needle in data for needle in NEEDLES)
        if not hit and path not in options.explicit:
            continue
        try:
            source = repaired(overlay if overlay is not None else source_from_bytes(path, data))
        except UnreadableSource as error:
            result.failures.append((path, error.reason))
            continue
        module = project.add(path, source)
        if hit:
            found.append(module)
    return found


def _follow_wrappers(
    files: Sequence[str], options: AnalysisOptions, machine: Machine, marked: list[Module], result: Analysis
) -> None:
    """Find markers applied through names that the marked modules define: aliases and wrappers."""
    names: set[str] = set()
    for module in marked:
        names |= roots.exported(machine, module)
    if not names:
        return
    wanted = [name.encode() for name in names]
    known = {module.path for module in marked}
    for path in files:
        if path in known:
            continue
        try:
            with open(path, "rb") as handle:
                data = handle.read()
        except OSError:
            continue
        if not any(name in data for name in wanted):
            continue
        module = machine.project.module(path)
        if module is not None:
            roots.discover(machine, module, names)


def _torch(version: str | None) -> tuple[int, int]:
    if version is None:
        return _DEFAULT_TORCH
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (ValueError, IndexError):
        return _DEFAULT_TORCH


def _examine(
    machine: Machine, torch: tuple[int, int], progress: Callable[[int, int], None] | None, result: Analysis
) -> Iterable[Finding]:
    """The findings of all rules in all marked functions; one that several reach is reported for the nearest."""
    found: dict[tuple[object, ...], Finding] = {}
    marks = roots.settled_marks(machine)
    for index, mark in enumerate(marks):
        if progress is not None:
            progress(index, len(marks))
        if mark.kind not in roots.TRACED_KINDS:
            continue
        body = MarkedBody(machine, mark, torch)
        try:
            for finding in _of_body(body):
                key = (finding.code, finding.span)
                known = found.get(key)
                if known is None or len(finding.related) < len(known.related):
                    found[key] = finding
        except RecursionError:
            result.failures.append((mark.path, f"`{body.function}` is nested too deeply to be analysed"))
    return found.values()


def _of_body(body: MarkedBody) -> Iterable[Finding]:
    for rule in RULES.values():
        if rule.examine is not None and body.marker in rule.markers:
            yield from rule.examine(body)


_ = os
