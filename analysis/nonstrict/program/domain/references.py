"""What values refer to: by the kind of a value, the class of its reference.

| kind | reference |
|---|---|
| function | `Function` |
| class | `Class` |
| object, setting, tensor, parameter, module | `Class`, or the dotted name of a class from outside |
| marked function | `Mark` |
| bound method | `Bound` |
| partial | `Partial` |
| super | `Super` |
| external method | `ExternalMethod`: a method or attribute that nothing seen defines |
| external, external instance, Python module | the dotted name: of itself, of its class, of the module |
| union | `Alternatives` |
| storage | `Memory` |
| string | `Pattern` if the middle of it is not known, the dotted name of its class (`bytes`), or of what made it |
| number, NumPy array, containers, iterator | the dotted name of a class that is not the plain one (`range`) |

Everything else, and a value of the plain class of its kind, refers to nothing: None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from nonstrict.program.domain.definitions import Class, Function, Mark
    from nonstrict.program.domain.values import Value


class Bound(NamedTuple):
    """A function and what it was read from, which becomes its first argument.

    The function is a value where `types.MethodType` binds one that the program does not define.
    """

    receiver: Value
    function: Function | Value


class ExternalMethod(NamedTuple):
    """An attribute that nothing seen defines, and what it was read from: what it is called on, if it is a method."""

    receiver: Value
    name: str


class Super(NamedTuple):
    """What `super()` stands for: the members that `receiver` has from the classes after `owner`."""

    receiver: Value
    owner: Class


class Partial(NamedTuple):
    """A callable with some of its arguments."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


class Memory(NamedTuple):
    """The memory of a tensor."""

    tensor: Value


class Pattern(NamedTuple):
    """What a string begins and ends with whose middle is not known."""

    prefix: str
    suffix: str

    def fits(self, text: str) -> bool:
        """Whether a name is one of those that may be meant; none is where neither is known."""
        long = len(text) >= len(self.prefix) + len(self.suffix)
        return bool(self.prefix or self.suffix) and long and text.startswith(self.prefix) and text.endswith(self.suffix)


class Alternatives(tuple["Value", ...]):
    """The values that a union may be, none of them a union."""

    __slots__ = ()


if TYPE_CHECKING:
    Ref: TypeAlias = (
        Class
        | Function
        | Mark
        | Bound
        | ExternalMethod
        | Super
        | Partial
        | Memory
        | Pattern
        | Alternatives
        | str
        | None
    )
