"""May this function be marked? One function held against all rules, as if a marker were applied to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.faults import Faults, examined_by
from nonstrict.check.targets import TargetError
from nonstrict.findings import INTERNAL_FAULT, RelatedLocation, Severity
from nonstrict.report.audit import Audited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.check.analysis import Analysis
    from nonstrict.check.environment import Environment
    from nonstrict.check.files import Discovery
    from nonstrict.findings import Diagnostic
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.contracts.marks.purity import Definition
    from nonstrict.program.domain.modules import Module
    from nonstrict.rules.purity import Certificate
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

#: One function is worth reading a large project more often than a whole check would.
_MAX_PASSES = 10
#: How many names are offered where a function is not found.
_OFFERED = 5


class AuditError(TargetError):
    """The question cannot be answered; the message is for users."""


class Question(NamedTuple):
    """A function by its file and name (`Class.method`, `outer.inner`) or line, and the marker asked about."""

    file: str
    target: str
    marker: str = "nonstrict_trace"


def parsed(text: str, marker: str) -> Question:
    """The question that `FILE::FUNCTION` or `FILE:LINE` asks.

    Raises:
        AuditError: the text is neither.
    """
    file, separator, target = text.partition("::")
    if not separator:
        file, _, target = text.rpartition(":")
        if not file or not target.isdigit():
            raise AuditError(f"`{text}` names no function. Write FILE::FUNCTION, FILE::Class.method or FILE:LINE.")
    if not file or not target.strip():
        raise AuditError(f"`{text}` names no function. Write FILE::FUNCTION, FILE::Class.method or FILE:LINE.")
    return Question(file, target.strip(), marker)


def audit(question: Question, paths: Sequence[str], settings: Settings) -> Audited:
    """Answer for one function. `paths` are searched for its callers and for who changes what it reads.

    Raises:
        AuditError: there is no such file or function, or the file does not parse.
        ConfigurationError: a configuration file below `paths` is not valid.
    """
    from nonstrict.check.environment import environment_of
    from nonstrict.check.files import discover
    from nonstrict.check.stack import with_deep_stack

    question, paths = _placed(question, paths)
    discovery = discover([question.file, *paths], settings)
    environment = environment_of(settings)
    try:
        return with_deep_stack(lambda: _answered(question, discovery, settings, environment))
    except RecursionError:
        raise AuditError(f"{question.file}: the code is nested too deeply to be analyzed.") from None


def _placed(question: Question, paths: Sequence[str]) -> tuple[Question, Sequence[str]]:
    """The question and paths with paths spelled alike, so that a file has one name however it is reached."""
    from nonstrict.program.linking.search_path import project_of

    here = os.getcwd()
    absolute = os.path.abspath(question.file)
    if not os.path.isfile(absolute):
        reason = "is a directory" if os.path.isdir(absolute) else "does not exist"
        raise AuditError(f"{question.file} {reason}.")
    inside = absolute.startswith(here.rstrip(os.sep) + os.sep)
    if not paths:
        paths = ["."] if inside else [project_of(absolute, _source(question.file).code)]
    if inside and not any(os.path.isabs(path) for path in paths):
        return question._replace(file=os.path.relpath(absolute, here)), paths
    return question._replace(file=absolute), [os.path.abspath(path) for path in paths]


def _answered(question: Question, discovery: Discovery, settings: Settings, environment: Environment) -> Audited:
    from nonstrict.check.analysis import Analysis
    from nonstrict.knowledge.releases import release_of
    from nonstrict.models.library import models_of
    from nonstrict.program import engine
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.contracts.marks import purity
    from nonstrict.program.discovery import roots
    from nonstrict.program.linking.project import Project

    source = _source(question.file)
    models = models_of(environment.models)
    project = Project(environment.site_packages, {source.path: source}, models=models, python=environment.python)
    torch = release_of(environment.torch_version)
    machine = engine.machine(project, discovery.files, torch)
    machine.elsewhere.max_passes = _MAX_PASSES
    module = project.add(source.path, source)
    definition = _found(question, module)
    faults = Faults()
    faults.found += discovery.faults
    with faults.losing_files("was not searched for marks", [source.path]):
        roots.discover(machine, module)
    purity.suppose(machine, module, definition, question.marker)
    marks = [mark for mark in roots.settled_marks(machine) if purity.is_supposed(mark, definition)]
    bodies = [MarkedBody(machine, mark, torch) for mark in marks]
    for body in bodies:
        body.function = definition.name
        with faults.losing("were not looked for", f"the callers of `{body.function}`", body.marked_at):
            body.announce()
    certificates = [_certificate(body, faults) for body in bodies]
    findings = [finding for told in certificates for finding in (*told.obstacles, *told.notes)]
    findings += faults.found
    sources = {module.path: module.source for module in project.loaded()}
    analysis = Analysis(findings, sources, [], frozenset(sources))
    diagnostics = _presented(analysis, settings, discovery)
    unseen = _unseen(certificates, sources)
    location = source.locate(bodies[0].marked_at)
    lost = tuple(diagnostic for diagnostic in diagnostics if diagnostic.code == INTERNAL_FAULT)
    found = tuple(diagnostic for diagnostic in diagnostics if diagnostic.code != INTERNAL_FAULT)
    verdict = "unknown" if unseen or lost else "pure"
    if any(diagnostic.severity > Severity.NOTE for diagnostic in found):
        verdict = "obstacles"
    distinct = {(finding.code, finding.span) for finding in findings if finding.code != INTERNAL_FAULT}
    hidden = len(distinct) - len(found)
    return Audited(definition.name, question.marker, location, verdict, found, unseen, hidden, sources, lost)


def _certificate(body: MarkedBody, faults: Faults) -> Certificate:
    """What is known of a body, with what faults lost of that among the findings."""
    from nonstrict.rules.purity import Unseen, asked, certified, unseen_of
    from nonstrict.rules.registry import RULES

    findings = examined_by(body, asked(body, RULES.values()))
    unseen: list[Unseen] = []
    with faults.losing("was not searched for what is not looked into", f"`{body.function}`", body.marked_at):
        unseen += unseen_of(body)
    return certified(body, findings, unseen)


def _presented(analysis: Analysis, settings: Settings, discovery: Discovery) -> tuple[Diagnostic, ...]:
    """The findings as `check` would show them."""
    from nonstrict.check.diagnostics import Presenter

    presented = Presenter(settings, discovery.nested).diagnostics(analysis)
    return tuple(one for one in presented if one.code == INTERNAL_FAULT or not one.code.startswith("NST9"))


def _unseen(certificates: Iterable[Certificate], sources: Mapping[str, Source]) -> tuple[RelatedLocation, ...]:
    """The first place of each thing that was not looked into."""
    found: dict[tuple[str, str], RelatedLocation] = {}
    for told in certificates:
        for unseen in told.unseen:
            location = sources[unseen.span.path].locate(unseen.span)
            found.setdefault((unseen.span.path, unseen.message), RelatedLocation(location, unseen.message))
    return tuple(found.values())


def _source(path: str) -> Source:
    from nonstrict.text.source import UnreadableSource, read_source, repaired

    try:
        source = repaired(read_source(path))
    except UnreadableSource as error:
        raise AuditError(f"{path}: {error.reason}.") from error
    if source.problems:
        problem = source.problems[0]
        where = source.locate(problem.span)
        raise AuditError(f"{path}:{where.row}:{where.column}: {problem.message}")
    return source


# -- finding the function -----------------------------------------------------------------------------------------


def _found(question: Question, module: Module) -> Definition:
    from nonstrict.program.contracts.marks import purity

    known = list(purity.functions(module))
    if question.target.isdigit():
        return _at_line(question, known)
    wanted = _plain(question.target)
    matching = [definition for definition in known if _plain(definition.name) == wanted]
    implemented = [definition for definition in matching if not _is_overload(definition)] or matching
    if not implemented:
        bound = module.bindings.get(wanted)
        if bound:
            kind = "imported" if bound[0].kind == "import" else "bound to a value"
            advice = f"`{question.target}` is {kind} in {question.file}, not defined with `def`."
            raise AuditError(f"{advice} Name the file and the function that hold its code.")
        raise AuditError(f"{question.file} has no function `{question.target}`.{_near(wanted, known)}")
    if len(implemented) > 1:
        lines = ", ".join(f"{question.file}:{definition.line}" for definition in implemented)
        raise AuditError(
            f"{question.file} defines `{question.target}` {len(implemented)} times. Name one by its line: {lines}."
        )
    return implemented[0]


def _at_line(question: Question, known: Sequence[Definition]) -> Definition:
    line = int(question.target)
    around = [definition for definition in known if definition.first <= line <= definition.last]
    if around:
        return max(around, key=lambda definition: (definition.first, -definition.last))
    nearest = sorted(known, key=lambda definition: abs(definition.line - line))[:_OFFERED]
    listed = ", ".join(f"`{definition.name}` ({definition.line})" for definition in nearest)
    advice = f" The nearest functions: {listed}." if listed else " It has no functions."
    raise AuditError(f"{question.file}:{line} lies in no function.{advice}")


def _plain(name: str) -> str:
    return name.replace(".<locals>", "")


def _is_overload(definition: Definition) -> bool:
    return any(
        getattr(decorator, "attr", getattr(decorator, "id", "")).endswith("overload")
        for decorator in definition.node.decorator_list
    )


def _near(wanted: str, known: Sequence[Definition]) -> str:
    """Names that may have been meant: spelled alike, or with the same last part."""
    from difflib import get_close_matches

    names = {_plain(definition.name): definition.name for definition in known}
    last = wanted.rpartition(".")[2].lower()
    same = [name for name in names if name.rpartition(".")[2].lower() == last]
    close = [*same, *(name for name in get_close_matches(wanted, names, n=_OFFERED, cutoff=0.5) if name not in same)]
    listed = ", ".join(f"`{name}`" for name in close[:_OFFERED])
    if listed:
        return f" Near names: {listed}."
    count = len(names)
    return f" It has {count} others; none is called alike." if count else " It has no functions."
