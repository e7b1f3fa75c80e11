"""Modules that `importlib.reload` executes again: what they take from the environment may be something else then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.execution import steps_outside
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.domain.effects import Summary, reachable
from nonstrict.program.domain.values import Kind
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals.running import runs
from nonstrict.program.mutations.writes import functions_with
from nonstrict.program.objects import naming
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine


def rebindings(machine: Machine, module: Module, name: str) -> Iterator[Write]:
    """Where other files execute a module again that gives a name what it finds in the environment.

    A file that imports the name itself keeps what it imported: nothing is said where one does.
    """
    reloading = [user for user in machine.elsewhere.mentions(module, "reload") if "reload" in user.source.code]
    if not reloading or not _from_environment(machine, module, name):
        return
    if any(use.first == use.name for use in machine.elsewhere.users(module, name)):
        return
    for user in reloading:
        for call, offset in _once_running(machine, user):
            if _reloads(machine, user, call, module):
                yield Write(user.path, offset, call, How.REBOUND)


def _from_environment(machine: Machine, module: Module, name: str) -> bool:
    """Whether what the module gives a name follows from the environment."""
    summary = Summary(module.name)
    frame = Frame(machine, module, 0, summary)
    frame.plain = True
    for statement in getattr(module.outline.shell, "body", []):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            machine.execute(frame, [statement])
    found = (effect.event for reached in reachable(summary) for effect in reached.summary.effects.values())
    return Event.AMBIENT in found


def _once_running(machine: Machine, user: Module) -> Iterator[tuple[ast.Call, int]]:
    """The calls of functions that reload something, those outside functions once something ran."""
    for node, offset, top_level in functions_with(user, "reload"):
        if not top_level:
            yield from ((call, offset) for call in _looking_so(node))
            continue
        running = False
        for step in steps_outside(node):
            if running:
                yield from ((call, 0) for call in _looking_so(step.node))
            running = running or runs(machine, user, step.node)


def _looking_so(node: ast.AST) -> Iterator[ast.Call]:
    for inner in walk(node):
        if isinstance(inner, ast.Call) and last_name(inner) == "reload" and len(inner.args) == 1:
            yield inner


def _reloads(machine: Machine, user: Module, call: ast.Call, module: Module) -> bool:
    frame = machine.module_frame(user)
    if naming.dotted(frame, call.func) != "importlib.reload":
        return False
    held = machine.evaluate(frame, call.args[0])
    return held.kind is Kind.PYTHON_MODULE and machine.project.find(held.dotted, user) == module.path
