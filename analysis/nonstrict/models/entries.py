"""What is known of one name of a library: what its call does, changes and returns."""

from __future__ import annotations

import enum
from typing import NamedTuple

from nonstrict.findings import Output


class Doing(enum.Enum):
    """What a call does besides computing a value. Models spell these as decorators, in lower case."""

    OUTPUT = "tells people something, somewhere"
    STDOUT = "writes to standard output"
    STDERR = "writes to standard error"
    PROGRESS = "shows a progress bar"
    LOG = "writes a log record"
    IO = "does input or output"
    ENVIRON_READ = "reads the environment"
    ENVIRON_WRITE = "changes the environment"
    DRAW = "draws a random number"
    RANDOM = "draws at random"
    SEED = "seeds a random generator"
    CLOCK = "reads the clock"
    IDENTITY = "reads what differs between runs"
    THREAD = "hands work to a thread"
    PROCESS = "starts a process"
    PROGRAM = "starts a program"
    EXIT = "ends the process"
    POINTER = "reads a pointer"
    STORAGE = "works on the storage of a tensor"
    NATIVE = "computes in native code"
    ESCAPE = "reads the tensor's value"
    HOOK = "registers a hook"
    TORCH_STATE = "changes torch's state"
    TORCH_QUERY = "reads torch's state"
    TORCH_GUARDED = "switches what torch guards"

    __hash__ = object.__hash__


#: Where calls tell people something. A progress bar is shown on a terminal.
OUTPUTS: dict[Doing, Output] = {
    Doing.OUTPUT: Output.ANYWHERE,
    Doing.STDOUT: Output.STDOUT,
    Doing.STDERR: Output.STDERR,
    Doing.PROGRESS: Output.STDOUT | Output.STDERR,
    Doing.LOG: Output.LOG,
}


class CallEffect(NamedTuple):
    """The effect of one call.

    `what` is a verb phrase for messages: `writes to standard output`. `doing` ESCAPE and NATIVE matter only where an
    argument is a tensor. `pure_with`: with at least this many positional arguments there is no effect
    (`time.localtime(seconds)`); 0 where arguments change nothing.
    """

    doing: Doing
    what: str
    pure_with: int = 0


class Form(enum.Enum):
    """What a name of a library is."""

    FUNCTION = "function"
    CLASS = "class"
    MODULE = "module"
    VARIABLE = "variable"
    ALIAS = "alias"


class Type(NamedTuple):
    """A type that a model names: the dotted `name` of its class, and what it is given in brackets."""

    name: str
    parameters: tuple[Type, ...] = ()


#: The type of which nothing is known.
ANY = Type("")


class Parameter(NamedTuple):
    """A parameter by its `position` among the positional ones (-1: it is given by name only) and its `name`."""

    position: int
    name: str


class Entry(NamedTuple):
    """One name of a library.

    `returns` is the type of the result of a call, of a variable that of what it holds; `gives` the position of the
    argument that the result is (-1: it is none of them). `changes` are the parameters that the call changes,
    `changes_self` says so of the object that a method is called on. `bases` are the dotted names of the bases of a
    class, `target` is what an alias stands for. `surrounds`: as a context manager it matters only to its block.
    """

    name: str
    form: Form
    effect: CallEffect | None = None
    returns: Type = ANY
    gives: int = -1
    changes: tuple[Parameter, ...] = ()
    changes_self: bool = False
    bases: tuple[str, ...] = ()
    target: str = ""
    surrounds: bool = False
