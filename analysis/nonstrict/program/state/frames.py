"""The state of one function while it is interpreted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Drawn, Event, Read, Taken, Unseen
from nonstrict.facts import save_restore
from nonstrict.facts.aliases import aliases_of, names_beside
from nonstrict.facts.laziness import is_lazy, sets_itself
from nonstrict.facts.scopes import is_as_passed
from nonstrict.findings import Output
from nonstrict.program.domain import refinements, symbols, values
from nonstrict.program.domain.access_paths import CAPTURED, FRESH, AccessPath, Root, owned_by
from nonstrict.program.domain.effects import NEEDED, PLAIN, CallEdge, Effect, Sight, Summary
from nonstrict.program.domain.observer import NOBODY
from nonstrict.program.domain.values import (
    CALLABLES,
    CONTAINERS,
    NO_CONSTANT,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    join,
    relocated,
    traced,
)
from nonstrict.program.state import context_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import How
    from nonstrict.facts.scopes import Scope
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.observer import Observer
    from nonstrict.program.state.asked import Asked
    from nonstrict.program.state.machine import Machine

#: Methods by which iterators and generators give what comes next.
_ADVANCING = frozenset({"send", "throw", "__next__"})
_START_AND_END = 2
#: Expressions that lead to a value and do nothing with it.
_PATHS = (ast.Name, ast.Attribute, ast.Subscript, ast.IfExp)
#: Of these what they hold decides, which is told where it is read.
_HANDED_ON = CONTAINERS | {Kind.OBJECT, Kind.INSTANCE}
_NEVER_STATE = frozenset({Kind.PYTHON_MODULE, Kind.MARKED, Kind.UNKNOWN, Kind.SUPER})


class Frame:
    """Variables, effects and position of a function under interpretation.

    `static` frames stand for code that runs outside any traced body (module level, factories, regions): what they
    do is no effect, but markers applied and marked functions called in them are recorded. Frames of a `region` stand
    for code that Dynamo traces: what breaks the graph is an effect there.
    """

    __slots__ = (
        "application",
        "asked",
        "at_module_level",
        "branches",
        "caller",
        "caught",
        "chosen",
        "depth",
        "differentiates",
        "done",
        "endings",
        "entered",
        "env",
        "function",
        "in_order",
        "machine",
        "module",
        "observer",
        "offset",
        "opaque",
        "plain",
        "refined",
        "region",
        "returns",
        "scope",
        "sealed",
        "static",
        "strict",
        "summary",
        "surely",
        "yields",
    )

    def __init__(
        self,
        machine: Machine,
        module: Module,
        offset: int,
        summary: Summary,
        *,
        function: Function | None = None,
        scope: Scope | None = None,
        caller: Frame | None = None,
        static: bool = False,
        observer: Observer[Frame, Function] | None = None,
        opaque: bool = False,
    ) -> None:
        self.machine = machine
        self.module = module
        self.offset = offset
        self.summary = summary
        self.function = function
        self.scope = scope
        self.caller = caller
        self.static = static
        #: who is told what the code does, here and in what is called from here
        self.observer: Observer[Frame, Function] = observer or (NOBODY if caller is None else caller.observer)
        self.region: bool = self.observer.is_of_region
        #: part of an operator or leaf function, which declares the arguments that it changes
        self.opaque: bool = opaque or (caller is not None and caller.opaque)
        #: whether tensors carry that they need gradients (`nonstrict.program.externals.differentiation`)
        self.differentiates: bool = caller is not None and caller.differentiates
        #: stands for code that is never traced, to see what it does (`nonstrict.program.mutations.indirect`)
        self.plain: bool = caller is not None and caller.plain
        #: how many conditions stand around the statement, and around this round of a loop: -1 where it may have ended
        self.branches = self.surely = 0
        #: calls that some rounds of a loop may leave out
        self.chosen: set[ast.AST] = set()
        self.env: dict[str, Value] = {}
        self.asked: Asked = {}
        #: whether the variables hold what conditions tell of attributes
        self.refined = self.done = False
        self.returns: Value | None = None
        #: statements by which the body of a loop ended that runs once for each entry
        self.endings: set[type[ast.stmt]] = set()
        #: blocks of `with` statements, as lines, and the context variables that are set in them
        self.entered: list[tuple[tuple[int, int], frozenset[str]]] = []
        self.yields: AbstractObject | None = None
        #: whether what was yielded so far surely came one after the other
        self.in_order = True
        self.depth: int = caller.depth + 1 if caller else 0
        #: static code that runs to give a global its value
        self.at_module_level: bool = caller.at_module_level if caller else function is None
        self.caught: tuple[str, ...] = ()
        #: what the nearest `error_on_graph_break` around the statement says; in static code callers' count too
        self.strict: bool | None = caller.strict if caller is not None and static else None
        #: from where on nothing outside can be changed: the call that turns a function into a graph of its own
        self.sealed: Frame | None = caller.sealed if caller else None
        #: where a marker is being applied from the user's point of view: (path, offset, node)
        self.application: tuple[str, int, ast.AST] | None = caller.application if caller else None

    # -- effects --------------------------------------------------------------------------------------------------

    def emit(
        self,
        event: Event,
        node: ast.AST,
        place: AccessPath = FRESH,
        value: Value = UNKNOWN,
        what: str = "",
        *,
        how: How | None = None,
        output: Output = Output.NONE,
        telling: bool = False,
        entries: tuple[str, ...] = (),
        sight: Sight = PLAIN,
    ) -> Effect:
        """Record an effect of this function."""
        stores = event is Event.WRITE or event is Event.LEAK
        own = self.function.node if stores and self.function is not None else None
        lazy = own is not None and is_lazy(own, place.key, node)
        seen = (self.module.path, self.offset, node, place, value, what, how, lazy, self.branches > 0, self.strict)
        effect = Effect(event, *seen, output=output, telling=telling, entries=entries, sight=sight)
        if not ((stores or event is Event.IO) and self._takes_back(node)):
            self.summary.add(effect)
        return effect

    def _takes_back(self, node: ast.AST) -> bool:
        """Whether what a node changes is put back before the traced code ends: plain Python leaves no trace of it."""
        function = self.function
        if function is None or self.static or self.region or (self.plain and self.is_around_regions()):
            return False
        if node in save_restore.restored(function.node):
            return True
        owner = function.owner if function.name in ("__enter__", "__exit__") else None
        return owner is not None and node in save_restore.restored_on_exit(owner.node)

    def is_around_regions(self) -> bool:
        """Whether this function, or one that led to it, calls compiled code: that sees what is put back later."""
        functions = (frame.function for frame in self.around())
        return any(function is not None and self.machine.runs_region(function) for function in functions)

    def around(self) -> Iterator[Frame]:
        """The frame and those of the calls that led to it, the innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def followed(
        self, node: ast.AST, callee: str, summary: Summary, deferred: str = "", *, cached: bool, keyed: bool
    ) -> None:
        """Record a call whose body was interpreted."""
        at = (self.module.path, self.offset, node)
        edge = CallEdge(*at, callee, summary, deferred, self.caught, cached, keyed, self.branches > 0, self.strict)
        if names := self.held_variables(node):
            edge = edge._replace(variables=names)
        self.summary.add_call(edge)

    def held_variables(self, node: ast.AST) -> frozenset[str]:
        """The context variables that the function itself has set where a node stands."""
        function = self.function.node if self.function is not None and not self.static else None
        return context_variables.held(function, self.module, self.entered, node)

    def consume(self, node: ast.AST, value: Value, how: Read = Read.DATA) -> Value:
        """Note that a value is really used at an expression: reads of captured state are effects."""
        if value.kind is Kind.UNION:
            for alternative in value.alternatives():
                if alternative.kind is not Kind.NONE:
                    self.consume(node, alternative, how)
            return value
        if value.kind is Kind.EXTERNAL and not self.static:
            known = self.machine.outside(value)
            value = value if known.kind is Kind.EXTERNAL else known
        if value.place.root in CAPTURED and value.kind not in _NEVER_STATE:
            if self.opaque and not self.differentiates:
                value = values.without_gradients(value)  # `no_grad`
            if value.kind in CALLABLES and not self._rebound_callable(value):
                if value.kind is Kind.FUNCTION and value.place.root is Root.GLOBAL and not self.static:
                    self.summary.add(Effect(Event.HELPER, self.module.path, self.offset, node, value.place, value))
                return value
            self.emit(Event.READ, self._read_at(node, value), value.place, value, how=how)
        elif value.flags & Flag.INSIDE and value.place.root is Root.ARGUMENT and value.kind not in CALLABLES:
            self.emit(Event.ATTRIBUTE, node, value.place, value)
        elif value.kind is Kind.UNKNOWN and value.place.root in CAPTURED and not self.static:
            self.emit(Event.UNSEEN, self._read_at(node, value), value.place, value, how=Unseen.VALUE)
        return value

    def _read_at(self, node: ast.AST, value: Value) -> ast.AST:
        """Where a captured value is read: `w = W` reads it, what uses `w` further down does not."""
        if self.static or self.function is None:
            return node
        aliases = aliases_of(self.function.node)
        for name in names_beside(node) if aliases else ():
            held = self.env.get(name, UNKNOWN) if name in aliases else UNKNOWN
            if any(one.place == value.place for one in held.alternatives()):
                return aliases[name]
        return node

    def identified(self, node: ast.AST, value: Value) -> None:
        """Which object a captured name holds decides something, not what the object holds: only rebinding matters."""
        place = value.place
        if (
            place.root is Root.GLOBAL
            and not place.path
            and not self.static
            and self.machine.mutations.is_rebound(place)
        ):
            self.emit(Event.READ, node, place, value, how=Read.IDENTITY)

    def written(self, node: ast.AST, tensor: Value, what: str) -> None:
        """A tensor is changed in place: an effect on captured ones, and on arguments of operators and of regions."""
        if tensor.place.captured:
            self.emit(Event.TENSOR_WRITE, node, tensor.place, tensor, what)
        elif (self.opaque or self.region) and tensor.place.root is Root.ARGUMENT and not self._may_be_own(tensor):
            self.emit(Event.INPUT_WRITE, node, tensor.place, tensor, what)

    def _may_be_own(self, tensor: Value) -> bool:
        """Whether a helper changes what may be a tensor of its own: under which condition is decided elsewhere."""
        return bool(tensor.flags & Flag.MAYBE) and self.caller is not None

    def sink(self, value: Value, *, refuses: bool = False) -> None:
        """A value decides something: nondeterminism that it carries is an effect now.

        Where it only decides whether to raise, how long something took here is none: that needs two readings.
        """
        here = self.summary.draws
        times = sum(one.drawn is Drawn.CLOCK and one.key in here for one in value.taint) if refuses else 0
        for effect in value.taint:
            if effect.event is Event.RANDOM and (times < _START_AND_END or effect.drawn is not Drawn.CLOCK):
                self.summary.settled.add(effect.key)

    def initialises(self, value: Value) -> bool:
        """Whether the function itself sets the captured name that a value was read through."""
        function = self.function
        if function is None:
            return False
        return any(sets_itself(function.node, alternative.place.key) for alternative in value.alternatives())

    def sized(self, value: Value, *, unknown: bool = False) -> None:
        """A value decides a size: torch may know it if it is an input, and does if what is made of it is `unknown`."""
        for effect in symbols.of(value):
            if unknown or self.region or symbols.is_input(effect):
                self.summary.resolved.add(effect.key)

    def needed(self, value: Value, *, exactly: bool = False) -> None:
        """A value has to be a Python number here: one that follows from data is none, whether returned or not.

        What `torch._check` told of it may decide a condition; `exactly` where its very value is asked for.
        """
        if not self.region:
            told = self.summary.known if exactly else self.summary.checked
            self.summary.decisive.update(one.key for one in symbols.of(value) if one.key not in told)

    def sized_elements(self, value: Value, *, unknown: bool = False) -> None:
        """A number, or the elements of a list, are sizes: torch takes them for numbers that are not negative."""
        element = value.heap.element if value.heap is not None else None
        self.sized(value, unknown=unknown)
        self.summary.floored.update(one.key for one in symbols.held_in(value))
        if element is not None:
            for member in element.alternatives():
                if not member.is_tensor:
                    self.sized(member, unknown=unknown)

    def unbacked(
        self,
        node: ast.AST,
        tensor: Value,
        what: str,
        how: Taken = Taken.SIZE,
        *,
        of: ast.AST | None = None,
        sight: Sight = PLAIN,
    ) -> Value:
        """A Python number, or size, that depends on data: harmless only if it reaches what the function returns.

        `of` is the expression of the tensor, whose symbol torch keeps; `sight` tells which dimension has that size.
        """
        origin = tensor._replace(taint=frozenset())
        effect = Effect(Event.ESCAPE, self.module.path, self.offset, node, tensor.place, origin, what, how)
        if isinstance(of, ast.Name) and not self.region:
            effect = effect._replace(symbol=(id(self.summary), "" if how is Taken.MASK else what, of.id))
        self.summary.unbacked.setdefault(effect.key, effect)
        return Value(Kind.NUMBER, taint=frozenset({effect._replace(sight=sight)}))

    def random(self, node: ast.AST, what: str, kind: Kind = Kind.NUMBER, drawn: Drawn = Drawn.OTHER) -> Value:
        """A nondeterministic value: an effect as soon as it decides something."""
        effect = Effect(Event.RANDOM, self.module.path, self.offset, node, FRESH, UNKNOWN, what, drawn=drawn)
        self.summary.draws.setdefault(effect.key, effect)
        return Value(kind, taint=frozenset({effect}))

    def advance(self, node: ast.AST, iterator: Value, by: str = "") -> None:
        """An iterator that lives outside gives what comes next, while tracing and never again; `by` is the method."""
        if by and by not in _ADVANCING:
            return
        if iterator.kind is Kind.ITERATOR and iterator.place.captured and not self.static and not self.region:
            self.sink(self.random(node, f"advances the iterator `{iterator.place.text}`", Kind.UNKNOWN))

    def returned(self, node: ast.Return | ast.Lambda, value: Value) -> None:
        """The function returns a value."""
        if self.caller is not None and not self.static:
            self._hand_on(node.value if isinstance(node, ast.Return) else node.body, value)
        self.returns = join(self.returns, value)
        self.hold(node, value)

    def hold(self, node: ast.AST, value: Value) -> None:
        """Record what a node holds this time, if the code may be traced: of other code nobody asks that."""
        if not (self.static or self.plain):
            self.summary.hold(node, value)

    def _hand_on(self, node: ast.AST | None, value: Value) -> None:
        """A helper returns captured objects and containers: what its caller asks of them is read there."""
        if not isinstance(node, _PATHS):
            return
        for one in value.alternatives():
            if one.place.root in CAPTURED and one.kind in _HANDED_ON and one.heap is not None and not one.heap.open:
                read = Effect(Event.READ, self.module.path, self.offset, node, one.place, how=Read.DATA)
                self.summary.effects.pop(read.key, None)

    def _rebound_callable(self, value: Value) -> bool:
        place = value.place
        replaced = self.machine.mutations.is_replaced if place.path else self.machine.mutations.is_rebound
        return place.root is Root.GLOBAL and replaced(place)

    # -- names ----------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Value:
        """The value of a name: local, of an enclosing function, global, builtin."""
        if self.scope is not None and name in self.scope.local:
            return self.env.get(name, UNKNOWN)
        if self.scope is None and name in self.env:
            return self.env[name]
        declared_global = self.scope is not None and name in self.scope.global_names
        if name in self.env and (declared_global or (self.scope is not None and name in self.scope.nonlocal_names)):
            return self.env[name]
        if not declared_global:
            captured = self._closure_value(name)
            if captured is not None:
                return captured
        value = self.machine.global_value(self.module, name)
        if value.place.root is Root.GLOBAL:
            self.machine.fill(self, value)
        if self.differentiates and value.kind is Kind.PARAMETER and not value.flags & Flag.FROZEN:
            value = value.with_taint(value.taint | {NEEDED})
        return set_later(self, value, value.place)

    def _closure_value(self, name: str) -> Value | None:
        frame = self._owner_of(name)
        if frame is None:
            return None
        value = frame.env.get(name, UNKNOWN)
        if not frame.static and not (value.heap is not None and self._is_sealed_off(frame)):
            return value
        if self.static and _is_constant_argument(frame, name, value):
            return value
        if self.region and value.kind is Kind.UNKNOWN and frame.function is not None and frame.caller is None:
            value = self.machine.contracts.handed_to(self.machine, frame.function, name) or value
        return relocated(value, frame.cell(name))

    def cell(self, name: str) -> AccessPath:
        """The place of a local variable as functions in this one see it."""
        return AccessPath(Root.CELL, owned_by(self.module.path, self.function.qualname if self.function else ""), name)

    def _is_sealed_off(self, around: Frame) -> bool:
        """Whether a frame around this function lies outside the graph that this one is part of."""
        return self.sealed is not None and around.sealed is not self.sealed

    def assign(self, name: str, value: Value, node: ast.AST) -> None:
        """Bind a name; a name declared global or nonlocal is state outside the body."""
        scope = self.scope
        if self.refined:
            refinements.forget(self.env, name)
        if scope is not None and name in scope.global_names:
            self._write_outer(self.module.place(name), value, node)
            if traced(value):
                self.env[name] = value
            return
        if scope is not None and name in scope.nonlocal_names:
            frame = self._owner_of(name)
            if frame is not None and not frame.static:
                if self._is_sealed_off(frame):
                    self._write_outer(frame.cell(name), value, node)
                frame.env[name] = join(frame.env.get(name), value)
                return
            self._write_outer(frame.cell(name) if frame is not None else self.module.place(name), value, node)
            if traced(value):
                self.env[name] = value
            return
        self.env[name] = value

    def refinement(self, node: ast.expr) -> Value | None:
        """What a condition told of an attribute."""
        return self.env.get(refinements.key_of(node))

    def _owner_of(self, name: str) -> Frame | None:
        frame = closure_of(self.function) if self.function else None
        while frame is not None:
            if frame.scope is not None and name in frame.scope.local:
                return frame
            frame = closure_of(frame.function) if frame.function else None
        return None

    def _write_outer(self, place: AccessPath, value: Value, node: ast.AST) -> None:
        if self.static:
            return
        event = Event.LEAK if traced(value) else Event.WRITE
        self.emit(event, node, place, value, how=Change.NAME)

    # -- control flow ---------------------------------------------------------------------------------------------

    def merge(self, branches: list[tuple[dict[str, Value], bool]]) -> None:
        """Continue with the join of the branches that did not leave the function."""
        alive = [env for env, done in branches if not done]
        if not alive:
            self.done = True
            self.env = branches[0][0] if branches else self.env
            return
        self.done = False
        merged = dict(alive[0])
        for env in alive[1:]:
            if env is alive[0]:
                continue
            for name, value in (refinements.shared(merged, env) if self.refined else env).items():
                present = merged.get(name)
                if present is not value:
                    merged[name] = join(present, value)
        self.env = merged


def _is_constant_argument(frame: Frame, name: str, value: Value) -> bool:
    """Whether a call that is followed passed a constant for a parameter that nothing binds anew."""
    if frame.function is None or frame.caller is None or value.place.root is not Root.FRESH:
        return False
    return (value.kind is Kind.NONE or value.const is not NO_CONSTANT) and is_as_passed(frame.function.node, name)


def closure_of(definition: Function | Class) -> Frame | None:
    """The frame of the function in which a function or class is defined; None at the top level."""
    return definition.closure if isinstance(definition.closure, Frame) else None


def set_later(frame: Frame, found: Value, holder: AccessPath, attribute: str = "") -> Value:
    """What a traced body reads where a module has None: that, or what code puts there once the program runs."""
    if found.kind is not Kind.NONE or frame.static or frame.region or holder.root is not Root.GLOBAL or holder.path:
        return found
    later = frame.machine.mutations.put_later(holder, attribute)
    place = holder.step(f".{attribute}") if attribute else holder
    return found if later is None else join(found, relocated(later, place))
