"""What the interpreter asks of who changes state, which stands above it, and what those who search ask one another.

These `Mutations` know of none: nothing is changed once its module is there. Those of a program are in
`nonstrict.program.mutations.answers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine


class Storing(NamedTuple):
    """What a function does, or a statement outside functions: that at a line, else 0.

    It `sets_up` something where nothing ran before it.
    """

    summary: Summary
    user: Module
    line: int = 0
    sets_up: bool = False


class Put(NamedTuple):
    """What is put under an attribute of a class, or a name of a module, at which place, and where in the text.

    It is `bare` where no `staticmethod` is around it; `by` is the function or statement that does so.
    """

    value: Value
    place: AccessPath
    write: Write
    bare: bool
    by: Storing


class Mutations:
    """What the code of the program changes, once for one machine: nothing."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    # -- what is there later --------------------------------------------------------------------------------------

    def stored_in(self, place: AccessPath, attribute: str) -> Value | None:
        """What the module of a global object or container stores in it: under an attribute, or at a step to an item."""
        return None

    def rebindings(self, module: Module, name: str) -> list[Value]:
        """The values that functions of a module give a top-level name."""
        return []

    def put_later(self, place: AccessPath, attribute: str = "") -> Value | None:
        """What is put under a top-level name where its module has None, or under an attribute of what it holds."""
        return None

    def put_on(self, holder: Class | Module, name: str) -> Sequence[Put]:
        """What the program puts under an attribute of a class, or a top-level name of a module."""
        return ()

    def exchanges(self, cls: Class, name: str) -> Sequence[Put]:
        """The functions that the program puts in place of a member that a class has."""
        return ()

    # -- whether something stays what it is -----------------------------------------------------------------------

    def is_written(self, place: AccessPath, *, rebound: bool | None = None) -> bool:
        """Whether code of the project was seen to bind a global anew, or to change what it holds; None is either."""
        return False

    def is_rebound(self, place: AccessPath) -> bool:
        """Whether a global name is bound more than once, other than by alternatives before anything runs."""
        return False

    def is_replaced(self, place: AccessPath) -> bool:
        """Whether something else is put at a known entry or attribute of a global: also a function, on a class."""
        return False

    # -- writes ---------------------------------------------------------------------------------------------------

    def writes_told(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in its module, of methods of the program those that their bodies make."""
        return []

    def foreign_writes(self, module: Module, name: str) -> list[Write]:
        """The writes of a top-level name in other files of the run."""
        return []

    def writes_reaching(self, module: Module, name: str) -> list[Write]:
        """The writes of what a top-level name leads to that begin with another name."""
        return []

    def writes_reaching_abroad(self, module: Module, name: str) -> list[Write]:
        """The same in other files, which begin with what they import."""
        return []

    def attribute_writes_of(self, owner: Class, attribute: str) -> list[Write]:
        """Where an attribute of the objects of a class is put anew, in the files that use the class."""
        return []

    def seen_through(self, found: Iterable[Write]) -> Iterator[Write]:
        """Writes that texts suggest, those by calls with what the calls really change."""
        return iter(found)
