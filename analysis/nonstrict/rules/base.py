"""What a rule is: metadata, documentation and a query over what a marked function does."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nonstrict.findings import Applicability, Finding, Related, Severity, Span
from nonstrict.rules.expectation import Expectation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict.events import Event
    from nonstrict.findings import Fix
    from nonstrict.fixes.context import Context
    from nonstrict.knowledge.graph_breaks import GraphBreak
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument, BoundaryResult
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.contracts.boundary.sizes import Sizes
    from nonstrict.program.contracts.boundary.soundness import Fault
    from nonstrict.program.contracts.boundary.varying import Variation
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.contracts.marks.applied import AppliedMarker
    from nonstrict.program.contracts.regions.capturing import CudaGraphs
    from nonstrict.program.contracts.regions.dropped_guards import DroppedGuard
    from nonstrict.program.contracts.regions.graphs import Graphs
    from nonstrict.program.contracts.regions.late_hooks import LateHook
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.contracts.regions.stale import StaleValue
    from nonstrict.program.discovery.sites import CallSite, Parameter
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.program.domain.held import Held
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.expectation import Experiment

#: Marker kinds of which a body is traced, so that what it does beyond computing goes wrong.
TRACED = frozenset({"nonstrict", "in-graph", "make-fx"})
#: Regions that `torch.compile` traces; rules of these see what Dynamo traces in place of a marked function.
COMPILED = frozenset({"compiled"})
#: What declares and implements operators of the user's.
CUSTOM_OPERATORS = frozenset({"custom-op"})
#: Applications of `torch.compile` that compile nothing, and modules in its wrapper.
INEFFECTIVE = frozenset({"ineffective"})
WRAPPED = frozenset({"wrapped"})
#: `TRACED` and functions whose result is frozen.
FROZEN = TRACED | {"constant-result"}

DOCUMENTATION_URL = "https://github.com/nonstrict/nonstrict/blob/main/docs/"


class Body(Protocol):
    """A marked function and everything it calls, as rules see it (`contracts.marked_body.MarkedBody`)."""

    function: str
    """Qualified name of the marked function."""
    marker: str
    """Marker kind: `nonstrict`, `in-graph`, `constant-result`, `make-fx`, ..."""
    api: str
    """The marker as users spell it: `nonstrict_trace`, `make_fx`, ..."""
    torch: tuple[int, int]
    """Version of torch the findings hold for, as (major, minor)."""
    marked_at: Span
    """The decorator or marker expression."""
    fullgraph: bool
    """Whether this is a region that must not break (marker `compiled`)."""

    def refusal(self, observed: Observed) -> str:
        """The option by which a break of the graph in a region is an error; "" where the graph may break."""
        ...

    def graph_break(self, observed: Observed) -> GraphBreak | None:
        """What torch says of a construct that breaks the graph of a region; None where it does not."""
        ...

    def given_up(self, observed: Observed) -> str:
        """What keeps Dynamo from resuming a region after a break: "a loop", "itself", ...; "" where it goes on."""
        ...

    def hidden_behind(self, observed: Observed) -> int:
        """The line of the break for which a function of a region runs as plain Python before it comes to another in it.

        0 where the graph must not break, and where Dynamo comes to it.
        """
        ...

    @property
    def graphs(self) -> Graphs:
        """How many graphs a region is compiled to, as far as its breaks are known."""
        ...

    @property
    def recompilations(self) -> tuple[Recompilation, ...]:
        """What a region is compiled anew for; nothing for what is not a region."""
        ...

    @property
    def stale_values(self) -> tuple[StaleValue, ...]:
        """The numbers whose second value stays in a compiled region; nothing for what is not a region."""
        ...

    @property
    def dropped_guards(self) -> tuple[DroppedGuard, ...]:
        """What a compiled region uses without a guard, and that is not the same in all calls."""
        ...

    @property
    def cuda_graphs(self) -> CudaGraphs:
        """What keeps CUDA graphs from a compiled region, what they are recorded for, which results they overwrite."""
        ...

    @property
    def late_hooks(self) -> tuple[LateHook, ...]:
        """The hooks on modules that a compiled region calls which are registered after it was compiled."""
        ...

    @property
    def falls_back(self) -> bool:
        """Whether all calls of a region that were seen go on with something else where torch refuses it."""
        ...

    def observed(self, *events: Event) -> Iterator[Observed]:
        """The effects of the given kinds, nearest first."""
        ...

    @property
    def held(self) -> Held:
        """What expressions hold, in the function and in what it calls."""
        ...

    def chain(self, observed: Observed) -> tuple[Related, ...]:
        """The call chain of an effect as related locations, from the marker to the call next to it."""
        ...

    def writers(self, place: AccessPath) -> tuple[Related, ...]:
        """Where the project changes what lives at a captured place ("rebound here", ...)."""
        ...

    def replacements(self, place: AccessPath) -> tuple[Related, ...]:
        """Where the project puts something else at a captured place; changes in place are left out."""
        ...

    def decides_only_effects(self, read: Observed) -> bool:
        """Whether captured state is read by a condition on which nothing depends but effects."""
        ...

    def holds_apart(self, read: Effect) -> bool:
        """Whether a plain container of a module argument holds the module that is read, and nothing registers it."""
        ...

    def guarded_by_region(self, place: AccessPath) -> bool:
        """Whether a compiled region that calls the function reads the place itself, so that Dynamo guards it."""
        ...

    def written_by_region(self, place: AccessPath) -> tuple[Related, ...]:
        """Where a compiled region that calls the function writes, before the call, what lives at a place."""
        ...

    def read_by_region(self, write: Effect) -> tuple[Related, ...]:
        """Where a compiled region that calls the function reads, after the call, what an effect wrote."""
        ...

    def mode_writers(self) -> tuple[Related, ...]:
        """Where the project switches a module between training and evaluation (`.eval()`, `.train()`)."""
        ...

    @property
    def mode_guarded(self) -> bool:
        """Whether every region that calls the function reads a mode too, so that Dynamo guards it."""
        ...

    def environment_writers(self, name: str) -> tuple[Related, ...]:
        """Where the project sets an environment variable after its modules were imported."""
        ...

    @property
    def private(self) -> bool:
        """Whether the function exists only to be traced, once: no other run of it can differ from the trace."""
        ...

    @property
    def applied(self) -> AppliedMarker[MarkedBody]:
        """How the marker was applied, and the operator or leaf function that it made."""
        ...

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What the parameters are taken to be."""
        ...

    @property
    def returned(self) -> Value:
        """What the function returns."""
        ...

    def supposed(self, observed: Observed) -> Body | None:
        """The helper of a region in which something happens, as if it were marked; None if there is none."""
        ...

    receiver: Value | None
    """What a marked bound method or module is bound to; None for a plain function."""

    @property
    def untraced(self) -> bool:
        """Whether all calls that were seen stand where nothing is traced."""
        ...

    @property
    def caught(self) -> frozenset[str]:
        """The names of the exceptions that callers of the function, and theirs, handle around the calls."""
        ...

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The calls of the marked function that were seen, in compiled regions and elsewhere."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the marked function, `self` included."""
        ...

    @property
    def boundary_arguments(self) -> list[BoundaryArgument]:
        """The arguments of the marked function in regions, each judged at the boundary (NST501)."""
        ...

    @property
    def unsound(self) -> list[tuple[Registration, Fault]]:
        """What is wrong with the registrations of the classes whose objects the function gets (NST504)."""
        ...

    def variation(self, argument: BoundaryArgument) -> Variation:
        """How an argument varies from call to call of the region (NST505)."""
        ...

    def hashed(self, name: str) -> list[Span]:
        """Where the function hashes a parameter: as a key, or as an argument of a cached function (NST505)."""
        ...

    def varying_sizes(self, argument: BoundaryArgument) -> Sizes:
        """Which sizes of a tensor argument vary from call to call of the region (NST505)."""
        ...

    def knows_number(self, seen: Observed) -> bool:
        """Whether a number that is taken out of an argument is one that torch knows (NST402)."""
        ...

    def hashed_sizes(self, name: str, varying_sizes: Sizes) -> list[Span]:
        """Where the function hashes a size of a tensor argument that varies (NST505)."""
        ...

    def needs_class(self, name: str) -> list[Span]:
        """Where the function asks a parameter for more than its number: `is`, `isinstance`, `.name` (NST505)."""
        ...

    def contradicted(self, seen: Observed) -> tuple[Related, ...]:
        """The calls of `mark_dynamic` that a comparison of a size, or another use in a region, contradicts (NST506)."""
        ...

    def kept_by_size(self, effect: Effect) -> bool:
        """Whether the graph in which a size decides something is only used for tensors of that size (NST506)."""
        ...

    @property
    def structures(self) -> list[Span]:
        """The results whose structure depends on what the function itself changes (NST507)."""
        ...

    @property
    def boundary_results(self) -> list[BoundaryResult]:
        """What the marked function returns, each `return` judged at the boundary (NST502)."""
        ...

    @property
    def dispatches(self) -> tuple[Related, ...]:
        """Calls in regions that may reach one of several marked functions, each with how (NST107)."""
        ...


class Tag(enum.Enum):
    """How editors show what a finding is on."""

    NONE = "none"
    UNNECESSARY = "unnecessary"
    DEPRECATED = "deprecated"


class Rule(NamedTuple):
    """One rule of the catalogue.

    `severity` is the default. The page of a rule is the Markdown file beside its own (`documentation`).
    `examine` yields the findings in one body; None for rules of the tool itself (NST9xx). `expectation` is what an
    experiment shows of a finding. `fixes` yields the ways to mend one, the best one first, of no applicability above
    `surest`; None if there are none. `gathered` says of many places what one finding says of all of them, where a
    function whose result is frozen leads to them ("leads to 40 places that ..."); "" where each is told by itself.
    `hint` is what becomes of the value of an expression that a finding lies on, in a word or two; "" where none is.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    markers: frozenset[str] = TRACED
    examine: Callable[[Body], Iterator[Finding]] | None = None
    expectation: Expectation = Expectation()
    fixes: Callable[[Context], Iterator[Fix]] | None = None
    surest: Applicability = Applicability.UNSAFE
    gathered: str = ""
    hint: str = ""
    tag: Tag = Tag.NONE

    @property
    def documentation(self) -> str:
        """The Markdown page of the rule, with the heading `# name (code)`."""
        name = f"{self.code.lower()}_{self.name.replace('-', '_')}.md"
        return Path(__file__).with_name(name).read_text(encoding="utf-8")

    @property
    def experiment(self) -> Experiment:
        """How a compile confirms or refutes a finding."""
        return self.expectation.experiment

    @property
    def url(self) -> str:
        """Address of the rule's page."""
        return f"{DOCUMENTATION_URL}rules/{self.name}.md"


def report(
    rule: Rule,
    body: Body,
    observed: Observed,
    message: str,
    *,
    note: str = "",
    help: str = "",
    severity: Severity | None = None,
    evidence: tuple[Related, ...] = (),
) -> Finding:
    """The finding of a rule on an effect: placed on its expression, with the call chain and then the evidence."""
    chain = body.chain(observed)
    return Finding(
        code=rule.code,
        severity=rule.severity if severity is None else severity,
        span=observed.effect.span,
        message=message,
        help=help,
        note=note,
        function=body.function,
        marker=body.marker,
        related=(*chain, *evidence),
        links=len(chain),
        cause=observed.effect.cause,
    )


def report_at(
    rule: Rule,
    body: Body,
    span: Span,
    message: str,
    *,
    note: str = "",
    help: str = "",
    severity: Severity | None = None,
    evidence: tuple[Related, ...] = (),
) -> Finding:
    """The finding of a rule on a place that is no effect: a marker, a call site, a parameter."""
    how = "compiled" if body.marker in COMPILED | INEFFECTIVE | WRAPPED else "marked"
    marked = Related(body.marked_at, f"`{body.function}` is {how} here")
    return Finding(
        code=rule.code,
        severity=rule.severity if severity is None else severity,
        span=span,
        message=message,
        help=help,
        note=note,
        function=body.function,
        marker=body.marker,
        related=(marked, *evidence) if body.marked_at != span else evidence,
        links=int(body.marked_at != span),
    )
