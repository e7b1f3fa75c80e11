"""What the interpreter asks of what stands above it: markers, operators, registrations of classes, compiled regions.

These `Contracts` know of none. Those of torch are in `nonstrict.program.engine`, which machines are made by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.observer import NOBODY
from nonstrict.program.domain.values import UNKNOWN, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.observer import Observer
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine


class Contracts:
    """Nothing is marked, declared, registered or compiled."""

    #: of the frames of compiled regions
    observer: Observer[Frame, Function] = NOBODY

    def attach(self, machine: Machine) -> None:
        """Keep with a new machine what those above ask for by what they know of it."""

    # -- calls ----------------------------------------------------------------------------------------------------

    def apply(
        self, frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value | None:
        """The result of a function that marks, declares, registers or compiles; None for all others."""
        return None

    def apply_method(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> Value | None:
        """The same for a method of an operator or of a library of operators."""
        return None

    def compile_called(self, frame: Frame, node: ast.AST, receiver: Value, keywords: dict[str, Value]) -> None:
        """A method `compile` is called, of a module or of what may be one."""

    def module_called(
        self, frame: Frame, node: ast.AST, module: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> None:
        """A module of torch is called."""

    def called(
        self, frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """The result of calling a marked function."""
        return UNKNOWN

    def ambiguous(self, frame: Frame, node: ast.AST, alternatives: Sequence[Value]) -> None:
        """One of several functions is called."""

    def state_taken(self, frame: Frame, node: ast.AST, module: Value, state: Value) -> None:
        """`module.state_dict()` gave a state."""

    def state_given(
        self, frame: Frame, node: ast.AST, module: Value, positional: list[Value], keywords: dict[str, Value]
    ) -> None:
        """`module.load_state_dict(state)` is called."""

    def replaced(self, machine: Machine, name: str, value: Value) -> None:
        """Something is put where a library has what is called so."""

    # -- what is marked -------------------------------------------------------------------------------------------

    def by_identity(self, machine: Machine, function: Function) -> Value | None:
        """A function as what was marked, where a marker leaves it what it is; None for all others."""
        return None

    def in_place_of(self, frame: Frame, callee: Value) -> Value | None:
        """What a marker made of a function, where the program puts that under the name by which it is called."""
        return None

    def in_place_of_member(self, frame: Frame, cls: Class, name: str, member: Value) -> Value:
        """The same for what the body of a class binds; else the member."""
        return member

    def suppose(self, frame: Frame, node: ast.AST, offset: int, value: Value, owner: Class | None) -> Value:
        """The value of a definition that is taken for marked."""
        return value

    # -- what the code that marks and compiles tells of arguments -------------------------------------------------

    def given_by_constructions(self, machine: Machine, cls: Class, attribute: str) -> Value | None:
        """What an attribute holds that the constructor of a class was given; None if that is not known."""
        return None

    def put_into(self, machine: Machine, cls: Class) -> Value | None:
        """Any of the modules that the constructions of a container of modules put into it; None if none is known."""
        return None

    def handed_to(self, machine: Machine, function: Function, parameter: str) -> Value | None:
        """What the calls of a function in its module pass for a parameter; None if that is not known."""
        return None
