"""Functions, classes and marks of the analysed program, as values refer to them."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.facts.scopes import FunctionNode, Scope
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.misapplied import Misuse, Wasted
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value


#: The backend of a region for which none is given.
DEFAULT_BACKEND = "inductor"


class Environment(Protocol):
    """The variables around a definition that stands in a function: its frame, as far as what it defines knows of it."""

    @property
    def env(self) -> dict[str, Value]:
        """The variables."""
        ...

    @property
    def function(self) -> Function | None:
        """The function whose variables these are."""
        ...

    @property
    def scope(self) -> Scope | None:
        """Which names the function binds."""
        ...

    @property
    def static(self) -> bool:
        """Whether the code runs outside any traced body."""
        ...

    @property
    def caller(self) -> Environment | None:
        """Those of the code that made the call, None where no call was seen."""
        ...


@dataclass(eq=False, slots=True)
class Function:
    """A function, method or lambda. `closure` holds the variables of the enclosing function, if any."""

    node: FunctionNode
    module: Module
    offset: int
    qualname: str
    closure: Environment | None = None
    owner: Class | None = None
    binding: str = ""  # "static", "class" or "property"
    cached_at: ast.AST | None = None  # the `lru_cache` decorator
    context_manager: bool = False
    modes: list[ast.AST] = field(default_factory=list[ast.AST])  # `inference_mode` decorators
    #: decorators that are objects, and these: context managers among them are entered at each call
    managers: list[tuple[ast.expr, Value]] = field(default_factory=list["tuple[ast.expr, Value]"])
    traits: set[str] = field(default_factory=set[str])  # "triton", "no_grad", ...
    setter: Function | None = None  # of a property: what runs where it is assigned to

    @property
    def name(self) -> str:
        """The bare name, `<lambda>` for a lambda."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(eq=False, slots=True)
class Class:
    """A class of the program. `bases` are values: classes of the program or external names."""

    node: ast.ClassDef
    module: Module
    offset: int
    qualname: str
    closure: Environment | None = None
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict[str, "Value"])
    functions: dict[str, Value] | None = None  # the functions of its body, undecorated, once they were asked for
    decorators: tuple[str, ...] = ()
    template: Value | None = None  # an instance as its `__init__` leaves it
    preparing: bool = False
    within: Class | None = None  # the class in whose body it is defined

    @property
    def name(self) -> str:
        """The bare name."""
        return self.node.name

    @property
    def place(self) -> AccessPath:
        """Where the class is found: under its name, of a nested one that of the outermost class and attributes."""
        if self.within is not None:
            return self.within.place.step(f".{self.name}")
        return self.module.place(self.name)


@dataclass(eq=False, slots=True)
class Mark:
    """One application of a marker to a callable."""

    kind: str
    api: str
    target: Value
    path: str
    offset: int
    node: ast.AST
    function: Function | None
    owner: str = ""  # what the result is stored in, where the marker is called in a method or function
    disabled: bool = False  # `torch._dynamo.disable` stands above the marker: no compiler gets to see the body
    spelling: str = ""  # the dotted name by which the marker was reached
    within: Function | None = None  # the function in which the marker is applied
    operator: Operator | None = None  # of a leaf function or an implementation of a custom operator
    calls: list[SeenCall] = field(default_factory=list["SeenCall"])
    apart: set[ast.AST] = field(default_factory=set["ast.AST"])  # calls in code that runs only where nothing is traced
    wasted: Wasted | None = None  # why `torch.compile` compiles nothing
    misused: tuple[Misuse, ...] = ()  # where its wrapper of a module is taken for the module


@dataclass(eq=False, slots=True)
class Operator:
    """One custom operator or leaf function.

    `api` is what declares it, "" where no declaration was seen; `name` is `namespace::name`, "" where it is computed.
    `mutates` names the parameters declared as changed, None where that is not known. `traced` says that the compiler
    may look through an implementation, `fakes_unknown` that a fake exists whose code was not seen. `inferred` says that
    the schema is made of the annotations of the function.
    """

    name: str
    api: str = ""
    path: str = ""
    offset: int = 0
    node: ast.AST | None = None
    mutates: frozenset[str] | None = None
    schema: str = ""
    inplace: bool = False
    traced: bool = False
    inferred: bool = False
    effectful: bool = False
    fakes_unknown: bool = False
    implementations: list[Mark] = field(default_factory=list[Mark])
    fakes: list[Value] = field(default_factory=list["Value"])

    @property
    def bare(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition("::")[2]

    @property
    def has_fake(self) -> bool:
        """Whether a fake was seen."""
        return bool(self.fakes) or self.fakes_unknown

    @property
    def aliases_declared(self) -> bool:
        """Whether the schema says that a result is one of the arguments."""
        return self.inplace or "(" in self.schema.rpartition("->")[2].replace("()", "")


class Told(enum.Enum):
    """What code tells of an option where it tells no value."""

    NOT_GIVEN = "not given"
    NOT_KNOWN = "not known"


class GuardFilter(enum.Enum):
    """Which guards of a region a function of `torch.compiler` drops, that its option `guard_filter_fn` names."""

    BUILT_IN_MODULES = "skip_guard_on_inbuilt_nn_modules_unsafe"
    MODULES = "skip_guard_on_all_nn_modules_unsafe"
    GLOBALS = "skip_guard_on_globals_unsafe"
    BUT_PORTABLE = "keep_portable_guards_unsafe"
    BUT_TENSORS = "keep_tensor_guards_unsafe"
    ALL = "skip_all_guards_unsafe"


class CompileOptions(NamedTuple):
    """The options that a region is compiled with: constants, or that they are not given, or not known.

    `options` are pairs of names and values, `backend` a name, a filter of guards a `GuardFilter`. What a condition of
    the program decides is not known.
    """

    fullgraph: object = Told.NOT_GIVEN
    dynamic: object = Told.NOT_GIVEN
    mode: object = Told.NOT_GIVEN
    backend: object = Told.NOT_GIVEN
    options: tuple[tuple[str, object], ...] | Told | None = Told.NOT_GIVEN
    disable: object = Told.NOT_GIVEN
    recompile_limit: object = Told.NOT_GIVEN
    isolate_recompiles: object = Told.NOT_GIVEN

    def common(self, other: CompileOptions) -> CompileOptions:
        """What is known of the options of either of two."""
        pairs = zip(self._fields, self, other, strict=True)
        return self._replace(**{name: Told.NOT_KNOWN for name, one, another in pairs if one != another})

    @property
    def most(self) -> int | None:
        """How often a region is compiled at most; None where that is left to Dynamo, or is not known."""
        told = self.recompile_limit
        return told if isinstance(told, int) and not isinstance(told, bool) else None

    @property
    def isolates(self) -> bool:
        """Whether each application keeps what it compiles apart from that of others, as far as known."""
        return self.isolate_recompiles is True

    @property
    def backend_name(self) -> str:
        """The name of the backend, that of the default one where none is given; "" where it is not known."""
        if self.backend is None or self.backend is Told.NOT_GIVEN:
            return DEFAULT_BACKEND
        return self.backend if isinstance(self.backend, str) else ""

    @property
    def guard_filter(self) -> object:
        """A `GuardFilter`, or whether one is given that is not known."""
        given = dict(self.options) if isinstance(self.options, tuple) else {}
        return given.get("guard_filter_fn", Told.NOT_GIVEN)


_NO_OPTIONS = CompileOptions()


@dataclass(eq=False, slots=True)
class Region:
    """A function that `torch.compile` is applied to; `target` is what the compiler was given.

    Where it `wraps` that, only calls of what it returns run compiled code.
    """

    function: Function
    target: Value
    options: CompileOptions
    path: str
    offset: int
    node: ast.AST
    wraps: bool = False

    @property
    def fullgraph(self) -> bool:
        """Whether a break of the graph is known to be an error."""
        return self.options.fullgraph is True

    @property
    def backend(self) -> str:
        """The name of the backend; "" where it is not known."""
        return self.options.backend_name


class Compiled(NamedTuple):
    """One function that is compiled: from where the user sees it, in which text, and with which options."""

    path: str
    offset: int
    node: ast.AST
    function: Function
    options: CompileOptions


@dataclass(eq=False, slots=True)
class CompileSite:
    """A place where `torch.compile` or `Module.compile` is applied, as far as interpreting the program tells.

    `compiled` are the functions that it was given, `given` is what else. `target` is all that the text around it gives
    it: None where it is a part of a decorator or wrapper, which is applied in another place.
    """

    path: str
    offset: int
    node: ast.AST
    compiled: list[Compiled] = field(default_factory=list[Compiled])
    given: Value | None = None
    target: Value | None = None
    in_place: bool = False  # it is the method of modules
    options: CompileOptions = _NO_OPTIONS  # of what makes wrappers
    within: Function | None = None  # the function in which it stands


class Passed(NamedTuple):
    """What a region passes to a marked function, as tracing it tells; `receiver` is what a method is called on."""

    receiver: Value | None
    positional: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(eq=False, slots=True)
class SeenCall:
    """A call of a marked function: where, from which function, with which values."""

    node: ast.Call
    path: str
    offset: int
    caller: Function | None
    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    through: str = ""  # how the callee was reached if not by its own name: "container", "attribute" or "cell"
    receiver: Value | None = None  # what a marked method is called on
