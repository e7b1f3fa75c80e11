"""A marked function as rules see it: everything it and what it calls do, its callers, and who writes what it reads."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.keeping import kept_by_key, returns_what_it_kept
from nonstrict.facts.scopes import scope_of
from nonstrict.findings import Rebinding, Related, Span
from nonstrict.program.contracts.boundary import (
    boundary_values,
    contexts,
    dynamic_sizes,
    hashed,
    kept_graphs,
    region_arguments,
    registered_submodules,
    sizes,
    soundness,
    structures,
)
from nonstrict.program.contracts.interpreted import Interpreted
from nonstrict.program.contracts.marks import dispatches, handlers, marking, overriding, partials
from nonstrict.program.contracts.marks.applied import AppliedMarker
from nonstrict.program.contracts.no_region import NoRegion
from nonstrict.program.contracts.regions import crossing
from nonstrict.program.discovery import callers
from nonstrict.program.discovery.sites import CallSite, Parameter
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, Summary, observed, span_of
from nonstrict.program.domain.values import UNKNOWN, Kind, Value
from nonstrict.program.externals import differentiation
from nonstrict.program.interpret import bodies, invoke, only_effects
from nonstrict.program.mutations import attribute_writes, balanced, evidence, writes
from nonstrict.program.objects import classes, parameters
from nonstrict.program.objects.annotations import canonical
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.domain.definitions import Class, Function, Mark
    from nonstrict.program.state.machine import Machine

#: What the graph of a traced module is made with.
_OF_MODE = frozenset({Event.MODE, Event.ATTRIBUTE})


class MarkedBody(NoRegion, Interpreted):
    """One marked function, interpreted on demand. Implements `nonstrict.rules.base.Body`."""

    def __init__(self, machine: Machine, mark: Mark, torch: tuple[int, int]) -> None:
        super().__init__(machine, mark, torch, described(mark), marking.receiver_of(mark))
        self.marked_at: Span = span_of(mark.path, mark.offset, mark.node)
        self.fullgraph = False
        self._arguments: dict[str, Value] = {}

    @cached_property
    def summary(self) -> Summary:
        """What the body does."""
        function = self.mark.function
        summary = Summary(self.function)
        if function is None or self.mark.disabled or self._is_inlined(function) or marking.is_only_made(self.mark):
            return summary
        if self.untraced:
            return summary
        definition = parameters.definition_frame(self.machine.module_frame(function.module), function)
        frame = self._frame(function, summary)
        self.machine.begin()
        bound = parameters.of_marked(definition, function, self._seen(function), self._receiver_in_body())
        bound.update(callers.defaults_used(self.machine, self.mark) | self._known_arguments(function))
        self.machine.begin()  # a fresh budget: what is known of callers has cost some
        self._arguments = bound
        frame.env.update(bound)
        bodies.run(self.machine, frame)
        self._run_around(frame, function)
        self._run_overrides(function, summary)
        if function.cached_at is not None:
            invoke.leak_from_cache(frame, function, summary)
        return summary

    @cached_property
    def untraced(self) -> bool:
        """Whether all calls that were seen stand where nothing is traced: `if not torch.compiler.is_compiling(): …`."""
        return not callers.calls_of(self.machine, self.mark) and bool(self.mark.apart)

    def _frame(self, function: Function, summary: Summary) -> Frame:
        frame = Frame(
            self.machine,
            function.module,
            function.offset,
            summary,
            function=function,
            scope=scope_of(function.node),
            observer=self.machine.contracts.observer if self.marker == "compiled" else None,
        )
        return differentiation.of_marked(frame, self.mark)

    def _run_around(self, frame: Frame, function: Function) -> None:
        """What runs before and after the body, traced with it."""

    def _run_overrides(self, function: Function, summary: Summary) -> None:
        """What the method does for objects of subclasses that override what it calls."""
        if not self._is_inherited():
            return
        for cls in overriding.overriding(self.machine, function, summary):
            frame = self._frame(function, summary)
            name = frame.scope.parameters[0] if frame.scope is not None and frame.scope.parameters else ""
            receiver = classes.instance_at(self.machine, cls, AccessPath(Root.ARGUMENT, "", name))
            frame.env.update({**self._arguments, name: receiver})
            bodies.run(self.machine, frame)

    def _is_inherited(self) -> bool:
        """Whether objects of subclasses run the body as well, as far as the marker tells."""
        return self.receiver is None and self.mark.target.kind is Kind.FUNCTION

    def _is_inlined(self, function: Function) -> bool:
        """Whether Dynamo traces the function as it does any other: `allow_in_graph` has no effect on methods."""
        return self.mark.target.kind is Kind.FUNCTION and boundary_values.has_no_effect(self, function)

    def _receiver_in_body(self) -> Value | None:
        return marking.traced_receiver(self.machine, self.mark, self.receiver)

    def _known_arguments(self, function: Function) -> dict[str, Value]:
        owner = f"{function.module.path}:{function.qualname}"
        return {
            name: value.at(AccessPath(Root.DEFAULT, owner, name)) if value.kind not in _CONSTANT else value
            for name, value in self._bound_arguments.items()
        }

    @cached_property
    def _bound_arguments(self) -> dict[str, Value]:
        return partials.bound_arguments(self.machine, self.mark)

    def _seen(self, function: Function) -> dict[str, Value]:
        """The joined values of parameters whose annotation does not tell all of what they are."""
        operator = self.mark.operator
        if operator is not None and operator.api != "leaf_function":
            return {}  # torch asks for annotations, and lets no other types in
        if not parameters.needs_callers(self.machine, function):
            return {}
        return region_arguments.completed(self, callers.joined_arguments(self.machine, self.mark))

    def seek_calls(self) -> None:
        """Look for the calls of an operator that has an effect: where they drop its result, the effect is lost."""
        if self.has_effect:
            callers.calls_of(self.machine, self.mark)

    def announce(self) -> None:
        """Interpret the function and tell what will be asked of other files, so that they are searched once for all."""
        for seen in self.observed(Event.MODE):
            if not seen.effect.place.captured:
                evidence.expect_mode_writers(self.machine)
                break
        for seen in self.observed(Event.ATTRIBUTE):
            for owner in self.owners_at(seen.effect.place) if not seen.effect.place.captured else ():
                if owner is not None:
                    attribute_writes.expect(self.machine, owner)
        for seen in self.observed(Event.AMBIENT):
            if isinstance(seen.effect.value.const, str):
                evidence.expect_environment_writers(self.machine, seen.effect.value.const)
        for seen in self._observed.get(Event.READ, []):
            effect = seen.effect
            alternatives = effect.value.alternatives()
            if effect.value.is_tensor:
                if not self._fails_anyway(effect):
                    writes.expect_writers(self.machine, effect.place)
            elif any(alternative.kind not in _NO_STATE for alternative in alternatives):
                writes.expect_writers(self.machine, effect.place)

    @property
    def applied(self) -> AppliedMarker[MarkedBody]:
        """How the marker was applied, and the operator that it made."""
        return self._applied

    @cached_property
    def _applied(self) -> AppliedMarker[MarkedBody]:
        return AppliedMarker(
            self.machine, self.mark, self.torch, lambda mark: MarkedBody(self.machine, mark, self.torch)
        )

    @property
    def has_effect(self) -> bool:
        """Whether an operator that declares no change does anything in Python beside computing."""
        operator = self.mark.operator
        if operator is None or operator.mutates != frozenset() or operator.traced or operator.effectful:
            return False
        events = [Event.IO, Event.WRITE, Event.LEAK, Event.THREAD]
        events += [Event.RAISE] if self.returned.kind is Kind.NONE else []
        return operator.api != "leaf_function" and any(True for _ in self.observed(*events))

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What the parameters are taken to be: what callers pass, annotations, defaults and use say."""
        return (self.summary, self._arguments)[1]  # to interpret the function binds them

    @property
    def returned(self) -> Value:
        """What the function returns."""
        return self.summary.returns or UNKNOWN

    # -- the view of rules ----------------------------------------------------------------------------------------

    @cached_property
    def _observed(self) -> dict[Event, list[Observed]]:
        grouped: dict[Event, list[Observed]] = {}
        function = self.mark.function
        # A cache written by hand keeps one result, traced or not: without arguments, or for each of constant ones.
        cached = function is not None and not self.parameters and returns_what_it_kept(function.node)
        kept = kept_by_key(function.node) if function and self.marker == "constant-result" else None
        module = self._receiver_in_body() if self.marker == "make-fx" else None
        for seen in observed(self.summary, cached=cached, kept=kept, frozen=self.marker == "constant-result"):
            if module is not None and seen.effect.place[:3] == module.place[:3] and seen.effect.event in _OF_MODE:
                continue  # the graph is made of the module as it is
            grouped.setdefault(seen.effect.event, []).append(seen)
        return grouped

    def observed(self, *events: Event) -> Iterator[Observed]:
        """The effects of the given kinds, nearest first."""
        for event in events:
            yield from self._observed.get(event, [])
            if event is Event.READ:
                yield from self._replaced_helpers

    @cached_property
    def _replaced_helpers(self) -> list[Observed]:
        """Uses of global functions that another file replaces: reads of state like any other."""
        return [
            seen._replace(effect=seen.effect._replace(event=Event.READ))
            for seen in self._observed.get(Event.HELPER, [])
            if evidence.replaced_abroad(self.machine, seen.effect.place)
        ]

    def _introduction(self) -> str:
        return f"`{self.function}` is marked with `{self.api}` here"

    def chain(self, observed: Observed) -> tuple[Related, ...]:
        """From the marker through the calls to the function that holds the effect."""
        caller = self.function
        links = [Related(self.marked_at, self._introduction())]
        for edge in observed.chain:
            links.append(Related(edge.span, f"`{caller}` calls `{edge.callee}` here"))
            caller = edge.callee
        return tuple(links)

    def writers(self, place: AccessPath) -> tuple[Related, ...]:
        """Where what lives at a place is changed; other files are searched only for what changes the verdict."""
        if place.root is Root.DEFAULT:
            return (*self._own_writes(place), *self._writes_through(place))
        if place.root is Root.CELL and not place.path:
            return self._lasting(writes.writers(self.machine, place))
        if place.root is Root.CELL:
            found = writes.writers(self.machine, place) or self._writes_through(place)
            return self._lasting(found) or self._written_later(place)
        if not place.captured or (place.root is Root.RECEIVER and not place.owner):
            return evidence.argument_writers(self.machine, place, self.owners_at(place))
        return self._lasting(writes.writers(self.machine, place, abroad=place not in self._tensor_places))

    def _lasting(self, found: tuple[Related, ...]) -> tuple[Related, ...]:
        """Without the changes that the body makes for itself and takes back."""
        return tuple(writer for writer in found if writer.span not in self._passing) if found else ()

    @cached_property
    def _passing(self) -> frozenset[Span]:
        function = self.mark.function
        return balanced.passing(self.machine, function, self.summary) if function is not None else frozenset()

    def replacements(self, place: AccessPath) -> tuple[Related, ...]:
        """Where something else is put at a place; changes in place are left out."""
        if place.root not in (Root.GLOBAL, Root.CELL):
            return self.writers(place)
        return writes.writers(self.machine, place, in_place=False)

    def _writes_through(self, place: AccessPath) -> tuple[Related, ...]:
        """Where a global object that a cell, or a parameter bound by `partial`, holds as well is changed."""
        held = self._held_at(place)
        if held.place.root is not Root.GLOBAL or held.kind in _NO_STATE:
            return ()
        shared = held.place._replace(path=(*held.place.path, *place.path))
        return tuple(writer for writer in writes.writers(self.machine, shared) if not isinstance(writer, Rebinding))

    def _held_at(self, place: AccessPath) -> Value:
        """What a cell, or a parameter bound by `partial`, holds."""
        return next((value for name, value in self._held_elsewhere() if name == place.name), UNKNOWN)

    def _held_elsewhere(self) -> Iterator[tuple[str, Value]]:
        function = self.mark.function
        yield from self._bound_arguments.items()
        frame = function.closure if function is not None else None
        while frame is not None:
            yield from frame.env.items()
            frame = frame.function.closure if frame.function is not None else None

    def _written_later(self, place: AccessPath) -> tuple[Related, ...]:
        """Where an object of a known class that a cell holds is changed, once the function is made."""
        owners = self.owners_at(place)
        if not owners or None in owners:
            return ()
        function = self.mark.function
        around = function.closure.function if function is not None and function.closure is not None else None
        found = evidence.argument_writers(self.machine, place, owners)
        if function is None or around is None:
            return found
        begin, made = around.node.lineno + around.offset, function.node.lineno + function.offset
        path = around.module.path
        return tuple(one for one in found if one.span.path != path or not begin <= one.span.line < made)

    def _own_writes(self, place: AccessPath) -> tuple[Related, ...]:
        """Where the body itself changes a default argument, which all its calls share."""
        changes = (seen.effect for seen in self.observed(Event.WRITE) if seen.effect.place[:3] == place[:3])
        return tuple(Related(effect.span, "changed here") for effect in changes)

    @cached_property
    def _tensor_places(self) -> frozenset[AccessPath]:
        """Captured tensors whose data is read: they do not compile with inductor, whoever rebinds them."""
        reads = self._observed.get(Event.READ, [])
        return frozenset(seen.effect.place for seen in reads if self._fails_anyway(seen.effect))

    def _fails_anyway(self, read: Effect) -> bool:
        return self.marker in ("nonstrict", "in-graph") and read.value.is_tensor and not read.reads_metadata

    def written_by_region(self, place: AccessPath) -> tuple[Related, ...]:
        """Where a compiled caller writes, before the call, what the body reads."""
        return crossing.written_before(self.machine, self.mark, place, self.torch)

    def read_by_region(self, write: Effect) -> tuple[Related, ...]:
        """Where a compiled caller reads, after the call, what the body wrote."""
        return crossing.read_after(self.machine, self.mark, write, self.torch)

    def mode_writers(self) -> tuple[Related, ...]:
        """Where modules are switched between training and evaluation: near the function, else in the project."""
        paths = {self.mark.path, *(call.path for call in callers.calls_of(self.machine, self.mark))}
        return evidence.mode_writers(self.machine, sorted(paths))

    @property
    def mode_guarded(self) -> bool:
        """Whether every region that calls the function reads a mode too, so that Dynamo compiles once per mode."""
        return crossing.reads_mode(self.machine, self.mark, self.torch)

    def environment_writers(self, name: str) -> tuple[Related, ...]:
        """Where the project sets an environment variable."""
        return evidence.environment_writers(self.machine, name)

    def owners_at(self, place: AccessPath) -> list[Class | None]:
        """The classes of the program, as far as known, whose attributes the steps of a place are."""
        holder = self._held_at(place) if place.root is Root.CELL else self._arguments.get(place.name)
        return evidence.owners_at(self.machine, holder, place)

    def decides_only_effects(self, read: Observed) -> bool:
        """Whether captured state only decides what is done besides computing."""
        return only_effects.decides_only_effects(self.summary, self.mark.function, read)

    def holds_apart(self, read: Effect) -> bool:
        """Whether a plain container of a module argument holds the module that is read, and nothing registers it."""
        root = self._arguments.get(read.place.name)
        return root is not None and registered_submodules.held_apart(root, read.value)

    def guarded_by_region(self, place: AccessPath) -> bool:
        """Whether every compiled caller reads the place itself, so that Dynamo guards it."""
        if place.root is Root.ARGUMENT:
            return crossing.guarded(self.machine, self.mark, place, self.torch)
        calls = callers.calls_of(self.machine, self.mark)
        compiled = [call for call in calls if callers.is_compiled(self.machine, call)]
        if compiled and all(callers.reads(call, place) for call in compiled):
            return True
        return crossing.reads_state(self.machine, self.mark, place, self.torch)

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The calls of the function that were seen."""
        return self._sites

    @cached_property
    def _sites(self) -> tuple[CallSite, ...]:
        return tuple(callers.site(self.machine, self.mark, call) for call in callers.calls_of(self.machine, self.mark))

    @cached_property
    def caught(self) -> frozenset[str]:
        """The names of the exceptions that callers of the function, and theirs, handle around the calls."""
        return handlers.caught(self.machine, self.mark)

    @property
    def private(self) -> bool:
        """Whether the function is a lambda or nested function that is only ever handed to `make_fx`."""
        return marking.is_private(self.mark)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the function, with canonical annotations."""
        return self._parameters

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        function = self.mark.function
        if function is None:
            return ()
        definition = parameters.definition_frame(self.machine.module_frame(function.module), function)
        arguments = function.node.args
        defaults = parameters.default_nodes(arguments)
        return tuple(
            Parameter(
                argument.arg,
                canonical(definition, argument.annotation),
                argument.arg in defaults,
                span_of(function.module.path, function.offset, argument),
            )
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        )

    @cached_property
    def boundary_arguments(self) -> list[boundary_values.BoundaryArgument]:
        """The arguments of the function in regions, judged; of its annotations if no call was seen."""
        known = boundary_values.boundary_arguments(self)
        return [*known, *region_arguments.boundary_arguments(self, known)]

    @cached_property
    def unsound(self) -> list[tuple[Registration, soundness.Fault]]:
        """What is wrong with the registrations of the classes whose objects the function gets."""
        return [
            (registration, fault)
            for argument in self.boundary_arguments
            for registration in argument.registrations
            for fault in soundness.faults(self, argument, registration)
        ]

    def variation(self, argument: boundary_values.BoundaryArgument) -> contexts.Variation:
        """How an argument varies from call to call of the region."""
        return contexts.variation(self, argument)

    def hashed(self, name: str) -> list[Span]:
        """Where the function hashes a parameter."""
        return hashed.hashed(self, name)

    def varying_sizes(self, argument: boundary_values.BoundaryArgument) -> sizes.Sizes:
        """Which sizes of a tensor argument vary from call to call of the region."""
        return sizes.varying_sizes(self, argument)

    def _has_dynamic_sizes(self) -> bool:
        """Whether torch makes sizes of an argument symbolic: the region says so, or calls differ in them."""
        return any(size.everything or size.dimensions for size in map(self.varying_sizes, self.boundary_arguments))

    def knows_number(self, seen: Observed) -> bool:
        """Whether a number that is taken out of an argument is one that torch knows."""
        return sizes.knows_number(self, lambda: self.boundary_arguments, seen)

    def hashed_sizes(self, name: str, varying_sizes: sizes.Sizes) -> list[Span]:
        """Where the function hashes a size of a tensor argument that varies."""
        return hashed.hashed_sizes(self, name, varying_sizes)

    def needs_class(self, name: str) -> list[Span]:
        """Where the function asks a parameter for more than its number."""
        return hashed.needs_class(self, name)

    def contradicted(self, seen: Observed) -> tuple[Related, ...]:
        """The calls of `mark_dynamic` that a comparison of a size contradicts."""
        return dynamic_sizes.fixed(self, seen.effect) if self.marker == "nonstrict" else ()

    def kept_by_size(self, effect: Effect) -> bool:
        """Whether the graph in which a size decides something is only used for tensors of that size."""
        return kept_graphs.only_for_its_sizes(self, effect)

    @property
    def structures(self) -> list[Span]:
        """The results whose structure depends on what the function itself changes."""
        return structures.varying(self)

    @cached_property
    def boundary_results(self) -> list[boundary_values.BoundaryResult]:
        """What the function returns, judged."""
        return boundary_values.boundary_results(self, self._has_dynamic_sizes)

    def supposed(self, observed: Observed) -> MarkedBody | None:
        """There is no helper to mark in its place."""
        return None

    @property
    def dispatches(self) -> tuple[Related, ...]:
        """Calls that may reach one of several marked functions."""
        return self._dispatches

    @cached_property
    def _dispatches(self) -> tuple[Related, ...]:
        return dispatches.dispatches(self.machine, self.mark)


#: Captured values that are told of whoever writes them.
_NO_STATE = frozenset({Kind.TENSOR, Kind.PARAMETER, Kind.MODULE, Kind.GENERATOR, Kind.ITERATOR, Kind.MARKED, Kind.NONE})
_CONSTANT = frozenset({Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.NONE, Kind.SETTING, Kind.FUNCTION, Kind.CLASS})


def described(mark: Mark) -> str:
    """The qualified name of what is marked, as findings have it."""
    target = mark.target
    if mark.function is not None and not (target.kind is Kind.CLASS and mark.function.name == "__init__"):
        return mark.function.qualname
    defined = target.function or target.of_class
    return target.dotted or (defined.qualname if defined is not None else target.kind.value)
