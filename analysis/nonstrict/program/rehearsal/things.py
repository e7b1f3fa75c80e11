"""What variables hold in a rehearsal: numbers, texts and containers of Python, and stand-ins for the rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

if TYPE_CHECKING:
    import ast
    from collections.abc import Collection, Iterable

#: Anything that a variable may hold.
Thing: TypeAlias = object
FunctionNode: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"


class Unknown:
    """What is not known: there is one."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
#: Containers with more entries are not looked into.
LONGEST = 4096


@dataclass(eq=False, slots=True)
class Tensor:
    """A tensor, by what Dynamo guards of one.

    `shape` is None where the sizes are not known, `dtype` "" likewise. `numbers` are its elements, flat, where the text
    tells them and there are few. `layout` names what ordered its memory otherwise than its dimensions are; "" is
    contiguous. `grad` is what `backward` left, `marked` the dimensions that are marked dynamic.
    """

    shape: tuple[int, ...] | None = None
    dtype: str = "float32"
    requires_grad: bool = False
    parameter: bool = False
    numbers: tuple[float, ...] | None = None
    layout: str = ""
    grad: Tensor | None = None
    marked: frozenset[int] = frozenset()


@dataclass(eq=False, slots=True)
class Scope:
    """The variables of a function, class body or module, and where those are looked up that it has not."""

    names: dict[str, Thing]
    outer: Scope | None
    module: Scope | None
    path: str
    #: names that the text declares `global` or `nonlocal`
    declared: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def top(self) -> Scope:
        """The variables of the module."""
        return self if self.module is None else self.module

    def holder(self, name: str) -> Scope | None:
        """The scope in which a name is found; None if no scope has it."""
        scope: Scope | None = self.top if self.declared.get(name) == "global" else self
        while scope is not None:
            if name in scope.names:
                return scope
            scope = scope.outer
        return None

    def all_names(self) -> dict[str, Thing]:
        """The variables that code here sees."""
        return {**(self.outer.all_names() if self.outer is not None else {}), **self.names}

    def bind(self, name: str, thing: Thing) -> None:
        """Bind a name here, or where the text declares it to live."""
        kind = self.declared.get(name)
        if kind == "global":
            self.top.names[name] = thing
        elif kind == "nonlocal" and self.outer is not None and (holder := self.outer.holder(name)) is not None:
            holder.names[name] = thing
        else:
            self.names[name] = thing


@dataclass(eq=False, slots=True)
class Closure:
    """A function of the program. `binding` is how a class has it: "static", "class", "property" or "".

    `settings` are the settings of torch that decorators make for the time of a call: `("grad", False)`.
    """

    node: FunctionNode
    scope: Scope
    owner: Definition | None = None
    defaults: tuple[Thing, ...] = ()
    keyword_defaults: dict[str, Thing] = field(default_factory=dict[str, Thing])
    binding: str = ""
    generates: bool = False
    manages: bool = False
    settings: tuple[tuple[str, Thing], ...] = ()
    cache: dict[object, Thing] | None = None

    @property
    def name(self) -> str:
        """The name, `<lambda>` for a lambda."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(eq=False, slots=True)
class Definition:
    """A class of the program."""

    name: str
    bases: tuple[Thing, ...]
    names: dict[str, Thing]
    is_dataclass: bool = False

    @property
    def line(self) -> list[Definition | External]:
        """The class and those that it inherits from, in the order in which attributes are looked up."""
        found: list[Definition | External] = [self]
        for base in self.bases:
            found += [one for one in base.line if one not in found] if isinstance(base, Definition) else []
            found += [base] if isinstance(base, External) else []
        return found

    def member(self, name: str, behind: Definition | None = None) -> Thing:
        """What a class has under a name, or inherits; `behind` one of its classes. `UNKNOWN` if nothing of it does."""
        line = self.line
        for one in line[line.index(behind) + 1 :] if behind in line else line:
            if isinstance(one, Definition) and name in one.names:
                return one.names[name]
        return UNKNOWN

    def inherits(self, *dotted: str) -> bool:
        """Whether one of its bases is one of some classes from outside."""
        return any(isinstance(one, External) and one.dotted in dotted for one in self.line)


@dataclass(eq=False, slots=True)
class External:
    """Something from outside of the program, by its dotted name."""

    dotted: str


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class of the program or of one from outside. `of` is the latter where it has it from there."""

    of: Definition | External
    attributes: dict[str, Thing] = field(default_factory=dict[str, Thing])
    #: whether `module.compile()` was called
    compiled: bool = False


@dataclass(eq=False, slots=True)
class Method:
    """A function, or a method from outside by its name, with the object that it is called on."""

    function: Thing
    receiver: Thing


@dataclass(eq=False, slots=True)
class Compiled:
    """What `torch.compile` returned for a function, a method or a module; `site` is the file and line of that call."""

    target: Thing
    site: tuple[str, int] = ("", 0)


@dataclass(eq=False, slots=True)
class Partial:
    """A function of which some arguments are given already."""

    function: Thing
    positional: tuple[Thing, ...]
    keywords: dict[str, Thing]


@dataclass(eq=False, slots=True)
class Super:
    """What `super()` gives in a method: the receiver, seen behind one of its classes."""

    receiver: Instance
    behind: Definition


@dataclass(eq=False, slots=True)
class Setting:
    """A context manager that sets something of torch for its block: gradients, autocast.

    `before` is what held before it was made, where that call has set it already.
    """

    name: str
    value: Thing
    before: Thing = UNKNOWN


def is_list(thing: Thing) -> TypeGuard[list[Thing]]:
    """Whether a thing is a list of Python."""
    return isinstance(thing, list)


def is_tuple(thing: Thing) -> TypeGuard[tuple[Thing, ...]]:
    """Whether a thing is a tuple of Python."""
    return isinstance(thing, tuple)


def is_set(thing: Thing) -> TypeGuard[set[Thing]]:
    """Whether a thing is a set of Python that can be changed."""
    return isinstance(thing, set)


def is_deque(thing: Thing) -> TypeGuard[deque[Thing]]:
    """Whether a thing is a deque of Python."""
    return isinstance(thing, deque)


def is_slice(thing: Thing) -> TypeGuard[slice[Thing, Thing, Thing]]:
    """Whether a thing is a slice of Python."""
    return isinstance(thing, slice)


def plain_list(thing: Thing) -> list[Thing] | None:
    """A list of Python as one of things; None for everything else."""
    return cast("list[Thing]", thing) if isinstance(thing, list) else None


def plain_dict(thing: Thing) -> dict[Thing, Thing] | None:
    """A dictionary of Python as one of things; None for everything else."""
    return cast("dict[Thing, Thing]", thing) if isinstance(thing, dict) else None


def sequence(thing: Thing) -> list[Thing] | None:
    """The entries of a list, tuple, set, deque or range in order; None for everything else, and for very long ones."""
    is_one = issubclass(type(thing), (list, tuple, range, deque, set, frozenset))
    entries = cast("Collection[Thing]", thing)
    return list(entries) if is_one and len(entries) <= LONGEST else None


def is_known(*things: Thing) -> bool:
    """Whether things are numbers, texts or containers of these, all of them known."""
    for thing in things:
        if isinstance(thing, (list, tuple, set, frozenset, deque)):
            if not is_known(*cast("Iterable[Thing]", thing)):
                return False
        elif (held := plain_dict(thing)) is not None:
            if not is_known(*held, *held.values()):
                return False
        elif thing is not None and not isinstance(thing, (bool, int, float, complex, str, bytes, range, slice)):
            return False
    return True
