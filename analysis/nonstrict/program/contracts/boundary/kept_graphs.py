"""Graphs that are only used for the sizes that they were traced for: kept under these, or used up at once."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.key_sizes import Asked, may_tell, whole_number
from nonstrict.facts.laziness import puts_by_key
from nonstrict.facts.scopes import FunctionNode, parameter_names
from nonstrict.facts.walk import children, walk
from nonstrict.program.contracts.boundary.dynamic_sizes import size_of, unpacked
from nonstrict.program.discovery import callers, roots
from nonstrict.program.domain.values import Kind
from nonstrict.program.mutations.resolving import function_at
from nonstrict.program.objects import definition_values, naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function, Mark
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Functions that return a graph, and those that hand a key on, are followed so far.
_MAX_CALLS = 3


class _Traced(NamedTuple):
    """An expression that is a graph, in a function or outside of all; the tensors that it was traced with."""

    module: Module
    function: Function | None
    node: ast.expr
    tensors: tuple[Asked, ...]
    #: whether the sizes of each of the tensors matter, and not of some of them
    each: bool

    @property
    def around(self) -> FunctionNode | ast.Module:
        """The function, or what stands outside functions."""
        return self.function.node if self.function is not None else self.module.outline.shell


def only_for_its_sizes(body: Interpreted, effect: Effect) -> bool:
    """Whether the graph in which a size was decided is never used for a tensor of another size, as far as known."""
    machine, mark = body.machine, body.mark
    found = list(_traces(machine, mark, _asked(body, effect))) if mark.kind == "make-fx" else []
    return bool(found) and all(_is_kept(machine, traced, _MAX_CALLS) for traced in found)


# -- what is asked ------------------------------------------------------------------------------------------------


def _asked(body: Interpreted, effect: Effect) -> dict[int, set[int | None]]:
    """Which dimensions of which arguments, by their position, a condition asks for; nothing where that is not known."""
    function = body.mark.function
    if function is None or effect.path != function.module.path or effect.node not in walk(function.node):
        return {}
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    bound = body.mark.target.kind in (Kind.BOUND, Kind.MODULE, Kind.OBJECT)
    found: dict[int, set[int | None]] = {}
    for part in walk(effect.node):
        size = (size_of(part) or unpacked(body, part)) if isinstance(part, ast.expr) else None
        if size is not None and size[0] in names[bound:]:
            found.setdefault(names.index(size[0]) - bound, set()).add(size[1])
    for dimensions in found.values():
        if dimensions != {None}:
            dimensions.discard(None)  # `x.shape` within `x.shape[0]`
    return found


# -- where graphs are made ----------------------------------------------------------------------------------------


def _traces(machine: Machine, mark: Mark, asked: dict[int, set[int | None]]) -> Iterator[_Traced]:
    """The calls of what a marker returned, where they stand in the same function: `make_fx(f)(x)`."""
    module = machine.project.module(mark.path)
    if module is None:
        return
    function = _holder(machine, module, mark.within, mark.node, mark.offset)
    around = function.node if function is not None else module.outline.shell
    names = naming.names_in(machine, function) if function is not None else None
    markers = {
        node
        for node in walk(around)
        if node is mark.node or (names is not None and isinstance(node, ast.Call) and names(node.func) == mark.spelling)
    }
    tracers = {name for name, value in _bound(around) if value in markers}
    for node in walk(around):
        if isinstance(node, ast.Call) and (node.func in markers or getattr(node.func, "id", "") in tracers):
            tensors = tuple(_tensors(node, asked))
            yield _Traced(function.module if function is not None else module, function, node, tensors, bool(asked))


def _holder(machine: Machine, module: Module, function: Function | None, node: ast.AST, offset: int) -> Function | None:
    """The function that holds a node, also where only what it leaves in a table was asked for, outside functions."""
    if function is not None:
        return function
    around, start = next(roots.around(module, getattr(node, "lineno", 0) + offset), (None, 0))
    found, owner = function_at(around, node)
    if found is None:
        return None
    frame = machine.module_frame(module)
    cls = definition_values.class_of(frame, owner, start) if owner is not None else None
    return definition_values.function_of(frame, found, start, cls)


def _tensors(call: ast.Call, asked: dict[int, set[int | None]]) -> Iterator[Asked]:
    """The arguments of a call whose sizes are asked for; all of them where that is not known."""
    starred = next((at for at, one in enumerate(call.args) if isinstance(one, ast.Starred)), len(call.args))
    for at, dimensions in asked.items():
        given = (
            [*call.args[at : at + 1]] if at < starred else [_spread(one, at - starred) for one in call.args[starred:]]
        )
        yield from (Asked(one, dimension) for one in given[:1] for dimension in dimensions)
    if not asked:
        yield from map(Asked, call.args)


def _spread(arguments: ast.expr, index: int) -> ast.Starred:
    """One of `*args`, as `*args[1]`."""
    values = arguments.value if isinstance(arguments, ast.Starred) else arguments
    return ast.Starred(ast.Subscript(values, ast.Constant(index), ast.Load()), ast.Load())


def _bound(around: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables that are bound by assignments, with what they are bound to."""
    for node in walk(around):
        if isinstance(node, (ast.Assign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node.value) for target in targets if isinstance(target, ast.Name))


# -- where graphs go ----------------------------------------------------------------------------------------------


def _is_kept(machine: Machine, traced: _Traced, depth: int) -> bool:
    """Whether whatever a graph becomes is told apart by the sizes of the tensors that it was traced with."""
    around, function = traced.around, traced.function
    names = {name for name, value in _bound(around) if value is traced.node}
    graphs = {one for one in walk(around) if isinstance(one, ast.Name) and one.id in names} | {traced.node}
    uses = [(node, graph) for node in walk(around) for graph in children(node) if graph in graphs]
    keys = [key for use, graph in uses for key in _keys(use, graph)]
    if keys:
        return all(_tells(machine, traced, key, depth) for key in keys)
    if function is None:
        return False
    if function.cached_at is not None:
        return any(
            may_tell(around, ast.Name(name, ast.Load()), one) for name in _given(function) for one in traced.tensors
        )
    if any(isinstance(use, ast.Return) for use, _ in uses):
        return depth > 0 and _is_kept_by_callers(machine, function, traced, depth - 1)
    return _is_used_up(traced, uses)


def _keys(use: ast.AST, graph: ast.AST) -> Iterator[ast.expr]:
    """Under which keys a graph is put into a container."""
    if isinstance(use, ast.Assign) and graph is use.value:
        yield from (target.slice for target in use.targets if isinstance(target, ast.Subscript))
    elif isinstance(use, ast.DictComp) and graph is use.value:
        yield use.key
    elif isinstance(use, ast.Call) and puts_by_key(use) and graph in use.args[1:]:
        yield use.args[0]


def _tells(machine: Machine, traced: _Traced, key: ast.expr, depth: int) -> bool:
    """Whether a key tells the sizes; one that a function is handed is told by the callers, as far as they are known."""
    enough = all if traced.each else any
    if traced.tensors and enough(may_tell(traced.around, key, one) for one in traced.tensors):
        return True
    function = traced.function
    if function is None or not depth:
        return False
    tensors = {one.id for asked in traced.tensors for one in walk(asked.tensor) if isinstance(one, ast.Name)}
    named = {one.id for one in walk(key) if isinstance(one, ast.Name)} - tensors
    return any(_is_told_by_callers(machine, function, traced, name, depth - 1) for name in named & {*_given(function)})


def _is_told_by_callers(machine: Machine, function: Function, traced: _Traced, name: str, depth: int) -> bool:
    found = list(callers.passings(machine, function, name))
    return not found or any(
        passing.expression is None
        or not isinstance(passing.node, ast.Call)
        or _tells(machine, _at_call(machine, function, traced, passing.frame, passing.node), passing.expression, depth)
        for passing in found
    )


def _is_kept_by_callers(machine: Machine, function: Function, traced: _Traced, depth: int) -> bool:
    """Whether all calls of a function that returns a graph keep it under the sizes, or use it up."""
    roots.find_calls(machine, function.module, callers.aliases(function))
    calls = [(frame, node) for frame, node, _, _ in machine.static_calls.get(function.node, ())]
    return bool(calls) and all(
        isinstance(node, ast.Call) and _is_kept(machine, _at_call(machine, function, traced, frame, node), depth)
        for frame, node in calls
    )


def _at_call(machine: Machine, function: Function, traced: _Traced, frame: Frame, call: ast.Call) -> _Traced:
    """The graph that a call of a function returns, with the tensors that it passes on."""
    tensors = tuple(one for asked in traced.tensors for one in _passed(function, asked, call))
    holder = _holder(machine, frame.module, frame.function, call, frame.offset)
    return _Traced(frame.module, holder, call, tensors, traced.each)


def _passed(function: Function, asked: Asked, call: ast.Call) -> Iterator[Asked]:
    arguments = function.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    names = names[1:] if function.owner is not None and function.binding != "static" else names
    for name in {one.id for one in walk(asked.tensor) if isinstance(one, ast.Name)}:
        dimension = asked.dimension if isinstance(asked.tensor, ast.Name) else None
        if arguments.vararg is not None and name == arguments.vararg.arg:
            part = asked.tensor.value if isinstance(asked.tensor, ast.Starred) else asked.tensor
            index = whole_number(part.slice) if isinstance(part, ast.Subscript) else None
            spread = call.args[len(names) :]
            yield from (Asked(one, asked.dimension) for one in (spread if index is None else spread[index : index + 1]))
        elif name in names and names.index(name) < len(call.args):
            yield Asked(call.args[names.index(name)], dimension)
        yield from (Asked(keyword.value, dimension) for keyword in call.keywords if keyword.arg == name)


def _is_used_up(traced: _Traced, uses: list[tuple[ast.AST, ast.AST]]) -> bool:
    """Whether all that is done with a graph is to call it with what it was traced with, which is not bound anew."""
    if not isinstance(traced.node, ast.Call):
        return False
    given = [ast.dump(one) for one in traced.node.args]
    calls = [use for use, graph in uses if isinstance(use, ast.Call) and use.func is graph]
    if not calls or not all([ast.dump(one) for one in call.args] == given for call in calls):
        return False
    names = {one.id for argument in traced.node.args for one in walk(argument) if isinstance(one, ast.Name)}
    bound = Counter(
        node.arg if isinstance(node, ast.arg) else node.id
        for node in walk(traced.around)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    )
    return all(_stays(use) for use, _ in uses if use not in calls) and all(bound[name] <= 1 for name in names)


def _stays(use: ast.AST) -> bool:
    """Whether a graph gets a name, or something is asked of it."""
    if isinstance(use, ast.Assign):
        return all(isinstance(target, ast.Name) for target in use.targets)
    return isinstance(use, (ast.NamedExpr, ast.Attribute, ast.Compare))


def _given(function: Function) -> tuple[str, ...]:
    """The parameters of a function, without what a method is called on."""
    names = parameter_names(function.node.args)
    return names[1:] if function.owner is not None and function.binding != "static" else names
