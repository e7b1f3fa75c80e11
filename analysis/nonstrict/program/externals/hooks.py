"""Hooks of modules: on which modules code outside traced bodies registers them, and whether they stay there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Step
from nonstrict.facts import hooks as facts
from nonstrict.knowledge.operators import BASE_MODULE
from nonstrict.program.domain.access_paths import NOWHERE, AccessPath, Root
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.values import NESTED_MODULES, UNKNOWN, AbstractObject, Kind, Value, container
from nonstrict.program.externals import external_calls
from nonstrict.program.externals.running import names_run
from nonstrict.program.objects import classes, naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.state.frames import Frame

_HOOKS = frozenset({Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL})
#: What a hook is given at most, if it asks for no keywords, and what it is told of a module's arguments.
_GIVEN = 3
_INPUTS = container(Kind.TUPLE, Value(Kind.TENSOR))


class Members(AbstractObject):
    """Stands for the content of any of the modules in a module, its parts' parts among them or not."""

    __slots__ = ("deep", "root")

    def __init__(self, root: Value, *, deep: bool) -> None:
        super().__init__()
        self.root = root
        self.deep = deep


def member(frame: Frame, module: Value, name: str) -> Value | None:
    """What a loop over the modules in a module binds, where hooks may be registered on it; None elsewhere."""
    if not frame.static or module.heap is None or name not in facts.MODULES_IN:
        return None
    if not frame.module.holds("_hook("):
        return None
    return Value(Kind.MODULE, NOWHERE, BASE_MODULE, heap=Members(module, deep=facts.MODULES_IN[name]))


class Registration(NamedTuple):
    """A call, outside of what is traced, that registers a hook on a module: in one of the tables that a module has."""

    frame: Frame
    node: ast.AST
    module: AbstractObject
    table: str


class Registrations:
    """Those that the interpreter came to, by the module and the call."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, ast.AST], Registration] = {}

    @property
    def nodes(self) -> set[ast.AST]:
        """The calls that register."""
        return {node for _, node in self.known}

    def of(self, module: AbstractObject) -> list[Registration]:
        """Those on one module."""
        return [one for one in self.known.values() if one.module is module]


def register(frame: Frame, node: ast.AST, receiver: Value, name: str, positional: Sequence[Value]) -> None:
    """A hook is registered on a tensor or module: it runs now and then, and what it does is done while tracing."""
    if frame.static and receiver.kind is Kind.MODULE and name in facts.OF_MODULES:
        _note(frame, node, receiver.heap, facts.OF_MODULES[name])
    for given in positional:
        value = _called(frame, given)
        if value is None:
            continue
        if receiver.heap is not None and frame.static:
            _keep(frame, node, receiver, value, backward="backward" in name)
        else:
            of_module = receiver.kind is Kind.MODULE
            arguments = [receiver, UNKNOWN, Value(Kind.TENSOR)] if of_module else [Value(Kind.TENSOR)]
            external_calls.run_deferred(frame, node, value, "hook", arguments)


def _note(frame: Frame, node: ast.AST, heap: AbstractObject | None, table: str) -> None:
    known = frame.machine.part(Registrations).known
    if isinstance(heap, Members):
        modules = _chosen(frame, node, heap) if _is_clear(frame, node) else ()
        heaps = [one.heap for one in modules if one.heap is not heap.root.heap]
    else:
        heaps = [heap]
    for one in heaps:
        if one is not None:
            known[id(one), node] = Registration(frame, node, one, table)


def _called(frame: Frame, hook: Value) -> Value | None:
    """What runs when a hook is called: the function itself, or `__call__` of an object; None if it is not known."""
    if hook.kind is Kind.OBJECT and hook.of_class is not None:
        hook = classes.call_target(frame.machine, hook) or hook
    return hook if hook.kind in _HOOKS else None


def run(frame: Frame, node: ast.AST, module: Value) -> None:
    """A module is called: its hooks run, and those of whichever of its parts they were registered on."""
    heap = module.heap
    if heap is None:
        return
    if frame.region:
        _traced(frame, node, module)
        return
    for hook in [*heap.hooks, *heap.backward]:
        external_calls.run_deferred(frame, node, _outside(hook), "hook", [module, UNKNOWN, Value(Kind.TENSOR)])
    part = Value(Kind.MODULE, NOWHERE, BASE_MODULE)
    for hook in list(heap.inner):
        external_calls.run_deferred(frame, node, _outside(hook), "hook", [part, UNKNOWN, Value(Kind.TENSOR)])


def _traced(frame: Frame, node: ast.AST, module: Value) -> None:
    """In a region Dynamo traces the hooks of the modules that are called, and refuses those of backward passes."""
    run_around(frame, node, module)
    if module.heap is not None and module.heap.backward:
        frame.observer.came_to(frame, node, Step.BACKWARD_HOOK)


def run_around(frame: Frame, node: ast.AST, module: Value) -> None:
    """What is registered to run before and after `forward` is traced as a part of it."""
    output = Value(Kind.TENSOR) if module.dotted else UNKNOWN
    for hook in list(module.heap.hooks) if module.heap is not None else ():
        frame.machine.call(frame, node, _outside(hook), [module, _INPUTS, output][: _taken(hook)], {})


def _taken(hook: Value) -> int:
    """How many arguments a hook takes: the module, what it is called with, and what it returned."""
    function = hook.bound.function if hook.bound is not None else hook.function
    declared = function.node.args if isinstance(function, Function) else None
    if declared is None or declared.vararg is not None:
        return _GIVEN
    return len([*declared.posonlyargs, *declared.args]) - (hook.kind is Kind.BOUND)


def run_inside(frame: Frame, node: ast.AST, sequence: Value) -> None:
    """A `Sequential` is called: the hooks of the layers in it run whose `forward` is not of the program."""
    for part in sequence.heap.items.values() if sequence.heap is not None else ():
        if part.kind is Kind.MODULE and part.dotted:
            run(frame, node, part)
            run_inside(frame, node, part)


def _outside(hook: Value) -> Value:
    """A hook that code outside the body registered: the object whose method it is lives outside too."""
    bound = hook.bound
    if bound is None or bound.receiver.place.captured:
        return hook
    return hook._replace(ref=bound._replace(receiver=bound.receiver.at(AccessPath(Root.RECEIVER, "", "self"))))


def _keep(frame: Frame, node: ast.AST, receiver: Value, hook: Value, *, backward: bool) -> None:
    heap = receiver.heap
    if heap is None or not _stays(frame, node):
        return
    if not isinstance(heap, Members):
        _add(heap.backward if backward else heap.hooks, hook)
        return
    chosen = list(_chosen(frame, node, heap)) if _is_clear(frame, node) else None
    if chosen is None and heap.root.heap is not None:
        _add(heap.root.heap.inner, hook)
    for module in chosen or ():
        if module.heap is not None:
            _add(module.heap.backward if backward else module.heap.hooks, hook)


def _add(hooks: list[Value], hook: Value) -> None:
    if hook not in hooks:
        hooks.append(hook)


# -- which modules ------------------------------------------------------------------------------------------------


def _conditions(frame: Frame, node: ast.AST) -> tuple[facts.Condition, ...] | None:
    root = naming.text_of(frame)
    return facts.choosing(root, node)


def _is_clear(frame: Frame, node: ast.AST) -> bool:
    """Whether all that chooses among the modules is their classes."""
    conditions = _conditions(frame, node)
    return conditions is not None and all(_asked(frame, one.test) is not None for one in conditions)


def _chosen(frame: Frame, node: ast.AST, members: Members) -> Iterator[Value]:
    """The modules in a module, as far as they are known, on which a loop registers a hook."""
    asked = [(_asked(frame, one.test) or (), one.holds) for one in _conditions(frame, node) or ()]
    for module in _parts(members.root, deep=members.deep):
        if all(_is_instance(module, wanted) is holds for wanted, holds in asked):
            yield module


def _asked(frame: Frame, test: ast.expr) -> tuple[object, ...] | None:
    """The classes that `isinstance(module, …)` asks for; None for other conditions."""
    if not isinstance(test, ast.Call) or getattr(test.func, "id", "") != "isinstance" or len(test.args) != 2:
        return None
    names = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
    found = [frame.machine.annotated(frame, name, NOWHERE) for name in names]
    return tuple(one.ref for one in found) if all(one.kind is Kind.MODULE for one in found) else None


def _is_instance(module: Value, wanted: Sequence[object]) -> bool:
    if BASE_MODULE in wanted or module.ref in wanted:
        return True
    return module.of_class is not None and any(base in wanted for base in classes.lineage(module.of_class))


def _parts(module: Value, *, deep: bool, depth: int = 0) -> Iterator[Value]:
    """The modules that a module is known to hold; with `deep` itself and theirs as well."""
    heap = module.heap
    if heap is None or depth > NESTED_MODULES:
        return
    if deep:
        yield module
    held = [*heap.attributes.values(), *heap.items.values()]
    held += [heap.element] if heap.element is not None and not heap.items else []
    for value in held:
        for one in value.alternatives():
            if one.kind is not Kind.MODULE or one.heap is module.heap:
                continue
            if deep:
                yield from _parts(one, deep=True, depth=depth + 1)
            else:
                yield one


# -- how long -----------------------------------------------------------------------------------------------------


def _stays(frame: Frame, node: ast.AST) -> bool:
    """Whether a hook is there when marked functions run, as far as its removal is in sight.

    Tools that profile a model register hooks, call it, and take the hooks away again.
    """
    function = frame.function
    if function is None:
        return not facts.removes(frame.module.outline.shell)
    if facts.removes(function.node):
        return _runs_between(frame, node, frozenset())
    ending = _ending(function)
    if not ending:
        return True
    caller = frame.caller
    while caller is not None and caller.function is not None:
        if _runs_between(caller, caller.function.node, ending):
            return True
        caller = caller.caller
    return False


def _runs_between(frame: Frame, start: ast.AST, ending: frozenset[str]) -> bool:
    """Whether a function calls what leads to a marked function before it has the hooks taken away."""
    function = frame.function
    if function is None:
        return False
    names = frozenset((*frame.module.searched, *names_run(frame.machine, frame.module, function.node)))
    called = facts.first_call(function.node, names, getattr(start, "lineno", 0))
    ended = facts.last_call(function.node, ending)
    return bool(called) and (called < ended if ended else "__exit__" not in ending)


def _ending(function: Function) -> frozenset[str]:
    """The methods of an object that take away the hooks which another method of it registers."""
    statements = function.owner.node.body if function.owner is not None else []
    methods = (one for one in statements if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return frozenset(method.name for method in methods if facts.removes(method))
