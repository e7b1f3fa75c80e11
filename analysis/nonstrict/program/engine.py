"""The interpreter with all that stands above it: machines for programs that use torch are made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.pytrees import REGISTRARS
from nonstrict.knowledge.releases import BASE
from nonstrict.program.contracts.boundary import pytrees
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.marks import compiling, in_place, marking, operators, purity
from nonstrict.program.contracts.regions import compilations, layers
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.observer import RegionObserver
from nonstrict.program.contracts.regions.region import CompiledRegions
from nonstrict.program.contracts.regions.states import HEARD
from nonstrict.program.discovery import callers, constructions
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.interpret.interpreter import Interpreter
from nonstrict.program.mutations.answers import Answers
from nonstrict.program.state.contracts_protocol import Contracts

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.linking.project import Project
    from nonstrict.program.linking.searches import Bytes
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine


def machine(
    project: Project, files: Sequence[str] = (), torch: tuple[int, int] = BASE, found: Bytes | None = None
) -> Machine:
    """A machine for a program; `torch` is the release that it runs with."""
    return Interpreter(project, _OfTorch(), files, torch, found, Answers)


def _marker(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    if (decorator := compiling.decorator(name, positional, keywords)) is not None:
        return decorator
    if MARKERS[name].kind == "compiled" and positional:
        layers.compiled(frame, node, positional[0], compiling.options(keywords), wraps=True)
    apply = operators.apply if MARKERS[name].kind in operators.KINDS else marking.apply
    return apply(frame, node, name, positional, keywords)


def _saved(
    frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    return frame.machine.part(Compilations).states.called(frame, node, name, list(positional), keywords)


#: What interprets a call of each function, by its name; what gives None leaves that to others.
_APPLIED: dict[str, Callable[[Frame, ast.AST, str, Sequence[Value], dict[str, Value]], Value | None]] = {
    **dict.fromkeys(HEARD, _saved),
    **dict.fromkeys(MARKERS, _marker),
    **dict.fromkeys(operators.LIBRARIES, operators.library),
    operators.REGISTER_AUTOGRAD: operators.register_gradient,
    **dict.fromkeys(REGISTRARS, pytrees.register),
}


class _OfTorch(Contracts):
    """The contracts of torch."""

    observer = RegionObserver()

    def attach(self, machine: Machine) -> None:
        """Who asks for regions gets compiled ones."""
        machine.keep(machine.part(CompiledRegions), Regions)

    def apply(
        self, frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value | None:
        """Markers and what declares operators, registers classes or compiles, by their names."""
        handler = _APPLIED.get(name)
        return None if handler is None else handler(frame, node, name, positional, keywords)

    def apply_method(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> Value | None:
        """Libraries and the operators that were declared."""
        if receiver.kind is Kind.MARKED or receiver.dotted == operators.LIBRARY:
            return operators.method(frame, node, receiver, name, positional, keywords)
        return None

    def compile_called(self, frame: Frame, node: ast.AST, receiver: Value, keywords: dict[str, Value]) -> None:
        """Modules compile themselves."""
        layers.compile_called(frame, node, receiver, keywords)

    def module_called(
        self, frame: Frame, node: ast.AST, module: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> None:
        """Calls of wrappers tell what the region is given."""
        compilations.called(frame, node, module, positional, keywords)

    def called(
        self, frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """A marked function is looked at by itself."""
        return marking.called(frame, node, callee, positional, keywords)

    def ambiguous(self, frame: Frame, node: ast.AST, alternatives: Sequence[Value]) -> None:
        """Dynamo may take one for the other."""
        marking.ambiguous(frame, node, alternatives)

    def state_taken(self, frame: Frame, node: ast.AST, module: Value, state: Value) -> None:
        """Its names tell whether the module was compiled."""
        frame.machine.part(Compilations).states.taken(frame, node, module, state)

    def state_given(
        self, frame: Frame, node: ast.AST, module: Value, positional: list[Value], keywords: dict[str, Value]
    ) -> None:
        """Its names must be those of the module."""
        frame.machine.part(Compilations).states.given(frame, node, module, positional, keywords)

    def replaced(self, machine: Machine, name: str, value: Value) -> None:
        """What stands where torch has a compiler compiles nothing."""
        machine.part(Compilations).replaced(name, value)

    def by_identity(self, machine: Machine, function: Function) -> Value | None:
        """`allow_in_graph` leaves a function what it is."""
        mark = marking.known_by_identity(machine, function) if function in machine.allowed else None
        return None if mark is None else Value(Kind.MARKED, FRESH, mark)

    def in_place_of(self, frame: Frame, callee: Value) -> Value | None:
        """`ops.scale = nonstrict_trace(ops.scale)`."""
        return in_place.of_function(frame, callee)

    def in_place_of_member(self, frame: Frame, cls: Class, name: str, member: Value) -> Value:
        """`C.scale = nonstrict_trace(C.scale)`."""
        return in_place.of_member(frame, cls, name, member)

    def suppose(self, frame: Frame, node: ast.AST, offset: int, value: Value, owner: Class | None) -> Value:
        """As the audit asks."""
        return purity.applied(frame, node, offset, value, owner)

    def given_by_constructions(self, machine: Machine, cls: Class, attribute: str) -> Value | None:
        """What the constructions in its module pass."""
        return constructions.given(machine, cls, attribute)

    def put_into(self, machine: Machine, cls: Class) -> Value | None:
        """What the constructions in its module pass."""
        return constructions.entries(machine, cls)

    def handed_to(self, machine: Machine, function: Function, parameter: str) -> Value | None:
        """What the calls in its module pass."""
        return callers.handed_to(machine, function, parameter)
