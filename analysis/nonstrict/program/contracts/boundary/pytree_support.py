"""What may cross the boundary of a marked function: which values torch takes as arguments, and which as results.

Measured on torch 2.13.0; `allow_in_graph` and `nonstrict_trace` differ in what they take.
"""

from __future__ import annotations

import builtins
import enum
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import fields
from nonstrict.knowledge.operators import nn_module, tensor_method, torch_function, torch_kind
from nonstrict.knowledge.standard_library import EVER
from nonstrict.models.entries import ANY
from nonstrict.program.contracts.boundary import registered
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import (
    BYTEARRAY,
    BYTES,
    CALLABLES,
    COMPLEX,
    DICT_VIEW,
    ELLIPSIS,
    NAMED_TUPLE,
    NESTED_CONTAINERS,
    RANGE,
    REVERSED,
    Kind,
    Value,
    container,
)
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.findings import Span
    from nonstrict.models.library import Models
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.machine import Machine

#: From this version on `None` may be passed and returned.
NONE_ALLOWED = (2, 15)
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.DEQUE})
_REGISTER = "register its class outside the region, with `register_dataclass` or `register_pytree_node`"
_RETURN = "return tensors and numbers, and build the rest in the region"
_PLAIN = "pass tensors, numbers and containers of these"
_LIKE_LISTS = {
    RANGE: "a range",
    REVERSED: "an iterator",
    DICT_VIEW: "a view of a dict",
    BYTEARRAY: "a bytearray",
}
_LIKE_DICTS = {
    "collections.Counter": "a Counter",
    "types.MappingProxyType": "a mapping proxy",
}
#: Kinds of dicts that only `nonstrict_trace` takes.
_ORDERED_DICTS = frozenset({"collections.OrderedDict", "collections.defaultdict"})
#: How a message names objects of some classes, and of those that derive from them.
_MADE = {
    "builtins.slice": "a slice",
    "builtins.bytes": "a bytes object",
    "array.array": "an array",
    "numpy.dtype": "a NumPy dtype",
    "collections.ChainMap": "a ChainMap",
    "io.IOBase": "a file",
    "pathlib.PurePath": "a path",
    "threading.Lock": "a lock",
    "threading.Event": "an event",
    "threading.Thread": "a thread",
    "concurrent.futures.Executor": "an executor",
    "multiprocessing.Process": "a process",
    "queue.Queue": "a queue",
    "socket.socket": "a socket",
    "logging.Logger": "a logger",
    "contextvars.ContextVar": "a context variable",
    "weakref.ref": "a weak reference",
    "random.Random": "a generator of random numbers",
    "types.ModuleType": "a module",
    "types.FunctionType": "a function",
    "torch.finfo": "a `torch.finfo`",
    "torch.iinfo": "a `torch.iinfo`",
    NAMED_TUPLE: "a class",
    "builtins.type": "a class",
}
#: Packages of torch whose classes are no modules, and that pytrees do not know.
_PLAIN_PACKAGES = ("torch.distributions.", "torch.optim.", "torch.utils.data.")
#: What `allow_in_graph` takes although `nonstrict_trace` does not.
_IN_GRAPH_ONLY = frozenset({RANGE, ELLIPSIS, "builtins.slice", "numpy.dtype"})
_NUMPY_TYPES = ("numpy.ndarray", "numpy.typing.NDArray", "numpy.generic", "numpy.dtype")
#: Builtin classes that are so general that an annotation with one tells nothing.
_ANYTHING = frozenset({"builtins.object", "builtins.type", "builtins.Exception"})


class Crossing(enum.Enum):
    """What a refused value is to the boundary, where something more is known than that."""

    NOTHING = "None, which torch takes from 2.15 on"
    NUMPY = "of NumPy"
    NAMED_TUPLE = "a named tuple"
    CONSTANT = "of a class that is registered as a constant"
    UNREGISTERED = "of a class that nothing registers"
    OTHER = "anything else"


class Refused(NamedTuple):
    """Why torch refuses a value: `what` it is, and what to do instead; whether a container holds it."""

    what: str
    advice: str
    cls: Class | None = None
    crossing: Crossing = Crossing.OTHER
    inside: bool = False

    @property
    def defined(self) -> Span | None:
        """Where the class of a refused object is defined: the line that names it."""
        if self.cls is None:
            return None
        whole = span_of(self.cls.module.path, self.cls.offset, self.cls.node)
        return whole._replace(end_line=whole.line, end_column=whole.column + len("class ") + len(self.cls.name))


class Boundary:
    """Judges the values that cross the boundary of functions with one kind of marker, on one version of torch."""

    def __init__(self, machine: Machine, marker: str, torch: tuple[int, int]) -> None:
        self.machine = machine
        self.in_graph = marker == "in-graph"
        self.none_allowed = self.in_graph or torch >= NONE_ALLOWED

    def argument(self, value: Value, *, sure: bool = True) -> Refused | None:
        """Why an argument is refused; None if it is accepted or not known.

        With `sure` one alternative that is refused is enough, else all that are known must be.
        """
        return self._any(value, self._as_argument, sure=sure, depth=0)

    def result(self, value: Value, *, sure: bool = True) -> Refused | None:
        """Why a result is refused; None if it is accepted or not known."""
        return self._any(value, self._as_result, sure=sure, depth=0)

    # -- one value ------------------------------------------------------------------------------------------------

    def _any(self, value: Value, judge: _Judge, *, sure: bool, depth: int) -> Refused | None:
        alternatives = value.alternatives()
        if not all(one.kind in CALLABLES or one.kind is Kind.NONE for one in alternatives):
            # Decorators with optional arguments give a function or the result, by what they are called with.
            alternatives = tuple(one for one in alternatives if one.kind not in CALLABLES)
        verdicts = [judge(alternative, depth) for alternative in alternatives]
        if not sure and not all(verdicts):
            return None
        return next((verdict for verdict in verdicts if verdict is not None), None)

    def _as_argument(self, value: Value, depth: int) -> Refused | None:
        kind = value.kind
        if kind is Kind.SETTING:
            refused = value.dotted == ELLIPSIS and not self.in_graph
            return Refused("an Ellipsis", "index in the region and pass the result") if refused else None
        if kind is Kind.MODULE:
            advice = "use `nonstrict_trace`, which takes modules"
            return Refused("a module, which `allow_in_graph` does not take", advice) if self.in_graph else None
        if kind is Kind.STRING:
            return Refused("a bytes object", "pass a string or a tensor") if value.dotted == BYTES else None
        return self._common(value, depth, self._as_argument)

    def _as_result(self, value: Value, depth: int) -> Refused | None:
        kind = value.kind
        advice = _RETURN
        if kind is Kind.STRING:
            return Refused("a bytes object" if value.dotted == BYTES else "a string", advice)
        if kind is Kind.NUMBER and (value.dotted == COMPLEX or isinstance(value.const, complex)):
            return Refused("a complex number", advice)
        if kind is Kind.SETTING:
            return Refused(_setting(value), advice)
        if kind is Kind.MODULE:
            return Refused("a module", "return what the module computes")
        if kind is Kind.TUPLE and value.dotted == NAMED_TUPLE and not self.in_graph:
            return _named_tuple()
        if self.in_graph and kind in (Kind.DICT, Kind.DEQUE):
            return Refused("a dict" if kind is Kind.DICT else "a deque", "return a tuple, or use `nonstrict_trace`")
        return self._common(value, depth, self._as_result)

    def _common(self, value: Value, depth: int, judge: _Judge) -> Refused | None:
        """What is refused in both directions, in or out of containers."""
        if value.kind is Kind.NONE:
            advice = "leave the argument out, or pass a tensor" if judge == self._as_argument else "return tensors only"
            return None if self.none_allowed else Refused("None", advice, crossing=Crossing.NOTHING)
        if value.kind is Kind.OBJECT:
            return self._object(value, depth, judge)
        simple = self._simple(value)
        if simple is None:
            return self._elements(value, depth, judge)
        return simple if judge == self._as_argument else simple._replace(advice=_RETURN)

    def _simple(self, value: Value) -> Refused | None:
        refused = self._refused(value)
        if refused is None or registered.is_foreign(self.machine, _class_names(value)):
            return None
        return refused

    def _refused(self, value: Value) -> Refused | None:
        kind, ref = value.kind, value.dotted
        if self.in_graph and (ref in _IN_GRAPH_ONLY or kind is Kind.NUMPY or _is_numpy(value, self.machine.models)):
            return None
        if kind is Kind.SET:
            return Refused("a set", "pass a sorted list or a tuple")
        if kind is Kind.NUMPY or _is_numpy(value, self.machine.models):
            advice = "convert it with `torch.from_numpy`, or to a Python number"
            return Refused("a NumPy value", advice, crossing=Crossing.NUMPY)
        if kind is Kind.ITERATOR or (kind is Kind.LIST and ref == REVERSED):
            return Refused("an iterator", "convert it to a list")
        if kind is Kind.LIST and ref in _LIKE_LISTS:
            return Refused(_LIKE_LISTS[ref], "convert it to a list or a tuple")
        if kind is Kind.DICT and ref in _LIKE_DICTS:
            return Refused(_LIKE_DICTS[ref], "make a dict of it")
        if self.in_graph and (kind is Kind.DEQUE or ref in _ORDERED_DICTS):
            return Refused("an ordered dict, a defaultdict or a deque", "pass a plain dict, list or tuple")
        if kind is Kind.INSTANCE and ref:
            what = _instance(value, self.machine.models) or ("" if self.in_graph else _of_torch(ref))
            return Refused(what, _PLAIN) if what else None
        what = _callable(value, self.machine.models)
        return Refused(what, "choose the function inside the marked function, by a number or a flag") if what else None

    # -- containers and objects -----------------------------------------------------------------------------------

    def _elements(self, value: Value, depth: int, judge: _Judge) -> Refused | None:
        if value.kind not in _CONTAINERS or depth >= NESTED_CONTAINERS:
            return None
        for element, sure in _elements(value):
            refused = self._any(element, judge, sure=sure, depth=depth + 1)
            if refused is not None:
                return _inside(refused, value)
        return None

    def _object(self, value: Value, depth: int, judge: _Judge) -> Refused | None:
        cls = value.of_class
        if cls is None or registered.is_typed_dict(cls):
            return None
        outgoing = judge == self._as_result
        if registered.is_named_tuple(cls):
            if outgoing and not self.in_graph:
                return _named_tuple(cls)
            return self._fields(value, depth, judge, optional=False) if depth < NESTED_CONTAINERS else None
        known = registered.registrations(self.machine, cls)
        if known is None:
            return None
        if self.in_graph and not outgoing and fields.is_frozen(cls.node) and depth < NESTED_CONTAINERS:
            return self._fields(value, depth, judge, optional=False)
        if self.in_graph:
            advice = "pass its tensors, or use `nonstrict_trace` and register the class"
            return Refused(f"an object of the class `{cls.name}`", advice, cls)
        kinds = {one.kind for one in known}
        if outgoing and kinds == {"constant"}:
            what = f"an object of `{cls.name}` (registered as a constant)"
            return Refused(what, "return what the region needs of it", cls, Crossing.CONSTANT)
        if "dataclass" in kinds and depth < NESTED_CONTAINERS:
            dropped = frozenset[str]().union(*(one.dropped for one in known))
            return self._fields(value, depth, judge, dropped)
        what = f"an object of unregistered class `{cls.name}`"
        return None if known else Refused(what, _REGISTER, cls, Crossing.UNREGISTERED)

    def _fields(
        self, value: Value, depth: int, judge: _Judge, dropped: AbstractSet[str] = frozenset(), *, optional: bool = True
    ) -> Refused | None:
        """What is refused of the fields of an object, as they were set, or are declared where it was not seen made.

        A registered dataclass leaves out those that are None, and those that its registration drops.
        """
        owner = value.of_class.name if value.of_class is not None else ""
        for name, field in value.heap.attributes.items() if value.heap is not None else ():
            if name in dropped or field.kind in (Kind.UNION, Kind.UNKNOWN) or (optional and field.kind is Kind.NONE):
                continue
            refused = judge(field, depth + 1)
            if refused is not None:
                return refused._replace(what=f"{refused.what} in field `{name}` of `{owner}`")
        return None


if TYPE_CHECKING:
    from collections.abc import Callable

    _Judge = Callable[[Value, int], Refused | None]


def elements(value: Value) -> Iterator[Value]:
    """The values that a list, tuple, dict or deque holds."""
    if value.kind in _CONTAINERS:
        for element, _ in _elements(value):
            yield element


def holds_generator(value: Value) -> bool:
    """Whether a value may be a `torch.Generator`, or a container that holds one."""
    return any(
        one.kind is Kind.GENERATOR or any(holds_generator(element) for element in elements(one))
        for one in value.alternatives()
    )


def _elements(value: Value) -> Iterator[tuple[Value, bool]]:
    """The elements of a container, each with whether any of its alternatives is surely in it.

    Items that were stored more than once hold the last, and one that is written in a loop replaces a placeholder.
    """
    heap = value.heap
    if heap is None:
        return
    if heap.loose is not None:
        yield heap.loose, True
    elif heap.items:
        for item in heap.items.values():
            yield item, value.kind is Kind.TUPLE
    elif heap.element is not None:
        yield heap.element, value.kind is Kind.TUPLE


def _inside(refused: Refused, container: Value) -> Refused:
    names = {Kind.LIST: "list", Kind.TUPLE: "tuple", Kind.DICT: "dict", Kind.DEQUE: "deque"}
    what = refused.what if refused.inside else f"{refused.what} in a {names[container.kind]}"
    return refused._replace(what=what, inside=True)


def _named_tuple(cls: Class | None = None) -> Refused:
    named = f" `{cls.name}`" if cls is not None else ""
    advice = "return a plain tuple, and name its parts in the region"
    return Refused(f"a named tuple{named}", advice, cls, Crossing.NAMED_TUPLE)


def _setting(value: Value) -> str:
    if value.of_class is not None:
        return f"a member of the enumeration `{value.of_class.name}`"
    if value.dotted == ELLIPSIS:
        return "an Ellipsis"
    return "a dtype, device or layout"


def _is_numpy(value: Value, models: Models) -> bool:
    if not value.dotted:
        return False
    scalar = value.kind is Kind.NUMBER and value.dotted.startswith("numpy.")
    return scalar or (value.kind is Kind.INSTANCE and models.is_a(value.dotted, *_NUMPY_TYPES))


def _class_names(value: Value) -> tuple[str, ...]:
    """What the class of a value from outside the program may be called."""
    if value.kind is Kind.SET:
        return ("set", "frozenset")
    if value.kind is Kind.NUMPY:
        return ("ndarray",)
    if value.kind is Kind.ITERATOR:
        return ("iterator",)
    return (value.dotted,) if value.dotted else ()


def _instance(value: Value, models: Models) -> str:
    """What an object of a class outside the program is, if torch surely does not take it; "" if that is not known."""
    name: str = value.dotted
    named = next((_MADE[base] for base in models.ancestors(name) if base in _MADE), "")
    if named:
        return named
    root, _, last = name.rpartition(".")
    if root == "builtins":
        if name in _ANYTHING and value.place != FRESH:
            return ""
        known = getattr(builtins, last, None)
        return f"a {last}" if isinstance(known, type) and known not in (int, float, bool, str, complex) else ""
    package = root.partition(".")[0]
    if package in EVER and package not in ("typing", "collections", "enum", "abc", "numbers"):
        return f"an object of `{name}`"
    return ""


def _of_torch(name: str) -> str:
    """How to name an object of torch's classes for work outside of graphs; "" for any other."""
    outside = name.startswith(_PLAIN_PACKAGES) and name.rpartition(".")[2][:1].isupper()
    return f"an object of `{name}`" if outside else ""


def _callable(value: Value, models: Models) -> str:
    """How to name a function, class or module that is used as a value; "" for anything else."""
    kind = value.kind
    if kind in (Kind.FUNCTION, Kind.MARKED):
        return "a lambda" if value.function is not None and value.function.name == "<lambda>" else "a function"
    if kind is Kind.BOUND:
        return "a bound method"
    if kind is Kind.PARTIAL:
        return "a partial function"
    if kind is Kind.CLASS:
        return "a class"
    if kind is Kind.PYTHON_MODULE:
        return "a Python module"
    if value.external_method is not None:
        receiver, name = value.external_method
        cls = receiver.of_class if receiver.kind is Kind.CLASS and name == "apply" else None
        if cls is not None and classes.is_autograd_function(cls):
            return "a bound method"
        return "a bound method" if receiver.is_tensor and tensor_method(name) is not None else ""
    return _external(value.dotted, models) if kind is Kind.EXTERNAL else ""


def _external(name: str, models: Models) -> str:
    if name.startswith("torch.ops."):
        return "an operator without its overload, such as `.default`," if name.count(".") == 3 else ""
    if torch_kind(name) in ("class", "nn-module-class", "tensor-class") or nn_module(name) is not None:
        return "a class"
    if torch_function(name) is not None or torch_kind(name) == "function":
        return f"the function `{name}`"
    if name == ELLIPSIS:
        return "an Ellipsis"
    root, _, last = name.rpartition(".")
    if root == "builtins":
        found = getattr(builtins, last, None)
        return "a class" if isinstance(found, type) else f"the function `{last}`" if callable(found) else ""
    of_library = root.partition(".")[0] in EVER
    return f"the function `{name}`" if of_library and models.result(name) != ANY else ""


def tuple_of(items: list[Value]) -> Value:
    """A tuple with the given elements."""
    return container(Kind.TUPLE, *items)
