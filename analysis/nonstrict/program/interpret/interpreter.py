"""The interpreter: a machine with the parts that evaluate, execute and call, which meet nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.execution import entries
from nonstrict.facts.scopes import scope_of
from nonstrict.knowledge.releases import BASE
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals import differentiation, running
from nonstrict.program.interpret import (
    assignments,
    bodies,
    context_managers,
    decorating,
    globals_of,
    invoke,
    requested_fixtures,
)
from nonstrict.program.interpret import expressions as _expressions
from nonstrict.program.interpret import statements as _statements
from nonstrict.program.objects import classes, definition_values, parameters, registries
from nonstrict.program.objects.annotations import promised_value
from nonstrict.program.state.frames import Frame
from nonstrict.program.state.machine import Machine
from nonstrict.program.state.mutations_protocol import Mutations

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.linking.project import Project
    from nonstrict.program.linking.searches import Bytes
    from nonstrict.program.state.contracts_protocol import Contracts


class Interpreter(Machine):
    """Interprets functions of a project; results are shared between the marked functions of one part of a run."""

    def __init__(
        self,
        project: Project,
        contracts: Contracts,
        files: Sequence[str] = (),
        torch: tuple[int, int] = BASE,
        found: Bytes | None = None,
        mutations: type[Mutations] = Mutations,
    ) -> None:
        super().__init__(project, contracts, files, torch, found, mutations)
        self._installed: dict[str, Value | None] = {}
        self._outside: dict[tuple[str, bool], Value] = {}
        self._members: dict[tuple[tuple[str, ...], str, str], Value] = {}
        self._running: dict[FunctionNode, bool] = {}
        self._frames: dict[str, Frame] = {}
        self._static: dict[tuple[object, ...], Frame] = {}

    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression, its captured reads not yet counted as uses."""
        return _expressions.evaluate(frame, node)

    def execute(self, frame: Frame, body: Sequence[ast.stmt]) -> None:
        """Interpret statements in a frame."""
        if frame.function is not None and body is getattr(frame.function.node, "body", None):
            decorating.enter(frame)
        _statements.execute(frame, body)

    def store(self, frame: Frame, target: ast.expr, value: Value, source: ast.AST) -> None:
        """Assign to a target."""
        assignments.store(frame, target, value, source)

    def define(self, frame: Frame, node: ast.AST, offset: int) -> Value:
        """The value of a function or class definition, decorators applied."""
        return definition_values.define(frame, node, offset)

    def annotated(self, frame: Frame, node: ast.AST | None, place: AccessPath) -> Value:
        """The value an annotation promises."""
        return promised_value(frame, node, place)

    def instance_at(self, cls: Class, place: AccessPath) -> Value:
        """An instance of a class of the program that lives at `place`."""
        return classes.instance_at(self, cls, place)

    def call(
        self, frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """The result of calling a value; effects go to the frame."""
        if frame.differentiates:
            return differentiation.call(invoke.call, frame, node, callee, positional, keywords)
        return invoke.call(frame, node, callee, positional, keywords)

    def enter(self, frame: Frame, node: ast.AST, manager: Value) -> Value:
        """What `with manager as …` binds; entering may have effects."""
        return context_managers.enter(frame, node, manager)

    def global_value(self, module: Module, name: str) -> Value:
        """What a top-level name of a module holds, at its global place; builtins last."""
        return globals_of.value(self, module, name)

    def module_attribute(self, importer: Module, dotted: str, attribute: str) -> Value:
        """What `dotted.attribute` is, for a Python module of the project or an external one."""
        key = (self.project.folders_of(importer), dotted, attribute)
        found = self._members.get(key)
        if found is None:
            found = globals_of.member(self, importer, dotted, attribute)
            if found.kind is not Kind.UNKNOWN:
                self._members[key] = found
        return found

    def installed(self, dotted: str) -> Value | None:
        """The definition of something in an installed package, from its source."""
        if dotted not in self._installed:
            self._installed[dotted] = None
            self._installed[dotted] = globals_of.installed(self, dotted)
        return self._installed[dotted]

    def fill(self, frame: Frame, table: Value) -> None:
        """A table of a top level is read: whatever the program puts into it while it is imported is there."""
        registries.asked(frame, table)

    def outside(self, external: Value, *, ask: bool = True) -> Value:
        """An external name that is used as a value: what an installed package binds it to, if that is to be had."""
        key = (external.dotted, ask)
        if key not in self._outside:
            self._outside[key] = external
            self._outside[key] = globals_of.held_outside(self, external, ask=ask)
        return self._outside[key]

    def runs_region(self, function: Function) -> bool:
        """Whether a function calls compiled code, itself or in what it calls."""
        if function.node not in self._running:
            self._running[function.node] = False
            self._running[function.node] = running.runs_region(self, function)
        return self._running[function.node]

    def module_frame(self, module: Module) -> Frame:
        """The static frame of a module's top level."""
        frame = self._frames.get(module.path)
        if frame is None:
            frame = Frame(self, module, 0, Summary(module.name), static=True)
            self._frames[module.path] = frame
        return frame

    def static_frame(
        self, function: Function, receiver: Value | None = None, given: Mapping[str, Value] | None = None
    ) -> Frame:
        """A function interpreted as code outside any traced body, its arguments as its text tells, or as `given`."""
        key = (id(function), id(receiver.heap) if receiver is not None else 0, bool(given))
        frame = self._static.get(key)
        if frame is None:
            frame = Frame(
                self,
                function.module,
                function.offset,
                Summary(function.qualname),
                function=function,
                scope=scope_of(function.node),
                static=True,
            )
            self._static[key] = frame
            top = function.owner is None and function.closure is None
            frame.at_module_level = top and function.name in entries(function.module.outline.shell)
            known = {**requested_fixtures.given(frame, function, receiver), **(given or {})}
            frame.env.update(parameters.of_marked(frame, function, known, receiver))
            bodies.run(self, frame)
        return frame
