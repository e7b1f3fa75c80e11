"""Functions that nobody marked, as if a marker were applied to them: rules say of these bodies whether that is safe.

`suppose` has to be told before the function's definition is evaluated; then its calls are seen as those of a marked
function, in regions too. `supposed` makes a body of a function that was evaluated already.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import children
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.objects import classes, definition_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Markers that a function may be asked about, and their kinds.
CONTRACTS = {
    "nonstrict_trace": "nonstrict",
    "allow_in_graph": "in-graph",
    "assume_constant_result": "constant-result",
    "make_fx": "make-fx",
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_SELF = AccessPath(Root.ARGUMENT, "", "self")


class Definition(NamedTuple):
    """A function in the text of a module: the definitions that lead to it, itself the last; lines count from 1."""

    path: tuple[_Definition, ...]
    offset: int

    @property
    def node(self) -> _Definition:
        """The definition itself."""
        return self.path[-1]

    @property
    def name(self) -> str:
        """The qualified name, as Python spells it."""
        name = self.path[0].name
        for outer, inner in zip(self.path, self.path[1:], strict=False):
            name += f".{inner.name}" if isinstance(outer, ast.ClassDef) else f".<locals>.{inner.name}"
        return name

    @property
    def first(self) -> int:
        """The first line, with decorators."""
        node = self.node
        return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) + self.offset

    @property
    def line(self) -> int:
        """The line of the `def`."""
        return self.node.lineno + self.offset

    @property
    def last(self) -> int:
        """The last line."""
        return (self.node.end_lineno or self.node.lineno) + self.offset


def functions(module: Module) -> Iterator[Definition]:
    """All functions and methods in the text of a module, those around before those inside."""
    for chunk in module.outline.chunks:
        node = module.outline.node(chunk)
        if node is not None:
            yield from _below((node,), chunk.offset)
    for node in _directly_in(module.outline.shell):
        yield from _below((node,), 0)


def _below(path: tuple[_Definition, ...], offset: int) -> Iterator[Definition]:
    if isinstance(path[-1], _FUNCTIONS):
        yield Definition(path, offset)
    for node in _directly_in(path[-1]):
        yield from _below((*path, node), offset)


def _directly_in(node: ast.AST) -> Iterator[_Definition]:
    """The definitions in a part of a module that lie in no other definition."""
    for child in children(node):
        if isinstance(child, _SCOPES):
            yield child
        elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield from _directly_in(child)


def suppose(machine: Machine, module: Module, definition: Definition, api: str) -> None:
    """Take a function for marked from here on: evaluates its definition, and those around it.

    The marks are then in `machine.marks`; `is_supposed` tells them.
    """
    machine.supposed[definition.node] = api
    frame = machine.module_frame(module)
    machine.global_value(module, definition.path[0].name)
    owner: Class | None = None
    for node in definition.path[:-1]:
        if isinstance(node, ast.ClassDef):
            owner = definition_values.class_of(frame, node, definition.offset)
        else:
            function = definition_values.function_of(frame, node, definition.offset, owner)
            receiver = classes.instance_at(machine, owner, _SELF) if owner is not None else None
            if owner is not None:
                classes.own_member(machine, owner, node.name)
            frame = machine.static_frame(function, receiver if function.binding in ("", "property") else None)
            owner = None
    if owner is not None:
        classes.own_member(machine, owner, definition.node.name)
    if not any(is_supposed(mark, definition) for mark in machine.marks.values()):
        # Not reached by what was evaluated: behind a `return`, or replaced by another definition of its name.
        definition_values.define(frame, definition.node, definition.offset, owner)


def is_supposed(mark: Mark, definition: Definition) -> bool:
    """Whether a mark stands for the question about a function."""
    return isinstance(mark.node, Supposed) and mark.node.of[0] is definition.node


class Supposed(ast.Name):
    """Where the marker would stand: at the name of the function, on the line of its `def`."""

    _fields = ("id", "ctx")

    def __init__(self, definition: _Definition, api: str) -> None:
        keyword = "async def " if isinstance(definition, ast.AsyncFunctionDef) else "def "
        column = definition.col_offset + len(keyword)
        end = column + len(definition.name.encode("utf-8", "surrogatepass"))
        line = definition.lineno
        place = {"lineno": line, "col_offset": column, "end_lineno": line, "end_col_offset": end}
        super().__init__(id=api, ctx=ast.Load(), **place)
        #: in a tuple: it is no part of this tree
        self.of = (definition,)


def applied(frame: Frame, node: ast.AST, offset: int, value: Value, owner: Class | None) -> Value:
    """The value of a supposed function's definition: the marked function, in place of what the decorators made."""
    if not isinstance(node, _FUNCTIONS):
        return value
    machine = frame.machine
    api = machine.supposed[node]
    kind = CONTRACTS[api]
    function: Function | None = None
    target = value
    if value.mark is not None:
        if value.mark.kind == kind:
            _take_over(value.mark, node, offset, api)
            return value
        target, function = value.mark.target, value.mark.function
    elif value.function is not None:
        function = value.function
    if function is None:
        function = definition_values.function_of(frame, node, offset, owner)
        target = Value(Kind.FUNCTION, FRESH, function)
    arguments = function.node.args
    if function.owner is None and [parameter.arg for parameter in arguments.args[:1]] == ["self"]:
        function.owner = owner  # a decorator put another function in the method's place
    key = (id(function), kind, frame.module.path, offset, id(node))
    mark = machine.marks.get(key)
    if mark is None:
        mark = Mark(kind, api, target, frame.module.path, offset, Supposed(node, api), function)
        machine.marks[key] = mark
    return Value(Kind.MARKED, FRESH, mark)


def _take_over(mark: Mark, node: _Definition, offset: int, api: str) -> None:
    """A function that has the marker already: its mark answers the question."""
    if not isinstance(mark.node, Supposed):
        mark.node, mark.offset = Supposed(node, api), offset


def supposed(machine: Machine, function: Function, torch: tuple[int, int], api: str = "nonstrict_trace") -> MarkedBody:
    """A function of the program as a body, as if it were marked; the program itself is left as it is."""
    node = function.node
    place = Supposed(node, api) if not isinstance(node, ast.Lambda) else node
    target = Value(Kind.FUNCTION, FRESH, function)
    mark = Mark(CONTRACTS[api], api, target, function.module.path, function.offset, place, function)
    return MarkedBody(machine, mark, torch)
