"""Where a program asks for gradients of what custom operators compute.

The files that use an operator, and those that use them, are interpreted once more, with track kept of gradients: what
stands at their top level, the functions that begin a backward pass, and the `forward` of their modules. Another machine
does it, so that nothing that rules find depends on it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Gradient
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import Words
from nonstrict.findings import Related
from nonstrict.program.discovery import roots
from nonstrict.program.domain.effects import Summary, reachable, span_of
from nonstrict.program.externals import differentiation
from nonstrict.program.mutations import indirect
from nonstrict.program.mutations.writes import functions_with
from nonstrict.program.objects import classes, definition_values, naming
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: What asks for gradients, besides methods called `backward`.
_AUTOGRAD = "torch.autograd"
#: Code that makes parameters which need no gradients: which ones, is not told.
_FREEZING = frozenset({"requires_grad", "requires_grad_"})
_FREEZES = re.compile(r"(?<=\.)(?:requires_grad_\(\s*(?:requires_grad\s*=\s*)?False|requires_grad\s*=\s*False)")
#: Imports are followed so far from an operator, to so many files.
_HOPS = 3
_MAX_FILES = 40
_MAX_FUNCTIONS = 60
_BUDGET = 300


class Need(NamedTuple):
    """Why an operator needs a formula: `how`, and where that is seen."""

    how: Gradient
    at: Related


class _Needs:
    """What was found out, once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], list[Need]] | None = None

    def of(self, machine: Machine) -> dict[tuple[str, int], list[Need]]:
        """By file and line of their marks, why operators need a formula."""
        if self._known is None:
            self._known = _seen(machine)
        return self._known


def needs(machine: Machine, mark: Mark) -> list[Need]:
    """Why an operator needs a formula; nothing where no gradient was seen to reach it."""
    return machine.part(_Needs).of(machine).get(_key(mark), [])


def _key(mark: Mark) -> tuple[str, int]:
    return mark.path, getattr(mark.node, "lineno", 0) + mark.offset


def _seen(machine: Machine) -> dict[tuple[str, int], list[Need]]:
    """By file and line of the marks of operators, where gradients are asked of them."""
    other = machine.aside()
    for path in sorted({mark.path for mark in machine.marks.values() if mark.operator is not None}):
        module = other.project.module(path)
        if module is not None:
            roots.discover(other, module, roots.words_in(module.source.code))
    found: dict[tuple[str, int], dict[Need, None]] = {}
    for summary, owner in _interpreted(other, list(_concerned(other))):
        for key, need in _needs_in(summary, owner):
            found.setdefault(key, {})[need] = None
    return {key: list(told) for key, told in found.items()}


def _concerned(machine: Machine) -> Iterator[tuple[Module, set[str]]]:
    """The modules that declare operators, those that import them and name what computes with one, and so on.

    With each the names that lead to an operator there.
    """
    named: dict[str, set[str]] = {}
    for mark in machine.marks.values():
        if mark.operator is not None:
            named.setdefault(mark.path, set()).update(roots.names_of(machine, mark), _makers(mark))
    level = list(named)
    for _ in range(_HOPS):
        level = [path for known in level if len(named) < _MAX_FILES for path in _users(machine, known, named)]
    for path in list(named)[:_MAX_FILES]:
        module = machine.project.module(path)
        if module is not None and not freezes(module):
            yield module, _leading(module, named[path])


def _makers(mark: Mark) -> set[str]:
    """The functions in which an operator is made, to the outermost, and the class of a method."""
    within, found = mark.within, set[str]()
    while within is not None:
        found |= {within.name} if within.owner is None else {within.name, within.owner.name}
        within = within.closure.function if within.closure is not None else None
    return found


def _users(machine: Machine, path: str, named: dict[str, set[str]]) -> list[str]:
    """The files that come to be concerned by way of one; what computes with an operator there is entered in `named`."""
    module = machine.project.module(path)
    if module is None:
        return []
    names = named[path] = _leading(module, named[path])
    mention = Words(names)
    data = machine.elsewhere.data
    found = [one for one in machine.elsewhere.importers(module) if one not in named and mention.are_in(data(one))]
    named.update((one, set(names)) for one in found)
    return found


def _leading(module: Module, names: set[str]) -> set[str]:
    """Some names, and those of the definitions, imports and variables of a module whose text leads to one of them."""
    found, layer = set(names), set(names)
    while layer:
        renamed = (
            name for name, bindings in module.bindings.items() if any(one.attribute in layer for one in bindings)
        )
        assigned = set[str]().union(*(module.assigned_from.get(name, ()) for name in layer))
        layer = {*renamed, *assigned, *(chunk.name for chunk in module.chunks_with(layer))} - found
        found |= layer
    return found


def freezes(module: Module) -> bool:
    """Whether code of a module, not a comment or a docstring, makes parameters that need no gradients."""
    return any(_FREEZES.match(module.source.code, start) for start, _ in module.outline.places(_FREEZING))


def _interpreted(machine: Machine, modules: list[tuple[Module, set[str]]]) -> Iterator[tuple[Summary, str]]:
    """What is done where gradients may be asked for; for a `forward`, whose it is."""
    count = 0
    for module, names in modules:
        if roots.outside_imports(module, names):
            yield _top_level(machine, module), ""
        for node, offset, is_top_level in functions_with(module, _worth(machine, module)):
            if is_top_level:
                continue
            frame = machine.module_frame(module)
            owner = definition_values.class_of(frame, node, offset) if isinstance(node, ast.ClassDef) else None
            is_module = owner is not None and classes.is_module(owner)
            for function in node.body if isinstance(node, ast.ClassDef) else [node]:
                if not isinstance(function, ast.FunctionDef) or count >= _MAX_FUNCTIONS:
                    continue
                forward = is_module and function.name == "forward"
                if forward or _begins(naming.names_of_method(machine, module, function), function):
                    count += 1
                    machine.begin()
                    told = f"{node.name}.forward" if forward and isinstance(node, ast.ClassDef) else ""
                    yield indirect.interpreted(machine, module, function, offset, owner, differentiates=True), told


def _worth(machine: Machine, module: Module) -> re.Pattern[str]:
    """What stands in the text of functions that are worth reading: some may turn out to begin a backward pass."""
    frame = machine.module_frame(module)
    handed_on = (
        name
        for name, bindings in module.bindings.items()
        if any(binding.kind == "import" or naming.is_chain(binding.node) for binding in bindings)
    )
    known = [name for name in handed_on if _is_autograd(naming.dotted(frame, ast.Name(name, ast.Load())))]
    words = "|".join(map(re.escape, ("autograd", *known)))
    return re.compile(rf"\bbackward\(|\bdef forward\b|\b(?:{words})\b")


def _begins(names: Names, function: ast.FunctionDef) -> bool:
    """Whether a function may begin a backward pass."""
    for node in walk(function):
        if isinstance(node, ast.Call) and last_name(node.func) == "backward":
            return True
        if naming.is_chain(node) and _is_autograd(names(node)):
            return True
    return False


def _is_autograd(known: str) -> bool:
    return known == _AUTOGRAD or known.startswith(f"{_AUTOGRAD}.")


def _top_level(machine: Machine, module: Module) -> Summary:
    summary = Summary(module.name)
    frame = Frame(machine, module, 0, summary)
    frame.differentiates = True
    with machine.summaries.aside(_BUDGET):
        machine.execute(frame, module.outline.shell.body)
    return summary


def _needs_in(summary: Summary, forward: str) -> Iterator[tuple[tuple[str, int], Need]]:
    for step in reachable(summary):
        for effect in step.summary.effects.values():
            mark = effect.value.mark
            if mark is not None and effect.event is Event.GRADIENT and (effect.how is Gradient.BACKWARD or not forward):
                how = effect.how if isinstance(effect.how, Gradient) else Gradient.FORWARD
                yield _key(mark), Need(how, _related(effect))
    for effect in differentiation.reached(summary.returns) if summary.returns is not None and forward else ():
        at = Related(effect.span, f"`{forward}` returns what follows from this call and from parameters")
        if effect.value.mark is not None:
            yield _key(effect.value.mark), Need(Gradient.FORWARD, at)


def _related(effect: Effect) -> Related:
    span = span_of(effect.path, effect.offset, effect.node)
    if effect.how is Gradient.BACKWARD:
        return Related(span, "the backward pass begins here")
    return Related(span, "a compiled region passes a tensor that needs gradients here")
