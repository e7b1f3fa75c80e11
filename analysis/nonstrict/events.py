"""The kinds of effects, and in which ways each happens."""

from __future__ import annotations

import enum
from typing import TypeAlias


class _Plain(enum.Enum):
    """Members are singletons; the default hashes their names, in Python."""

    __hash__ = object.__hash__


class Event(_Plain):
    """The kinds of effects.

    For each: what `place`, `value`, `what` and `how` of the `Effect` hold.
    """

    READ = "read"  # a captured value is used; place captured; value read; how: a `Read`
    AMBIENT = "ambient"  # ambient Python state is read; what: "reads the environment"; value: the variable's name
    WRITE = "write"  # Python state is changed; place written; value stored; how: a `Change`; what: the method
    LEAK = "leak"  # a traced tensor is stored outside the body; all as for WRITE
    TENSOR_WRITE = "tensor-write"  # in-place operator on a tensor; place of the tensor; what: the operator
    REBIND_DATA = "rebind-data"  # metadata, identity or gradient of an argument tensor changes; what: "x.data =", ...
    IO = "io"  # what: "prints to standard output", ...
    TORCH_STATE = "torch-state"  # what: the function; value: BOOL for `set_grad_enabled` as a statement
    RANDOM = "random"  # a nondeterministic value decides the result; what: "draws from Python's random generator", ...
    ESCAPE = "escape"  # tensor data is needed as a Python value; value: the tensor; what: the operation; how: `Taken`
    POINTER = "pointer"  # memory of a tensor is asked for; place of the tensor; what: the operation; how: a `Pointed`
    NATIVE = "native"  # compiled code outside torch gets a traced tensor; what: the callee
    THREAD = "thread"  # work is handed to another thread or process; what: the callee
    RAISE = "raise"  # an exception leaves the function; what: the exception's name, value: its class
    QUERY = "query"  # a property of an argument that no guard watches; what: the expression; how: a `Question`
    MODE = "mode"  # the mode of a module argument decides; place and value: the module; what: who depends on it
    BREAK = "break"  # a construct of a region that Dynamo cannot trace; how: a `Construct`
    CALLED = "called"  # a region calls a marked function; value: the marked function, its `const` what is passed
    HELPER = "helper"  # a global function is used that its own module does not rebind; place and value: the function
    UNSEEN = "unseen"  # a call or value that was not looked into; value: its dotted name; how: an `Unseen`
    SHAPE = "shape"  # a shape decides; how: a `Decision`; in a region whether it is a number; place: the size; value
    STORAGE = "storage"  # the offset into its storage of an argument is asked for; place and value: the tensor
    ATTRIBUTE = "attribute"  # plain attribute of a module argument is read; place; value; what: the attribute

    INPUT_WRITE = "input-write"  # as TENSOR_WRITE, on an argument; of operators, leaf functions, regions
    GUARD = "guard"  # what a region is given or reads is used, so that Dynamo guards it; place; value; how: a `Use`
    FLOAT = "float"  # such a number is given to an operator; place; value; how: a `Lowered`; what: the parameter
    DROPPED = "dropped"  # an operator is called, its result is not used; value: the operator's implementation
    GRADIENT = "gradient"  # an operator needs a formula for its gradient; value: the operator; how: a `Gradient`
    LAYER = "layer"  # a region calls a module, and with it the hooks of that; place and value: the module
    KEPT = "kept"  # what a region returned is kept while a region runs again; place: where; how: a `Way`
    LEFT_OUT = "left-out"  # CUDA graphs of a region do not have it; place: its name; what: as the table calls it
    MARKS = "marks"  # a marker is applied in a region; value: what it is applied to; what: the marker


class Drawn(_Plain):
    """What a nondeterministic value comes from."""

    #: a number of Python's own generators, which Dynamo hands to the graph as an input
    NUMBER = "number"
    CLOCK = "clock"
    OTHER = "other"


class Taken(_Plain):
    """What of a tensor's data Python needs."""

    ITEM = "item"
    """A number: `item()`, or asking for its truth or its number."""
    LIST = "list"
    """Numbers: `tolist()`."""
    MASK = "mask"
    """How many elements of a mask are true, which torch counts once."""
    SIZE = "size"
    """The size of anything else that follows from data."""
    TEXT = "text"
    """How it is written."""
    ARRAY = "array"
    """All of it, as an array of NumPy."""

    @property
    def is_symbolic(self) -> bool:
        """Whether it may stay a symbol, which torch can record."""
        return self in (Taken.ITEM, Taken.LIST, Taken.MASK, Taken.SIZE)


class Pointed(_Plain):
    """What is asked of a tensor that has no memory while it is traced."""

    ADDRESS = "address"
    """Where it lies."""
    STORAGE = "storage"
    """To work on its storage: the graph has no such operators."""


class Question(_Plain):
    """What is asked about an argument that no guard watches."""

    COMPILING = "compiling"
    """Whether the compiler traces."""
    KIND = "kind"
    """`isinstance`."""
    CLASS = "class"
    """`type(x)`, `x.__class__`."""
    IDENTITY = "identity"
    """`id(x)`."""
    ATTACHED = "attached"
    """An attribute that a user puts on a tensor."""
    AUTOGRAD = "autograd"
    """What autograd knows of a tensor: `x.is_leaf`."""


class Gradient(_Plain):
    """How an operator comes to need a formula for its gradient."""

    BACKWARD = "backward"
    """Gradients are asked of what follows from it."""
    REGION = "region"
    """A region hands it a tensor that needs gradients."""
    FORWARD = "forward"
    """`forward` of a module returns what follows from it."""


class Read(_Plain):
    """What of a captured value is read."""

    DATA = "data"
    METADATA = "metadata"
    """Nothing but its metadata, as an attribute."""
    FORM = "form"
    """Nothing but its metadata, by an operator that is given it: `zeros_like`."""
    MEMORY = "memory"
    """The memory itself, which stays shared."""
    IDENTITY = "identity"
    """Which object it is."""

    @property
    def is_of_metadata(self) -> bool:
        """Whether its data stays unread."""
        return self in (Read.METADATA, Read.FORM)


class Change(_Plain):
    """How Python state, or what a tensor is, changes."""

    NAME = "name"
    """A name is bound to something else."""
    ATTRIBUTE = "attribute"
    ITEM = "item"
    DELETION = "deletion"
    OPERATOR = "operator"
    """An augmented assignment."""
    METHOD = "method"
    """The effect's `what` is the method: `append`."""
    CACHE = "cache"
    """A cache around a function keeps what it returned."""
    GRADIENT = "gradient"
    """`backward()` adds to the gradients of tensors."""


class Unseen(_Plain):
    """Why something was not looked into."""

    CALLEE = "callee"
    """It is not known what is called."""
    OUTSIDE = "outside"
    """It lies in a package that is not followed."""
    MODULE = "module"
    """A module whose class, or whose submodules, are not known is called."""
    BUDGET = "budget"
    """The function calls too much to follow all of it."""
    WRITE = "write"
    """An argument is changed of which is not known what it is."""
    VALUE = "value"
    """A captured value is read of which is not known what it is."""


class Decision(_Plain):
    """What a condition decides."""

    BRANCH = "branch"
    CHECK = "check"
    """Only whether to go on, or to tell something."""


class Step(_Plain):
    """What code does of which there is no more to tell than that; no effect by itself."""

    BACKWARD_HOOK = "backward-hook"
    """A module is called that hooks of backward passes are registered on."""
    ENVIRONMENT_WRITE = "environment-write"
    """An entry of `os.environ` is set."""
    CHAINED_COMPARISON = "chained-comparison"
    """`0 < x < 1` of tensors."""
    TENSOR_IN_PERCENT = "tensor-in-percent"
    """`"%s" % x` of a tensor."""
    TENSOR_IN_FSTRING = "tensor-in-f-string"
    """`f"{x:.3f}"` of a tensor."""
    CLASS_DEFINITION = "class-definition"
    AWAIT = "await"
    CACHED_PROPERTY = "cached-property"
    """A property is read whose value `functools.cached_property` keeps."""


class Construct(_Plain):
    """What breaks the graph of a region."""

    LISTED = "listed"
    """Something of the table of graph breaks; the effect's `what` is its key."""
    NATIVE = "native"
    """A call of compiled code that torch does not know; the effect's `what` is the callee."""


class Use(_Plain):
    """What a region does with a value that may be another one in the next call; the values are those of the table."""

    ARITHMETIC = "arithmetic"
    """It is computed with, beside a tensor; of a tensor, any use of what it holds."""
    NUMBERS = "arithmetic of numbers"
    """It is computed with, and no tensor takes part: what becomes of the result decides."""
    RETURNED = "number that is returned"
    """What is computed of it without a tensor is returned."""
    PARAMETER = "operator parameter"
    FUNCTION = "function of numbers"
    """`math.sqrt`."""
    WHOLE_PART = "whole part"
    """`int`, of what is not whole."""
    SIZE = "size"
    """It is the size of a tensor."""
    BOUND = "loop bound"
    BRANCH = "branch"
    INDEX = "index"
    """It selects a part of a tensor."""
    STORED_INDEX = "index of what is stored"
    SLICE = "slice"
    POSITION = "position"
    """It selects entries of a list, or beside other indices a part of a tensor: Dynamo makes a constant of it."""
    KEY = "key"
    FORMAT = "format"
    LENGTH = "length"
    """How many entries a container has."""
    CALL = "call"


class Lowered(_Plain):
    """What becomes of a `float` in the graph of an operator; the values are those of the table of operators."""

    TENSORIFIED = "tensorified"
    """A tensor stands for it, so that any number may follow."""
    SPECIALIZED = "specialized"
    """It is a constant of what AOTAutograd makes of Dynamo's graph."""
    KNOWN = "known"
    """Dynamo takes it for a constant; what it does not, where the number was computed of another, AOTAutograd does."""


#: In which way an effect of an event happens that has more than one.
How: TypeAlias = Read | Change | Unseen | Decision | Taken | Pointed | Question | Gradient | Construct | Use | Lowered
