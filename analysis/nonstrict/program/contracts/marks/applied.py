"""The application of a marker as rules see it, and the operator or leaf function that it made."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.interpreted import Interpreted, Regions
from nonstrict.program.contracts.marks import applications, differentiated, marking, overriding, partials
from nonstrict.program.contracts.regions import tensorless
from nonstrict.program.discovery import callers, registrations, roots
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes
from nonstrict.program.objects.naming import names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Span
    from nonstrict.program.contracts.marks.applications import Application
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Operator
    from nonstrict.program.domain.misapplied import Misuse, Wasted
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine


class CompiledCall(NamedTuple):
    """A call in a compiled region; `backend` is its name, "" if it is not known."""

    span: Span
    fullgraph: bool
    backend: str


#: How functions are interpreted that belong to what the marker made: the fakes of an operator, its implementation.
Body = TypeVar("Body", bound=Interpreted)


class AppliedMarker(Generic[Body]):
    """One application of a marker; `interpret` gives the body of another mark."""

    def __init__(self, machine: Machine, mark: Mark, torch: tuple[int, int], interpret: Callable[[Mark], Body]) -> None:
        self._machine = machine
        self._mark = mark
        self._torch = torch
        self._interpret = interpret

    @property
    def spelling(self) -> str:
        """The dotted name by which the marker was reached."""
        return self._mark.spelling

    @property
    def operator(self) -> Operator | None:
        """What the marker declared or implements, of a leaf function or a custom operator."""
        return self._mark.operator

    @property
    def wasted(self) -> Wasted | None:
        """Why nothing is compiled, of an application of `torch.compile` that compiles nothing (NST801)."""
        return self._mark.wasted

    def computes_no_tensor(self, arguments: Mapping[str, Value]) -> bool:
        """Whether nothing is compiled of a region, with some arguments, as it has no operation on tensors (NST801)."""
        return tensorless.computes_no_tensor(self._machine, self._mark, arguments)

    @property
    def misused(self) -> tuple[Misuse, ...]:
        """Where the wrapper that `torch.compile` puts around a module is taken for the module (NST802)."""
        return self._mark.misused

    @property
    def target(self) -> Value:
        """What the marker was applied to."""
        return self._mark.target

    @property
    def names(self) -> Names:
        """What names in the text of the function stand for."""
        function = self._mark.function
        return names_in(self._machine, function) if function is not None else lambda _: ""

    @property
    def node(self) -> FunctionNode | None:
        """The function's definition."""
        return self._mark.function.node if self._mark.function is not None else None

    def span_of(self, node: ast.AST) -> Span:
        """The range of a part of the function's definition."""
        function = self._mark.function
        if function is None:
            return span_of(self._mark.path, self._mark.offset, node)
        return span_of(function.module.path, function.offset, node)

    @property
    def takes_anything(self) -> bool:
        """Whether the function takes `*args` or `**kwargs`: it wraps others, and what it does is theirs."""
        node = self.node
        return node is not None and (node.args.vararg is not None or node.args.kwarg is not None)

    @property
    def passed(self) -> ast.arguments | None:
        """The parameters that callers pass: those that a partial binds are none of them."""
        return partials.left_open(self._mark.target, self.node.args) if self.node is not None else None

    @property
    def binding(self) -> str:
        """`static`, `class` or `property` where the function is one of these below the marker."""
        return self._mark.function.binding if self._mark.function is not None else ""

    @cached_property
    def stack(self) -> Application:
        """What stands above and below the marker."""
        return applications.of(self._machine, self._mark)

    @cached_property
    def is_dropped(self) -> bool:
        """Whether nothing keeps what the marker returned."""
        return applications.is_dropped(self._machine, self._mark)

    @cached_property
    def is_traced(self) -> bool:
        """Whether a compiled region applies the marker, so that Dynamo traces the application."""
        regions = list(self._machine.regions.values())
        known = self._machine.part(Regions)
        bodies = (known.of(self._machine, region, self._torch) for region in regions)
        return any(seen.effect.node is self._mark.node for one in bodies for seen in one.seen_by_others(Event.MARKS))

    @cached_property
    def is_guarded(self) -> bool:
        """Whether the marker's name may be another one on a torch that lacks it."""
        return applications.is_guarded(self._machine, self._mark)

    @cached_property
    def is_left_to_subclasses(self) -> bool:
        """Whether the function is a method that does nothing, in the place of those of subclasses."""
        function = self._mark.function
        return function is not None and overriding.is_left_to_subclasses(self._machine, function)

    @property
    def yields(self) -> str:
        """`generator` or `async` where calling the function runs none of its body, else ""."""
        node = self.node
        if isinstance(node, ast.AsyncFunctionDef):
            return "async"
        if node is None or isinstance(node, ast.Lambda):
            return ""
        inner = own_scope(node)
        return "generator" if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in inner) else ""

    @property
    def is_plain_class(self) -> bool:
        """Whether the marker was applied to a class whose instances torch does not know."""
        target = self._mark.target
        if target.kind is not Kind.CLASS or target.of_class is None or classes.is_module(target.of_class):
            return False
        return not applications.is_registered(self._machine, target)

    @cached_property
    def is_called_by_module(self) -> bool:
        """Whether the function is the `forward` of a module class, and calls of modules lead to it.

        No call that was seen at all counts as such; calls of `model.forward(x)` and `super().forward(x)` do not.
        """
        function = self._mark.function
        if function is None or self._mark.target.kind is not Kind.FUNCTION:
            return False
        if function.owner is None or not classes.is_module(function.owner):
            return False
        if function.name != "forward" and not self._is_bound_as_forward(function.owner):
            return False
        calls = callers.calls_of(self._machine, self._mark)
        return not calls or any(last_name(call.node) != "forward" for call in calls)

    def _is_bound_as_forward(self, owner: Class) -> bool:
        """Whether the body of a class says `forward = marker(method)`."""
        bound = (node for node in owner.node.body if isinstance(node, ast.Assign) and node.value is self._mark.node)
        return any(last_name(target) == "forward" for node in bound for target in node.targets)

    @property
    def is_compiled(self) -> bool:
        """Whether `torch.compile` was seen to be applied to the function, or to the module whose `forward` it is."""
        return self.node in self._machine.regions

    @cached_property
    def compiled_calls(self) -> tuple[CompiledCall, ...]:
        """The calls of the function that stand in compiled regions."""
        found: list[CompiledCall] = []
        for call in callers.calls_of(self._machine, self._mark):
            region = self._machine.regions.get(call.caller.node) if call.caller is not None else None
            if region is not None:
                span = span_of(call.path, call.offset, call.node)
                found.append(CompiledCall(span, region.fullgraph, region.backend))
        return tuple(found)

    @property
    def falls_back(self) -> bool:
        """Whether every region that was seen to call the function may break, and then runs it in Python."""
        return bool(self.compiled_calls) and not any(call.fullgraph for call in self.compiled_calls)

    # -- operators ------------------------------------------------------------------------------------------------

    @cached_property
    def fakes(self) -> tuple[Body, ...]:
        """The fakes that were seen, as bodies."""
        operator = self._mark.operator
        found: list[Body] = []
        for target in operator.fakes if operator is not None else ():
            function = marking.function_of(self._machine, target)
            if function is not None:
                path, offset, node = function.module.path, function.offset, function.node
                at = Mark("fake", "register_fake", target, path, offset, node, function)
                found.append(self._interpret(at))
        return tuple(found)

    def implementation(self, mark: Mark) -> Body:
        """The body of an operator."""
        return self._interpret(mark)

    @property
    def declared_at(self) -> Span | None:
        """Where the operator is declared."""
        operator = self._mark.operator
        if operator is None or operator.node is None:
            return None
        return span_of(operator.path, operator.offset, operator.node)

    def may_be_frozen(self, place: AccessPath) -> bool:
        """Whether code beside the function, or beside what it captures, makes parameters that need no gradients."""
        paths = {self._mark.path, place.file, self._mark.function.module.path if self._mark.function else ""} - {""}
        modules = (self._machine.project.module(path) for path in sorted(paths))
        return any(module is not None and differentiated.freezes(module) for module in modules)

    @cached_property
    def needs(self) -> tuple[differentiated.Need, ...]:
        """Where gradients of the operator are asked for, as far as that is seen."""
        return tuple(differentiated.needs(self._machine, self._mark))

    def may_have_formula(self) -> bool:
        """Whether any code of the run may register a formula for autograd with the operator."""
        return self.may_be_faked_elsewhere(registrations.FORMULAS)

    def may_be_faked_elsewhere(self, sought: registrations.Sought = registrations.FAKES) -> bool:
        """Whether any code of the run may register a fake, or what else is sought, for the operator."""
        operator = self._mark.operator
        if operator is None:
            return True
        names = roots.names_of(self._machine, self._mark)
        paths = {operator.path, self._mark.path}
        if self._mark.function is not None:
            paths.add(self._mark.function.module.path)
        return registrations.elsewhere(self._machine, operator, names, paths, sought)

    def returned(self) -> Iterator[ast.expr]:
        """The expressions that the function returns."""
        node = self.node
        if isinstance(node, ast.Lambda):
            yield node.body
        elif node is not None:
            for part in own_scope(node):
                if isinstance(part, ast.Return) and part.value is not None:
                    yield part.value
