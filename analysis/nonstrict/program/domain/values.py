"""Abstract values: what an expression may hold, and where that came from."""

from __future__ import annotations

import enum
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.knowledge.operators import BASE_MODULE
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, AccessPath, Root
from nonstrict.program.domain.definitions import Class, Function, Mark
from nonstrict.program.domain.references import Alternatives, Bound, ExternalMethod, Partial

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.domain.references import Ref


class Kind(enum.Enum):
    """What a value is."""

    UNKNOWN = "unknown"
    UNION = "union"
    NONE = "None"
    TENSOR = "tensor"
    PARAMETER = "parameter"
    MODULE = "module"
    STORAGE = "storage"
    GENERATOR = "generator"
    NUMPY = "NumPy array"
    LIST = "list"
    DICT = "dict"
    SET = "set"
    TUPLE = "tuple"
    DEQUE = "deque"
    ITERATOR = "iterator"
    OBJECT = "object"
    NUMBER = "number"
    STRING = "string"
    BOOL = "bool"
    SIZE = "size"
    SETTING = "setting"
    FUNCTION = "function"
    BOUND = "bound method"
    PARTIAL = "partial"
    CLASS = "class"
    PYTHON_MODULE = "Python module"
    EXTERNAL = "external"
    EXTERNAL_METHOD = "external method"
    INSTANCE = "external instance"
    MARKED = "marked function"
    SUPER = "super"

    __hash__ = object.__hash__  # members are singletons; the default hashes their names in Python


TENSORS = frozenset({Kind.TENSOR, Kind.PARAMETER})
CONTAINERS = frozenset({Kind.LIST, Kind.DICT, Kind.SET, Kind.DEQUE})
#: What may hold tensors, and is none.
HOLDERS = CONTAINERS | {Kind.TUPLE, Kind.OBJECT}
PRIMITIVES = frozenset({Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.NONE, Kind.SETTING, Kind.SIZE})
#: Attributes that say what a tensor is.
TENSOR_METADATA = frozenset({"data", "grad", "requires_grad", "names"})
_PLAIN = frozenset({Kind.NUMBER, Kind.BOOL, Kind.NONE})
CALLABLES = frozenset(
    {Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.CLASS, Kind.EXTERNAL, Kind.EXTERNAL_METHOD, Kind.MARKED}
)


class Flag:
    """Facts about a value beside its kind: bits of a plain integer, which Python combines far faster than an enum."""

    NONE = 0
    REGISTERED = 1  # buffer of a module: tracked by torch, unlike a plain attribute
    BOOLEAN = 2  # tensor of dtype bool
    LITERAL = 4  # tensor built from literals: torch knows its value while tracing
    ATTACHED = 8  # autograd connects the tensor with an argument
    NATIVE = 16  # function or module compiled from C, C++, CUDA or Triton
    CLASS_ATTRIBUTE = 32  # found on the class, not on the instance
    POINTER = 64  # number that is an address
    FLOATING = 256  # tensor of a floating-point dtype, or number that is a `float`; a constant tells it itself
    SHAPE = 512  # number or truth value that follows from the shape of a traced tensor
    TRACE_GUARD = 128  # true exactly while the compiler traces
    SMALL = 2048  # NumPy array without dimensions, or with one of at most eight elements: inductor inlines those
    GIVEN = 4096  # parameter of which a condition says that it is not None
    MAYBE = 8192  # argument tensor, or view of one, that may be one made here instead
    OPTIONAL = 16384  # parameter that may be None, as its annotation or its default says
    DISABLED = 32768  # callable that `torch.compiler.disable` keeps out of compiled code
    FROZEN = 65536  # parameter, or module whose parameters are, made not to need gradients
    RELEASE = 131072  # follows from the release of torch that the program runs with, and from nothing that varies
    GRADIENT = 262144  # tensor made to need gradients
    EMPTY = 524288  # tensor made without elements: there is no memory
    COMPILED = 1048576  # module or function as `torch.compile` returns it: another object around what it was given
    WHOLE = 2097152  # number that is an `int`, as what counts gives, or sizes; a constant tells it itself
    SCALAR = 4194304  # tensor without dimensions
    OUTPUT = 8388608  # what a module that was not seen returns: a tensor, or several things
    ON_CPU = 16777216  # tensor made on the CPU, unless something says where those are made that are not told
    OF_PARTS = ATTACHED | BOOLEAN | ON_CPU  # what a part of a tensor has of it
    INSIDE = 1024  # held by a plain attribute of a module argument: no guard watches it, however deep


class AbstractObject:
    """The content of a container or object made in code that was seen; shared by all its aliases.

    `element` joins everything stored, `items` holds constant keys, `attributes` those of an object.
    Weakly updated: values are joined, never removed.
    """

    __slots__ = (
        "attributes",
        "backward",
        "element",
        "hooks",
        "inner",
        "items",
        "loose",
        "missing",
        "open",
        "switched",
        "unsure",
    )

    def __init__(self) -> None:
        self.element: Value | None = None
        self.items: dict[Any, Value] = {}
        self.loose: Value | None = None
        self.attributes: dict[str, Value] = {}
        self.hooks: list[Value] = []  # of a module, run when it is called
        self.backward: list[Value] = []  # of a module, run in the backward pass
        self.inner: list[Value] = []  # hooks of modules in this one, not known which
        self.open = False  # content was stored that is not known
        self.missing: Value | None = None  # what a `defaultdict` makes for a key that it does not hold
        self.switched: bool | None = None  # of a layer: whether its arguments switch on what depends on the mode
        self.unsure = False  # what was stored may be there or not, or one of several things is

    def store(self, key: object, value: Value) -> None:
        """Put `value` under a constant key, or under any key if `key` is `NO_CONSTANT`."""
        self.unsure = self.unsure or value.kind is Kind.UNION or key in self.items
        if key is not NO_CONSTANT:
            self.items[key] = join(self.items.get(key), value)
        else:
            self.loose = join(self.loose, value)
        self.element = join(self.element, value)

    def forget(self, key: object) -> None:
        """Take away what lies under a constant key: from here on it may be there or not."""
        if key in self.items:
            self.items[key] = join(self.items[key], UNKNOWN)

    def members(self) -> list[Value]:
        """The entries as far as they are sure to be there; else what any of them may be."""
        if self.element is None:
            return []
        entries = [*self.items.values(), *([self.loose] if self.loose is not None else [])]
        if self.unsure or not entries:
            return [join(self.element, UNKNOWN) if self.unsure else self.element]
        return [member for entry in entries for member in entry.alternatives()]

    def load(self, key: object) -> Value | None:
        """What lies under a key; None if nothing is known."""
        if key is NO_CONSTANT:
            return self.element
        if type(key) is int and key < 0 and self.loose is None and not self.unsure:
            key = key + len(self.items) if list(self.items) == list(range(len(self.items))) else key
        if key in self.items:
            return self.items[key] if self.loose is None else join(self.items[key], self.loose)
        return self.loose if isinstance(key, str) and self.items else self.element

    def step(self, step: str) -> Value | None:
        """What a step of a path leads to: an attribute, or the entry of a constant key, or any entry."""
        if step.startswith("."):
            return self.attributes.get(step[1:])
        return next((value for key, value in self.items.items() if f"[{key!r}]" == step), self.element)


class _NoConstant(enum.Enum):
    NO_CONSTANT = "no constant"


NO_CONSTANT = _NoConstant.NO_CONSTANT


class Value(NamedTuple):
    """One abstract value.

    `ref` says more by kind (`nonstrict.program.domain.references`), and is best asked for by what it says: `of_class`,
    `function`, `dotted` and so on. `const` is the value of a literal. `taint` holds events that are harmless only if
    this value reaches what the marked function returns (unbacked sizes) or harmful only if it decides something (a draw
    of randomness).
    """

    kind: Kind
    place: AccessPath = FRESH
    ref: Ref = None
    const: Any = NO_CONSTANT
    heap: AbstractObject | None = None
    flags: int = Flag.NONE
    taint: frozenset[Any] = frozenset()

    def at(self, place: AccessPath) -> Value:
        """The same value, living at `place`."""
        return self if place == self.place else self._replace(place=place)

    def with_taint(self, taint: frozenset[Any]) -> Value:
        """The same value, carrying the given events."""
        return self if taint == self.taint else self._replace(taint=taint)

    @property
    def is_tensor(self) -> bool:
        """Whether this surely is a tensor or parameter."""
        return self.kind in TENSORS

    @property
    def is_whole(self) -> bool:
        """Whether this surely is an `int`, which a truth value is not taken for."""
        return self.kind is Kind.NUMBER and (type(self.const) is int or bool(self.flags & Flag.WHOLE))

    @property
    def is_real(self) -> bool:
        """Whether this surely is a `float`."""
        return self.kind is Kind.NUMBER and (type(self.const) is float or bool(self.flags & Flag.FLOATING))

    @property
    def holds_tensor(self) -> bool:
        """Whether this may be a tensor, or is a container with tensors in it."""
        if self.kind is Kind.UNION:
            return any(alternative.holds_tensor for alternative in self.alternatives())
        if self.heap is None or self.kind not in (Kind.LIST, Kind.TUPLE, Kind.DICT):
            return self.is_tensor
        return self.heap.element is not None and self.heap.element.is_tensor

    @property
    def is_variant(self) -> bool:
        """Whether an annotation alone says that this may be a tensor, or a number: which one, callers decide."""
        if self.kind is not Kind.UNION or self.place != NOWHERE:
            return False
        places = {alternative.place for alternative in self.alternatives()}
        return len(places) == 1 and places.pop().root is Root.ARGUMENT

    def alternatives(self) -> tuple[Value, ...]:
        """The values this may be: itself, or the members of a union."""
        return self.ref if isinstance(self.ref, Alternatives) else (self,)

    def with_alternatives(self, alternatives: Iterable[Value]) -> Value:
        """The same union of other values."""
        return self._replace(ref=Alternatives(alternatives))

    @property
    def of_class(self) -> Class | None:
        """The class of the program that this is, or that an object, module, tensor or enumeration member is of."""
        return self.ref if isinstance(self.ref, Class) else None

    @property
    def function(self) -> Function | None:
        """The function of the program that this is."""
        return self.ref if isinstance(self.ref, Function) else None

    @property
    def mark(self) -> Mark | None:
        """What was applied to a marked function."""
        return self.ref if isinstance(self.ref, Mark) else None

    @property
    def dotted(self) -> str:
        """The dotted name of something from outside, or of the class of it that this is of; "" for all else."""
        return self.ref if isinstance(self.ref, str) else ""

    @property
    def bound(self) -> Bound | None:
        """What a bound method binds to what."""
        return self.ref if isinstance(self.ref, Bound) else None

    @property
    def partial(self) -> Partial | None:
        """What a partial calls, with which arguments."""
        return self.ref if isinstance(self.ref, Partial) else None

    @property
    def external_method(self) -> ExternalMethod | None:
        """What was read from what, where nothing seen defines it."""
        return self.ref if isinstance(self.ref, ExternalMethod) else None


#: What the `ref` of the value of `globals()` is.
GLOBALS = "globals()"
#: What the `ref` of a named tuple, and of a class made by `collections.namedtuple`, is.
NAMED_TUPLE = "collections.namedtuple"
#: The `ref` that tells objects apart from the plain values of the same kind, which iterate and index alike.
TYPE = "builtins.type"
RANGE = "builtins.range"
REVERSED = "builtins.reversed"
#: Among the keyword arguments of a call: `**` spreads a mapping there of which not all entries are known.
REST = "**"
#: What a partial holds as `const` that an instance of the class around it becomes the first argument of.
PARTIAL_METHOD = "functools.partialmethod"
BYTES = "builtins.bytes"
BYTEARRAY = "builtins.bytearray"
COMPLEX = "builtins.complex"
ELLIPSIS = "builtins.Ellipsis"
DICT_VIEW = "builtins.dict view"
UNKNOWN = Value(Kind.UNKNOWN, NOWHERE)
NONE = Value(Kind.NONE, FRESH, const=None)
NUMBER = Value(Kind.NUMBER)
STRING = Value(Kind.STRING)
BOOL = Value(Kind.BOOL)
FALSE = Value(Kind.BOOL, const=False)
TENSOR = Value(Kind.TENSOR)
SIZE = Value(Kind.SIZE)
#: What autograd hands to `forward`, `setup_context` and `backward`: made for one call, and kept for its gradient.
CONTEXT = Value(Kind.INSTANCE, FRESH, "torch.autograd.function.FunctionCtx")
SETTING = Value(Kind.SETTING)
NUMPY = Value(Kind.NUMPY)

_MAX_ALTERNATIVES = 5
#: Containers in containers, and modules in modules, are looked into so deep: some hold themselves.
NESTED_CONTAINERS = 4
NESTED_MODULES = 6


def any_of_kind(value: Value) -> Value:
    """A value of the same kind, of which is not known which it is."""
    flags = Flag.WHOLE if value.is_whole else Flag.FLOATING if value.is_real else Flag.NONE
    return value._replace(const=NO_CONSTANT, flags=value.flags | flags)


def without_gradients(value: Value) -> Value:
    """A tensor or parameter that needs no gradients, or a module whose parameters need none."""
    frozen = Flag.FROZEN if value.kind in (Kind.PARAMETER, Kind.MODULE) else Flag.NONE
    return value._replace(flags=value.flags & ~Flag.GRADIENT | frozen)


def container(kind: Kind, *elements: Value) -> Value:
    """A new list, tuple, set, deque or iterator with the given elements."""
    heap = AbstractObject()
    for index, element in enumerate(elements):
        heap.store(index if kind in (Kind.LIST, Kind.TUPLE) else NO_CONSTANT, element)
    return Value(kind, heap=heap)


def holding(kind: Kind, element: Value | None) -> Value:
    """A new container of which only is known what any of its elements is."""
    heap = AbstractObject()
    heap.element = element
    return Value(kind, heap=heap)


#: What holds for a value if it holds for one of those that it may be.
_OF_EITHER = Flag.ATTACHED | Flag.MAYBE | Flag.OPTIONAL | Flag.COMPILED | Flag.OUTPUT


def join(left: Value | None, right: Value) -> Value:
    """The value that is either of the two; `None` as `left` stands for "nothing yet"."""
    if left is None or left == right:
        return right
    taint = left.taint | right.taint
    if _same(left, right):
        place = left.place if left.place == right.place else _common(left, right)
        const = left.const if left.const == right.const else NO_CONSTANT
        flags = (left.flags & right.flags) | ((left.flags | right.flags) & _OF_EITHER)
        flags |= Flag.WHOLE if left.is_whole and right.is_whole else Flag.NONE
        flags |= Flag.FLOATING if left.is_real and right.is_real else Flag.NONE
        if left.kind is Kind.TENSOR and FRESH.root in (left.place.root, right.place.root) and place != FRESH:
            flags |= Flag.MAYBE
        return Value(left.kind, place, left.ref, const, left.heap, flags, taint)
    merged: list[Value] = []
    for value in (*left.alternatives(), *right.alternatives()):
        if not any(_same(value, other) and value.place == other.place for other in merged):
            merged.append(value)
    if len(merged) > _MAX_ALTERNATIVES:
        merged = _of_classes(_without_layers(merged))
    if len(merged) == 1:
        return merged[0].with_taint(taint)
    if len(merged) > _MAX_ALTERNATIVES:
        return UNKNOWN.with_taint(taint)
    return Value(Kind.UNION, NOWHERE, Alternatives(merged), taint=taint)


def _without_layers(values: list[Value]) -> list[Value]:
    """Modules made here, those of torch as one of which nothing is known: what is left are those of the program."""
    if any(value.kind is not Kind.MODULE or value.place != FRESH for value in values):
        return values
    own = [value for value in values if not isinstance(value.ref, str)]
    return [*own, Value(Kind.MODULE, FRESH, BASE_MODULE)]


def _of_classes(values: list[Value]) -> list[Value]:
    """Objects made here, those of each class of the program as one of which is known what holds for all of them."""
    groups: dict[tuple[Kind, int], list[Value]] = {}
    for value in values:
        if value.heap is None or value.place != FRESH or not isinstance(value.ref, Class):
            return values
        groups.setdefault((value.kind, id(value.ref)), []).append(value)
    return [
        Value(one[0].kind, FRESH, one[0].ref, heap=_any_heap(one)) if one[1:] else one[0] for one in groups.values()
    ]


def _any_heap(values: list[Value]) -> AbstractObject:
    """What any of some objects of a class holds."""
    made = AbstractObject()
    heaps = [value.heap for value in values if value.heap is not None]
    for name in dict.fromkeys(name for heap in heaps for name in heap.attributes):
        held = [one for heap in heaps for one in heap.attributes.get(name, UNKNOWN).alternatives()]
        known = held[0] if all(_same(held[0], one) for one in held) else None
        few = len(held) <= _MAX_ALTERNATIVES
        made.attributes[name] = functools.reduce(join, held) if known is not None or few else UNKNOWN
    for heap in heaps:
        made.hooks += [hook for hook in heap.hooks if hook not in made.hooks]
        made.backward += [hook for hook in heap.backward if hook not in made.backward]
        made.inner += [hook for hook in heap.inner if hook not in made.inner]
        made.open = made.open or heap.open
        made.switched = made.switched or heap.switched
        if heap.element is not None:
            made.element = made.loose = heap.element if heap.element is made.element else UNKNOWN
            made.unsure = True
    return made


def _same(left: Value, right: Value) -> bool:
    return (
        left.kind is right.kind
        and left.kind is not Kind.UNION
        and (left.heap is right.heap or _alike(left, right))
        and (left.ref is right.ref or left.ref == right.ref)
        and (left.place == right.place or not (left.place.captured or right.place.captured))
    )


def _alike(left: Value, right: Value) -> bool:
    """Whether two modules of torch are told apart by nothing but their identity."""
    one, other = left.heap, right.heap
    if left.kind is not Kind.MODULE or not isinstance(left.ref, str) or one is None or other is None:
        return False
    plain = not (
        one.items
        or other.items
        or one.hooks
        or other.hooks
        or one.backward
        or other.backward
        or one.attributes
        or other.attributes
    )
    return plain and one.element is other.element is None and one.open == other.open


def _common(left: Value, right: Value) -> AccessPath:
    return left.place if left.place.root is not FRESH.root else right.place


def relocated(value: Value, place: AccessPath) -> Value:
    """A value read through a captured place; definitions and external names stay what they are."""
    if value.kind is Kind.UNION:
        return value.with_alternatives(relocated(alternative, place) for alternative in value.alternatives())
    if value.kind in (Kind.CLASS, Kind.PYTHON_MODULE, Kind.EXTERNAL, Kind.UNKNOWN) and value.place.root in (
        Root.FRESH,
        Root.UNKNOWN,
    ):
        return value._replace(place=place) if value.kind is Kind.UNKNOWN else value
    return value.at(place)


def placed(value: Value, place: AccessPath) -> Value:
    """A value read through a place that something else is put at: there functions and classes are told apart too."""
    if value.kind is Kind.UNION:
        return value.with_alternatives(placed(alternative, place) for alternative in value.alternatives())
    return relocated(value, place) if value.kind is Kind.PYTHON_MODULE else value.at(place)


def traced(value: Value) -> bool:
    """Whether a value is, or directly holds, a tensor that tracing made: a fake tensor while compiling."""
    for alternative in value.alternatives():
        if alternative.kind is Kind.TENSOR and not alternative.place.captured and not alternative.flags & Flag.LITERAL:
            return True
        if alternative.kind is Kind.TENSOR and alternative.place.root is Root.FRESH:
            return True
        if alternative.kind in (Kind.TUPLE, Kind.LIST, Kind.DICT) and alternative.heap is not None:
            element = alternative.heap.element
            if alternative.place.root is Root.FRESH and element is not None and traced(element):
                return True
    return False


def became_tensor(value: Value) -> bool:
    """Whether a value is a plain one to begin with that a path through the region makes a tensor of."""
    kinds = {member.kind for member in value.alternatives()}
    made = all(member.place == FRESH for member in value.alternatives() if member.kind in TENSORS)
    return made and Kind.TENSOR in kinds and bool(kinds & _PLAIN) and kinds <= _PLAIN | {Kind.TENSOR}


def is_array(value: Value) -> bool:
    """Whether a value is an array of NumPy, or a number that is one of its scalars."""
    scalar = value.kind is Kind.NUMBER and value.dotted.startswith("numpy.")
    return value.kind is Kind.NUMPY or scalar
