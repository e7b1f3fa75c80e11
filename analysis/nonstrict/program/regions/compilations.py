"""What `torch.compile` returns: a function that stands for the one it was given, or another module around a module.

The wrapper of a module (`OptimizedModule`, `torch/_dynamo/eval_frame.py` of torch 2.13) hands on every attribute that
`nn.Module` does not have: methods that it is asked for run on the module inside, uncompiled. For values this is a flag:
wrapper and module share what they hold, and are told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.regions.states import States
from nonstrict.program.values import UNKNOWN, Flag, Heap, Kind, Value, join

if TYPE_CHECKING:
    import ast

    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame

_OPEN = frozenset({Kind.UNKNOWN, Kind.EXTERNAL_METHOD, Kind.INSTANCE})


class Compilation(NamedTuple):
    """One application of `torch.compile`, or of `Module.compile()`, and what it was given."""

    path: str
    offset: int
    node: ast.AST
    function: Function | None
    target: Value
    in_place: bool = False


class Compilations:
    """The applications that were seen: by their nodes, and by what the modules hold that are in a wrapper."""

    def __init__(self) -> None:
        self.at: dict[ast.AST, Compilation] = {}
        self._around: dict[int, list[tuple[Heap, Compilation]]] = {}
        self.states = States()

    def note(self, made: Compilation, given: Value) -> None:
        """Something was compiled."""
        self.at[made.node] = made
        for alternative in given.alternatives():
            if alternative.heap is not None and not made.in_place:
                self._around.setdefault(id(alternative.heap), []).append((alternative.heap, made))

    def around(self, module: Value) -> list[Compilation]:
        """The applications that made a wrapper for a module."""
        known = self._around.get(id(module.heap), []) if module.heap is not None else []
        return [made for _, made in known]


def wrapper(frame: Frame, node: ast.AST, target: Value) -> Value:
    """What `torch.compile` returns for what it is given: of a module its wrapper."""
    made = _flagged(target)
    _note(frame, node, target, in_place=False)
    return made


def of_unknown(frame: Frame, node: ast.AST, factory: Value) -> Value:
    """The same where nothing is known of what is compiled: the value has an identity of its own."""
    _, positional, keywords = factory.ref
    given = next(iter(positional), dict(keywords).get("model", None))
    if given is None or given.kind not in _OPEN:
        return factory
    known = frame.machine.compilations.at.get(node)
    heap = known.target.heap if known is not None and known.target.heap is not None else Heap()
    _note(frame, node, UNKNOWN._replace(heap=heap), in_place=False)
    return factory._replace(flags=factory.flags | Flag.COMPILED, heap=heap)


def in_place(frame: Frame, node: ast.AST, module: Value) -> None:
    """`module.compile()` is called: the module stays what it is."""
    _note(frame, node, module, in_place=True)


def _note(frame: Frame, node: ast.AST, target: Value, *, in_place: bool) -> None:
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    if not frame.static or at is not node:
        return
    known = frame.machine.compilations.at.get(node)
    joined = join(known.target, target) if known is not None else target
    made = Compilation(path, offset, node, frame.function, joined, in_place)
    frame.machine.compilations.note(made, target)


def _flagged(target: Value) -> Value:
    if target.kind is Kind.UNION:
        return target._replace(ref=tuple(map(_flagged, target.ref)))
    return target._replace(flags=target.flags | Flag.COMPILED) if target.kind is Kind.MODULE else target
