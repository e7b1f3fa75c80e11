"""How a marker was applied: between which decorators, under which name, and whether its result is kept."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.discarded import is_statement
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.contracts.marks import unattached
from nonstrict.program.discovery import roots
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import parameters

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine


#: How many modules of the project hand on the name of a marker, at most.
_HOPS = 3


class Applied(NamedTuple):
    """A decorator, or a call around or inside the marker's: `name` is the canonical dotted name, "" if not known."""

    name: str
    span: Span

    @property
    def kind(self) -> str:
        """The contract of a marker API, else ""."""
        marker = MARKERS.get(self.name)
        return marker.kind if marker is not None else ""


class Application(NamedTuple):
    """Where one marker stands: what is applied to its result, and what was applied before it, nearest first."""

    above: tuple[Applied, ...] = ()
    below: tuple[Applied, ...] = ()


def of(machine: Machine, mark: Mark) -> Application:
    """How a marker was applied."""
    node = mark.target.of_class.node if mark.target.kind is Kind.CLASS and mark.target.of_class is not None else None
    if mark.function is not None and node is None:
        node = mark.function.node
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    for index, decorator in enumerate(decorators):
        if decorator is mark.node:
            names = [_decorator(machine, mark, each) for each in decorators]
            return Application(tuple(reversed(names[:index])), tuple(names[index + 1 :]))
    return Application(_around(machine, mark), _inside(machine, mark))


def _decorator(machine: Machine, mark: Mark, decorator: ast.expr) -> Applied:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return Applied(_dotted(machine, mark, node), span_of(mark.path, mark.offset, decorator))


def _dotted(machine: Machine, mark: Mark, node: ast.expr) -> str:
    """The canonical name of a dotted expression beside a marker."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return ""
    module = machine.project.module(mark.path)
    if module is None:
        return ""
    frame = machine.module_frame(module)
    if mark.function is not None and mark.function.module is module:
        frame = parameters.definition_frame(frame, mark.function)
    found = machine.evaluate(frame, node)
    return found.dotted if found.kind is Kind.EXTERNAL else ""


def _around(machine: Machine, mark: Mark) -> tuple[Applied, ...]:
    """The calls that the marker's call is an argument of: `disable(nonstrict_trace(f))`."""
    if not isinstance(mark.node, ast.Call):
        return ()
    for statement in _statements(machine, mark):
        for outer in walk(statement):
            if isinstance(outer, ast.Call) and any(argument is mark.node for argument in outer.args):
                return (Applied(_dotted(machine, mark, outer.func), span_of(mark.path, mark.offset, outer)),)
    return ()


def _inside(machine: Machine, mark: Mark) -> tuple[Applied, ...]:
    """What is called to make the marker's argument: `nonstrict_trace(classmethod(f))`."""
    found: list[Applied] = []
    node = mark.node
    while isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Call):
        node = node.args[0]
        found.append(Applied(_dotted(machine, mark, node.func), span_of(mark.path, mark.offset, node)))
    return tuple(found)


def _statements(machine: Machine, mark: Mark) -> list[ast.AST]:
    """The top-level statements around a marker's expression."""
    module = machine.project.module(mark.path)
    line = getattr(mark.node, "lineno", 0) + mark.offset
    return [statement for statement, _ in roots.around(module, line)] if module is not None else []


def is_dropped(machine: Machine, mark: Mark) -> bool:
    """Whether a marker is called by its own name and nothing keeps the result."""
    node = mark.node
    if not isinstance(node, ast.Call) or not (_dotted(machine, mark, node.func) or last_name(node) == mark.api):
        return False
    return any(is_statement(statement, node) for statement in _statements(machine, mark))


# -- which torch has the spelling ---------------------------------------------------------------------------------


def is_guarded(machine: Machine, mark: Mark) -> bool:
    """Whether the marker's name is chosen, imported or used behind a test or a handler, or is one of several.

    A name of the project that holds the marker counts too: what is missing is told where it is read.
    """
    module = machine.project.module(mark.path)
    if module is None:
        return True
    node = mark.node
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Call):
        node = node.func
    value = machine.evaluate(machine.module_frame(module), node) if isinstance(node, ast.expr) else None
    if value is None or value.kind is not Kind.EXTERNAL or value.ref != mark.spelling:
        return True
    if unattached.is_guarded(module, _statements(machine, mark), mark.node):
        return True
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return not isinstance(root, ast.Name) or not _is_of_torch(machine, module, root.id)


def _is_of_torch(machine: Machine, module: Module, name: str, hops: int = _HOPS) -> bool:
    """Whether a top-level name is surely imported, in the end from torch; several imports make one of a package."""
    bindings = module.bindings.get(name, [])
    if not bindings or any(binding.kind != "import" or binding.conditional for binding in bindings):
        return False
    if len(bindings) > 1:
        return not any(binding.attribute for binding in bindings)
    dotted = machine.project.absolute(bindings[0].module, bindings[0].level, module)
    if dotted.partition(".")[0] == "torch":
        return True
    path = machine.project.find(dotted, module) if hops and bindings[0].attribute else None
    handing = machine.project.module(path) if path is not None else None
    return handing is not None and _is_of_torch(machine, handing, bindings[0].attribute, hops - 1)


# -- what a class stands for --------------------------------------------------------------------------------------


def is_registered(machine: Machine, target: Value) -> bool:
    """Whether the module of a class registers it with pytree, as far as its text tells."""
    cls = target.of_class
    if cls is None:
        return False
    module = cls.module
    code = module.source.code
    if not any(word in code for word in ("register_dataclass", "register_pytree_node", "register_constant")):
        return False
    names = (
        getattr(inner, "id", "")
        for statement in (module.outline.shell, cls.node)
        for call in walk(statement)
        if isinstance(call, ast.Call) and last_name(call).startswith("register_")
        for inner in walk(call)
    )
    decorators = (last_name(decorator) for decorator in cls.node.decorator_list)
    return cls.name in names or any(name.startswith("register_") for name in decorators)
