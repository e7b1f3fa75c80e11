"""Where a project gives objects of a class other values for their fields after they were made."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple, cast

from nonstrict.facts import fields
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.discovery.run_once import runs_once
from nonstrict.program.domain.effects import reachable, span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.mutations import strangers
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Span
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BLOCKS = ("body", "orelse", "finalbody", "handlers")
#: What is called without running anything that was compiled before.
_INERT = frozenset({Kind.EXTERNAL, Kind.PYTHON_MODULE, Kind.CLASS})


class Change(NamedTuple):
    """A place where fields of an object are set, by an assignment or by a method that assigns them.

    `early` says that nothing can have used the object before.
    """

    fields: frozenset[str]
    related: Related
    early: bool


def changes(body: Interpreted, argument: BoundaryArgument, cls: Class, names: frozenset[str]) -> Iterator[Change]:
    """Where objects of a class are given another value for one of some fields."""
    machine = body.machine
    methods = _methods(cls, names)
    words = names | frozenset(methods)
    paths = {cls.module.path, body.mark.path}
    if argument.site is not None:
        paths.add(argument.site.span.path)
        if argument.value.place.owner:
            paths.add(argument.value.place.file)
    for path in sorted(paths):
        module = machine.project.module(path)
        if module is not None and any(f".{name}" in module.source.code for name in words):
            yield from _in_module(body, module, cls, names, methods)


def traced(body: Interpreted) -> list[Span]:
    """Where the marked function is defined, and what it calls."""
    function = body.mark.function
    called = [reached.summary.definition for reached in reachable(body.summary)]
    every = [one for one in (function, *called) if one is not None]
    return [span_of(one.module.path, one.offset, one.node) for one in every]


def within(span: Span, around: Span) -> bool:
    """Whether a span lies within another."""
    return span.path == around.path and around.line <= span.line and span.end_line <= around.end_line


def _methods(cls: Class, names: frozenset[str]) -> dict[str, frozenset[str]]:
    """The methods of a class that set some fields of the object, with the fields."""
    found: dict[str, frozenset[str]] = {}
    for base in classes.lineage(cls):
        if not isinstance(base, str):
            for name, given in fields.changed_by_methods(base.node).items():
                if not names.isdisjoint(given) and name not in found:
                    found[name] = names & frozenset(given)
    return found


def _in_module(
    body: Interpreted, module: Module, cls: Class, names: frozenset[str], methods: dict[str, frozenset[str]]
) -> Iterator[Change]:
    parts: list[tuple[ast.AST, int]] = [(module.outline.shell, 0)]
    for chunk in module.chunks_with(names | frozenset(methods)):
        node = module.outline.node(chunk)
        if node is not None:
            parts.append((node, chunk.offset))
    for part, offset in parts:
        for node, holder, changed in _changing(part, names, methods):
            if _names_object(part, holder, cls) or _holds_object(body, module, part, offset, node, holder, cls):
                early = isinstance(holder, ast.Call) or _Order(body, module, part, last_name(holder)).is_early(node)
                yield Change(changed, Related(span_of(module.path, offset, node), "changed here"), early)


def _changing(
    part: ast.AST, names: frozenset[str], methods: dict[str, frozenset[str]]
) -> Iterator[tuple[ast.AST, ast.expr, frozenset[str]]]:
    """The assignments and calls that may change an object, with the expression for the object and the fields."""
    for store in fields.stores(part, names):
        yield store, store.value, frozenset({store.attr})
    own = fields.receivers(part) if methods else frozenset[str]()
    for call in walk(part) if methods else ():
        called = call.func if isinstance(call, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in methods and getattr(called.value, "id", "") not in own:
            yield call, called.value, methods[called.attr]


def _names_object(part: ast.AST, holder: ast.expr, cls: Class) -> bool:
    """Whether the text calls an expression an object of the class: by the call that makes it, or an annotation."""
    name = last_name(holder)
    if isinstance(holder, ast.Call):
        return name == cls.name
    for node in walk(part):
        made = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value) == cls.name
        if made and isinstance(node, ast.Assign) and any(last_name(target) == name for target in node.targets):
            return True
        annotated = isinstance(node, ast.arg) and node.arg == name and node.annotation is not None
        if annotated and isinstance(node, ast.arg) and last_name(node.annotation or node) == cls.name:
            return True
    return False


def _holds_object(
    body: Interpreted, module: Module, part: ast.AST, offset: int, changing: ast.AST, holder: ast.expr, cls: Class
) -> bool:
    """Whether an expression holds an object of the class, as the interpreter knows it."""
    if not isinstance(holder, ast.Name):
        return False
    if _is_local(part, holder.id):
        held = strangers.held_within(body.machine, module, part, offset, changing, holder)
    elif holder.id in module.bindings:
        held = body.machine.global_value(module, holder.id).alternatives()
    else:
        return False
    return any(one.kind is Kind.OBJECT and one.ref is cls for one in held)


def _is_local(part: ast.AST, name: str) -> bool:
    """Whether a definition binds a name itself, so that it is not that of the module."""
    if isinstance(part, ast.Module) or any(isinstance(node, ast.Global) and name in node.names for node in walk(part)):
        return False
    return any(
        (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        for node in walk(part)
    )


class _Order:
    """Whether an object is still being set up where it is changed: nothing of the program has run with it."""

    def __init__(self, body: Interpreted, module: Module, part: ast.AST, holder: str) -> None:
        self.body = body
        self.module = module
        self.part = part
        self.holder = holder

    def is_early(self, changing: ast.AST) -> bool:
        """Whether nothing of the program runs before a change, as far back as where the object is made."""
        way = _way_to(self.part, changing)
        for node, inner in zip(reversed(way[:-1]), reversed(way[1:]), strict=True):
            if isinstance(node, _FUNCTIONS):
                before = self._before(node.body, inner)
                return before if before is not None else self._runs_first(node)
            for block in _blocks(node):
                before = self._before(block, inner) if inner in block else None
                if before is not None:
                    return before
            if isinstance(node, _LOOPS) and any(map(self._runs, node.body)):
                return False
        return isinstance(self.part, ast.Module)

    def _before(self, block: Sequence[ast.AST], inner: ast.AST) -> bool | None:
        """Whether a block makes the object right before one of its statements; None if it only does other things."""
        index = next((number for number, node in enumerate(block) if node is inner), 0)
        for statement in reversed(block[:index]):
            if self._makes(statement):
                return True
            if self._runs(statement):
                return False
        return None

    def _makes(self, statement: ast.AST) -> bool:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return any(isinstance(target, ast.Name) and target.id == self.holder for target in targets)

    def _runs(self, statement: ast.AST) -> bool:
        """Whether a statement may run a function of the program."""
        if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            return False
        return any(isinstance(node, ast.Call) and self._may_run(node) for node in walk(statement))

    def _may_run(self, call: ast.Call) -> bool:
        root: ast.AST = call.func
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        name = getattr(root, "id", "")
        if not name or (name == self.holder and isinstance(call.func, ast.Attribute)):
            return False
        if any(isinstance(node, ast.Name) and node.id == self.holder for part in call.args for node in walk(part)):
            return True
        held = self.body.machine.global_value(self.module, name) if name in self.module.bindings else None
        if isinstance(call.func, ast.Name):
            return held.kind not in _INERT if held is not None else not hasattr(builtins, name)
        return held is not None and held.kind not in _INERT and held.kind is not Kind.UNKNOWN

    def _runs_first(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function runs but once, before anything else does, and is not itself what is compiled."""
        if function.name == "__init__":
            return True
        if function is not self.part or function.decorator_list:
            return False
        marked = self.body.mark.function
        if marked is not None and any(last_name(node) == marked.name for node in _calls(function)):
            return False
        held = self.body.machine.global_value(self.module, function.name)
        once = held.function is not None and runs_once(self.body.machine, held.function)
        return once and self._called_early(function.name)

    def _called_early(self, name: str) -> bool:
        """Whether the one call of a function stands before everything else that runs."""
        outline = self.module.outline
        parts = [outline.shell, *(outline.node(chunk) for chunk in self.module.chunks_with({name}))]
        for part in (one for one in parts if one is not None):
            for call in _calls(part):
                if isinstance(call.func, ast.Name) and call.func.id == name:
                    return _Order(self.body, self.module, part, "").is_early(call)
        return False


def _blocks(node: ast.AST) -> Iterator[list[ast.AST]]:
    for name in _BLOCKS:
        block: object = getattr(node, name, None)
        if isinstance(block, list):
            yield cast("list[ast.AST]", block)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (inner for inner in walk(node) if isinstance(inner, ast.Call))


def _way_to(part: ast.AST, wanted: ast.AST) -> list[ast.AST]:
    """The nodes from a definition or module down to a node."""
    parents = {child: node for node in walk(part) for child in ast.iter_child_nodes(node)}
    way = [wanted]
    while way[-1] is not part and way[-1] in parents:
        way.append(parents[way[-1]])
    return way[::-1]
