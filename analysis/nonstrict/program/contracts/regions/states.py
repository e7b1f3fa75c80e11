"""What code outside of traces does with the state of modules, and asks of them: recorded as it is interpreted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, AbstractObject, Flag, Kind, Value
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

_LOADS = frozenset({"torch.load", "safetensors.torch.load_file"})
#: What writes a state to a file, with the positions of the state and the file.
_SAVES = {"torch.save": ("obj", "f"), "safetensors.torch.save_file": ("tensors", "filename")}
_MODULES = {"safetensors.torch.save_model": ("model", "filename")}
#: The functions whose calls are of interest.
HEARD = frozenset({"builtins.isinstance", *_SAVES, *_MODULES})
#: How deep a state may lie in what is saved: `{"model": state, ...}`.
_NESTED_STATES = 2


class State(NamedTuple):
    """What `state_dict()` of a module returned."""

    path: str
    function: Function | None
    span: Span
    module: Value
    heap: AbstractObject

    @property
    def is_wrapper(self) -> bool:
        """Whether the names begin with that of the module inside a wrapper."""
        return bool(self.module.flags & Flag.COMPILED)


class Saving(NamedTuple):
    """A state is written to a file; `file` says which, as far as two expressions can be seen to mean the same."""

    path: str
    function: Function | None
    span: Span
    state: State
    file: tuple[str, ...]


class Loading(NamedTuple):
    """A module is given a state, or one that is read from a file."""

    path: str
    function: Function | None
    span: Span
    module: Value
    state: State | None
    file: tuple[str, ...]
    strict: bool

    @property
    def is_wrapper(self) -> bool:
        """Whether the module is in the wrapper of `torch.compile`."""
        return bool(self.module.flags & Flag.COMPILED)


class Testing(NamedTuple):
    """`isinstance` of a wrapper; `asked` are the classes."""

    path: str
    function: Function | None
    span: Span
    value: Value
    asked: tuple[Value, ...]


Seen = State | Saving | Loading | Testing


class States:
    """What was seen so far."""

    def __init__(self) -> None:
        self._of: dict[int, State] = {}
        self._known: set[tuple[object, ...]] = set()
        self.seen: list[Saving | Loading | Testing] = []

    def taken(self, frame: Frame, node: ast.AST, module: Value, result: Value) -> None:
        """`module.state_dict()` was called."""
        if result.heap is not None and frame.static:
            state = State(frame.module.path, frame.function, _span(frame, node), module, result.heap)
            self._of[id(result.heap)] = state

    def given(
        self, frame: Frame, node: ast.AST, module: Value, positional: list[Value], keywords: dict[str, Value]
    ) -> None:
        """`module.load_state_dict(state)` is called."""
        given = positional[0] if positional else keywords.get("state_dict", UNKNOWN)
        strict = keywords.get("strict", positional[1] if len(positional) > 1 else UNKNOWN).const is not False
        state = self._state(given)
        file = _read_file(frame, _argument(node, 0, "state_dict")) if state is None else ()
        if frame.static and (state is not None or file):
            where = (frame.module.path, frame.function, _span(frame, node))
            self._add(Loading(*where, module, state, file, strict))

    def called(
        self, frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]
    ) -> None:
        """Something outside the program is called that may write a state to a file, or ask for a class."""
        if name == "builtins.isinstance" and len(positional) == 2:
            self._asked(frame, node, *positional)
        names = _SAVES.get(name) or _MODULES.get(name)
        if names is None or not frame.static:
            return
        what = positional[0] if positional else keywords.get(names[0], UNKNOWN)
        where = (frame.module.path, frame.function, _span(frame, node))
        if name in _MODULES:
            held = what.heap
            state = State(*where, what, held) if held is not None and what.flags & Flag.COMPILED else None
        else:
            state = self._within(what, _NESTED_STATES)
        if state is not None:
            self._add(Saving(*where, state, _file(frame, _argument(node, 1, names[1]))))

    def _asked(self, frame: Frame, node: ast.AST, value: Value, asked: Value) -> None:
        """`isinstance(value, asked)` is called."""
        for one in value.alternatives() if frame.static else ():
            if one.kind is Kind.MODULE and one.flags & Flag.COMPILED:
                where = (frame.module.path, frame.function, _span(frame, node))
                self._add(Testing(*where, one, tuple(_classes(asked))))

    def _add(self, one: Saving | Loading | Testing) -> None:
        module = one.state.module if isinstance(one, Saving) else one.module if isinstance(one, Loading) else one.value
        key = (type(one), one.span, id(module.heap), module.flags & Flag.COMPILED)
        if key not in self._known:
            self._known.add(key)
            self.seen.append(one)

    def _state(self, value: Value) -> State | None:
        """The state that a value is, if it is one for certain."""
        known = [self._of.get(id(one.heap)) if one.heap is not None else None for one in value.alternatives()]
        return known[0] if len(known) == 1 else None

    def _within(self, value: Value, depth: int) -> State | None:
        """A state of a wrapper, or else of a module, that is a value or lies in it."""
        found = self._state(value)
        if found is not None or not depth or value.heap is None:
            return found
        parts = [*value.heap.items.values(), *([value.heap.loose] if value.heap.loose is not None else [])]
        inside = [state for part in parts if (state := self._within(part, depth - 1)) is not None]
        return next((one for one in inside if one.is_wrapper), next(iter(inside), None))


def plain_of(module: Value) -> bool:
    """Whether a value surely is a module without a wrapper."""
    return module.kind is Kind.MODULE and not module.flags & Flag.COMPILED


def _span(frame: Frame, node: ast.AST) -> Span:
    return span_of(frame.module.path, frame.offset, node)


def _classes(asked: Value) -> list[Value]:
    if asked.kind is Kind.TUPLE and asked.heap is not None and asked.heap.loose is None:
        return [one for value in asked.heap.items.values() for one in _classes(value)]
    return list(asked.alternatives())


def _argument(node: ast.AST, position: int, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    named = next((one.value for one in node.keywords if one.arg == name), None)
    return named or (node.args[position] if position < len(node.args) else None)


def _file(frame: Frame, node: ast.expr | None) -> tuple[str, ...]:
    """What tells a file from others: its name if that is known, else the variable of this function that holds it."""
    if node is None:
        return ()
    known = frame.machine.evaluate(frame, node).const
    if isinstance(known, str):
        return ("name", known)
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return ()
    function = frame.function.qualname if frame.function is not None and isinstance(node, ast.Name) else ""
    return ("variable", frame.module.path, function, ast.unparse(node))


def _read_file(frame: Frame, node: ast.expr | None) -> tuple[str, ...]:
    """The file from which a state is read: `torch.load(path)["model"]`, or a variable with that."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        root = naming.text_of(frame)
        bound = [
            one.value
            for one in walk(root)
            if isinstance(one, ast.Assign) and any(getattr(to, "id", "") == node.id for to in one.targets)
        ]
        return _read_file(frame, bound[0]) if len(bound) == 1 and not isinstance(bound[0], ast.Name) else ()
    if not isinstance(node, ast.Call):
        return ()
    called = frame.machine.evaluate(frame, node.func)
    loads = called.kind is Kind.EXTERNAL and called.dotted in _LOADS
    return _file(frame, _argument(node, 0, "f")) if loads else ()
