"""Where a rehearsal is played: what it may cost, which settings of torch hold, and what its parts ask of each other."""

from __future__ import annotations

import ast
import random
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.rehearsal.things import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.program.rehearsal.things import Closure, Instance, Thing


class GivenUpError(Exception):
    """The rehearsal costs more than it may, or cannot go on."""


class RaisedError(Exception):
    """The program raises an exception; the argument is the name of its class."""


class Given(NamedTuple):
    """One call of a compiled function: where it stands, and what its parameters hold.

    `path` and `node` are the call, in the tree of the whole file. Of a module of torch there is no function: its
    arguments are called as Dynamo does, and `site` is the file and line where it was compiled. `receiver` tells the
    object of a method from others. `around` are the variables around the function, `settings` are those of torch.
    """

    function: Closure | None
    path: str
    node: ast.AST
    held: Mapping[str, Thing]
    settings: Mapping[str, Thing]
    around: Mapping[str, Thing]
    receiver: int = 0
    site: tuple[str, int] = ("", 0)


class Stage(ABC):
    """What a rehearsal holds beside the variables of the program.

    `left` is how many statements and expressions may still be gone through. `settings` are those of torch: whether
    gradients are on, the dtype of autocast. `inside` is how many compiled functions are being run, `depth` how many
    calls, `trained` whether a backward pass gave parameters gradients.
    """

    def __init__(self, most: int) -> None:
        self.left = most
        self.settings: dict[str, Thing] = {"grad": True, "autocast": "", "dtype": "float32", "traced": False}
        self.inside = 0
        self.depth = 0
        self.trained = False
        #: where calls stand that no text writes, and what they see
        self.here, self.nowhere = ast.Pass(), Scope({}, None, None, "")
        self.random = random.Random(0)  # noqa: S311 - numbers that a program might draw
        self.given: list[Given] = []

    def spend(self, cost: int = 1) -> None:
        """Count statements, expressions or rounds. Raises GivenUpError when there were too many."""
        self.left -= cost
        if self.left < 0:
            raise GivenUpError

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Thing:
        """What an expression gives."""

    @abstractmethod
    def run(self, body: Sequence[ast.stmt], scope: Scope) -> Iterator[Thing]:
        """Run statements; what they yield is yielded."""

    @abstractmethod
    def call(
        self, callee: Thing, positional: Sequence[Thing], keywords: Mapping[str, Thing], node: ast.AST, scope: Scope
    ) -> Thing:
        """What a call gives; `node` is where it stands."""

    @abstractmethod
    def member(self, thing: Thing, name: str) -> Thing:
        """What an attribute holds."""

    @abstractmethod
    def keep(self, thing: Thing, name: str, value: Thing) -> None:
        """Set an attribute."""

    @abstractmethod
    def put(self, holder: Instance, key: Thing, value: Thing) -> None:
        """Set an entry of an object."""

    @abstractmethod
    def define(self, node: ast.AST, scope: Scope) -> Thing:
        """What a function or class definition, or a lambda, gives, decorators applied."""

    @abstractmethod
    def iterate(self, thing: Thing) -> Iterator[Thing] | None:
        """What iterating over a thing gives; None where that is not known."""

    @abstractmethod
    def imported(self, dotted: str, level: int, scope: Scope) -> Thing:
        """The module that an import gives."""
