"""What a body calls or reads that was not looked into: nothing is accused for it, and nothing is certified either."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Unseen
from nonstrict.knowledge.operators import BASE_MODULE, BASE_MODULES, nn_module, tensor_method
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.effects import Effect
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from nonstrict.knowledge.operators import ModuleClass
    from nonstrict.program.state.frames import Frame


#: Packages that knowledge answers for, beside the standard library.
_ANSWERED = frozenset({"torch", "numpy", "builtins", "functorch", "nonstrict"})
_OPAQUE = frozenset({Kind.UNKNOWN, Kind.OBJECT, Kind.INSTANCE, Kind.EXTERNAL})
#: What methods of tensors return that stays in the graph, or is metadata.
_IN_GRAPH = frozenset({"tensor", "tensors", "size", "number", "bool", "value"})

#: Methods of the modules that hold others: `ModuleList`, `ModuleDict`.
_OF_CONTAINERS = frozenset({"clear", "insert", "items", "keys", "pop", "update", "values"})
#: Methods of modules that call what they are given.
_CALLING = frozenset({"apply"})


def note(frame: Frame, node: ast.AST, why: Unseen, name: str = "") -> None:
    """Something at an expression of a body was not looked into; `name` is its dotted name, if it has one."""
    if not frame.static:
        callee = Value(Kind.EXTERNAL, FRESH, name)
        frame.summary.add(Effect(Event.UNSEEN, frame.module.path, frame.offset, node, FRESH, callee, how=why))


def external(frame: Frame, node: ast.AST, name: str) -> None:
    """A function outside the program is called of which the tables do not tell what it does."""
    if not frame.static and not is_answered(name):
        note(frame, node, Unseen.OUTSIDE, name)


def is_answered(name: str) -> bool:
    """Whether knowledge answers for the package of a dotted name."""
    root = name.partition(".")[0]
    return root in _ANSWERED or root in EVER or "." not in name


def unknown(frame: Frame, node: ast.AST) -> None:
    """Something is called of which nothing is known.

    A method that tensors have and that stays in the graph is taken for the tensor's: `scores.transpose(1, 2)`.
    """
    if frame.static:
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        operator = tensor_method(node.func.attr)
        if operator is not None and not operator.data_dependent and operator.returns in _IN_GRAPH:
            return
    note(frame, node, Unseen.CALLEE)


def method(frame: Frame, node: ast.AST, receiver: Value, name: str) -> None:
    """A method is called on a value that has none of that name in the program."""
    if frame.static:
        return
    if receiver.kind is Kind.MODULE:
        known = frame.machine.models.member(BASE_MODULE, name)
        computes = known is not None and known.effect is None and name not in _CALLING
        if not computes and name not in _OF_CONTAINERS:
            note(frame, node, Unseen.CALLEE)
    elif receiver.dotted and receiver.kind is Kind.INSTANCE:
        external(frame, node, f"{receiver.dotted}.{name}" if "." in receiver.dotted else name)
    elif receiver.kind in _OPAQUE:
        unknown(frame, node)


def is_unseen(frame: Frame, module: Value) -> bool:
    """Whether nothing tells what a module returns: it is no layer of torch, and no library describes it."""
    described = isinstance(module.ref, str) and frame.machine.models.member(module.ref, "forward") is not None
    return not described and _of_torch(module) is None


def _of_torch(module: Value) -> ModuleClass | None:
    return nn_module(module.dotted) if module.dotted and module.dotted not in BASE_MODULES else None


def module_call(frame: Frame, node: ast.AST, module: Value) -> None:
    """A module is called whose `forward` is not of the program."""
    if frame.static:
        return
    known = _of_torch(module)
    if is_unseen(frame, module):
        note(frame, node, Unseen.MODULE)
    elif known is not None and known.container:
        heap = module.heap
        if heap is None or heap.open or heap.element is None:
            note(frame, node, Unseen.MODULE)
