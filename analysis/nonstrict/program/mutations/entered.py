"""Changes by context managers that are entered around code which runs nothing compiled, and taken back behind it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import save_restore
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.walk import walk
from nonstrict.program.discovery import roots, run_once
from nonstrict.program.externals.running import may_be_compiled
from nonstrict.program.mutations import indirect
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.preparing import is_of_tensors, may_run_compiled

if TYPE_CHECKING:
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine


def passes(machine: Machine, write: Write) -> bool:
    """Whether a context manager makes a change and takes it back, and no compiled code runs in between."""
    module = machine.project.module(write.path)
    manager = _manager(module, write) if module is not None else None
    if module is None or manager is None:
        return False
    key = (module.path, manager)
    known = machine.part(FoundWrites).around_eager
    if key not in known:
        known[key] = False
        known[key] = _around_eager(machine, module, manager)
    return known[key]


def _manager(module: Module, write: Write) -> str | None:
    """The name of the context manager of a module that puts back what a write changes."""
    line = getattr(write.node, "lineno", 0) + write.offset
    for node, _ in roots.around(module, line):
        if isinstance(node, ast.FunctionDef) and scope_of(node).is_generator and node.decorator_list:
            return node.name if write.node in save_restore.restored(node) else None
        if isinstance(node, ast.ClassDef):
            return node.name if write.node in save_restore.restored_on_exit(node) else None
    return None


def _around_eager(machine: Machine, module: Module, name: str) -> bool:
    """Whether all that is done with a context manager is to enter it around code that runs nothing compiled."""
    uses = list(run_once.everywhere(machine, module, name))
    return bool(uses) and all(_is_eager(machine, user, around) for user, around in uses)


def _is_eager(machine: Machine, user: Module, around: list[ast.AST]) -> bool:
    if any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in around):
        return True
    block = _entered(around)
    if block is None or any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in walk(block)):
        return False  # what runs then is not here
    functions = [one for one in around if isinstance(one, FunctionNode)]
    runs = any(may_run_compiled(machine, user, functions, one) for one in block.body)
    return not runs and not any(_hands_on(machine, user, functions, one) for one in block.body)


def _entered(around: list[ast.AST]) -> ast.With | ast.FunctionDef | None:
    """What the call of a context manager, the last of some nodes, is entered around: a block, or what it decorates."""
    holder = around[-2] if isinstance(around[-1], ast.Call) and len(around) > 1 else None
    if isinstance(holder, ast.FunctionDef) and around[-1] in holder.decorator_list:
        return holder
    block = around[-3] if isinstance(holder, ast.withitem) and len(around) > 2 else None
    return block if isinstance(block, ast.With) else None


def _hands_on(machine: Machine, user: Module, functions: list[FunctionNode], part: ast.AST) -> bool:
    """Whether a part of some functions gives a call what may be compiled: what it runs may call that."""
    calls = [inner for inner in walk(part) if isinstance(inner, ast.Call) and indirect.looks_into(inner)]
    given = [one for call in calls for one in (*call.args, *(keyword.value for keyword in call.keywords))]
    # Objects may hold what their methods run.
    given += [
        call.func.value
        for call in calls
        if isinstance(call.func, ast.Attribute) and not is_of_tensors(machine, user, functions, call.func)
    ]
    names = {inner.id: inner for one in given for inner in walk(one) if isinstance(inner, ast.Name)}
    if any(not names.keys().isdisjoint(scope_of(function).parameters) for function in functions):
        return True
    frame = machine.module_frame(user)
    local = frozenset[str]().union(*(scope_of(function).local for function in functions))
    held = (machine.evaluate(frame, node) for name, node in names.items() if name in user.bindings.keys() - local)
    return any(may_be_compiled(machine, one) for value in held for one in value.alternatives())
