"""Where a value lives, seen from the marked function: its arguments, captured state, or made in the body."""

from __future__ import annotations

import enum
from typing import NamedTuple


class Root(enum.Enum):
    """The root of a place.

    `GLOBAL` is a variable of a module, or of a function by which a script begins (`facts.beginnings`): there is one of
    it as long as the program runs. `CELL` is a variable of any other enclosing function.
    """

    ARGUMENT = "argument"
    GLOBAL = "global"
    CELL = "cell"
    DEFAULT = "default"
    RECEIVER = "receiver"
    FRESH = "fresh"
    UNKNOWN = "unknown"

    __hash__ = object.__hash__  # members are singletons; the default hashes their names in Python


#: Origins that lie outside the parameters of a marked function.
CAPTURED = frozenset({Root.GLOBAL, Root.CELL, Root.DEFAULT, Root.RECEIVER})

_MAX_PATH = 5
#: Between the file and the function of an owner: stands in no path.
_WITHIN = "::"
#: Step of a path: the value shares storage with the tensor before it.
VIEW = "~"
#: Step of a path, behind that of a view: the value is a copy if the tensor before it is on another device than the CPU.
HOST = "~cpu"
#: Step of a path: the sizes of the tensor before it, told apart from what objects of other classes call so.
SIZES = "~.shape"


class AccessPath(NamedTuple):
    """A root and the attributes and subscripts that lead from it to the value.

    `owner` is the file of a global, with the function that owns a cell or default, or by which the script begins,
    else "".
    `name` is the variable or parameter. A path step is `.attribute`, `[key]`, `[]` (any element), `~` (view),
    `~cpu` or `~.shape`.
    """

    root: Root
    owner: str = ""
    name: str = ""
    path: tuple[str, ...] = ()

    def step(self, step: str) -> AccessPath:
        """The place reached by one more step; places made in the body have no path."""
        if self.root is Root.FRESH or self.root is Root.UNKNOWN:
            return self
        if len(self.path) >= _MAX_PATH or (step == VIEW and self.path[-1:] == (VIEW,)):
            return self
        return AccessPath(self.root, self.owner, self.name, (*self.path, step))

    @property
    def captured(self) -> bool:
        """Whether the value is reached from outside the parameters."""
        return self.root in CAPTURED

    @property
    def seen_as(self) -> Root:
        """The root as readers of the code see it: what a function by which a script begins binds is none of globals."""
        return Root.CELL if self.root is Root.GLOBAL and self.function else self.root

    @property
    def file(self) -> str:
        """The file of the owner."""
        return self.owner.partition(_WITHIN)[0]

    @property
    def function(self) -> str:
        """The qualified name of the function that is the owner; "" for a module."""
        return self.owner.partition(_WITHIN)[2]

    @property
    def is_view(self) -> bool:
        """Whether the value is a view of the tensor at the place, and not the tensor itself."""
        return VIEW in self.path

    @property
    def key(self) -> str:
        """What tells the variable apart in a function's text: its first attribute, else its name."""
        return next((step for step in self.path if step.startswith(".")), self.name)

    @property
    def text(self) -> str:
        """The expression a user would write for the place: `CONFIG.scale`, `CACHE["w"]`."""
        shown = (step.removeprefix(VIEW) for step in self.path if step not in (VIEW, HOST))
        return self.name + "".join("[...]" if step == "[]" else step for step in shown)


def owned_by(file: str, function: str) -> str:
    """The owner of the variables of a function; of a module without one."""
    return f"{file}{_WITHIN}{function}" if function else file


FRESH = AccessPath(Root.FRESH)
NOWHERE = AccessPath(Root.UNKNOWN)
