"""What a rule is: metadata, documentation and a query over what a marked function does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from nonstrict.findings import Finding, Related, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.program.effects import Event, Observed
    from nonstrict.program.places import Place
    from nonstrict.program.sites import CallSite, Parameter
    from nonstrict.program.values import Value

#: Marker kinds of which a body is traced, so that what it does beyond computing goes wrong.
TRACED = frozenset({"nonstrict", "in-graph", "make-fx"})
#: `TRACED` and functions whose result is frozen.
FROZEN = TRACED | {"constant-result"}

DOCUMENTATION_URL = "https://github.com/nonstrict/nonstrict/blob/main/docs/rules/"


class Body(Protocol):
    """A marked function and everything it calls, as rules see it (`nonstrict.program.body.MarkedBody`)."""

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

    def observed(self, *events: Event) -> Iterator[Observed]:
        """The effects of the given kinds, nearest first."""
        ...

    def chain(self, observed: Observed) -> tuple[Related, ...]:
        """The call chain of an effect as related locations, from the marker to the call next to it."""
        ...

    def writers(self, place: Place) -> tuple[Related, ...]:
        """Where the project changes what lives at a captured place ("rebound here", ...)."""
        ...

    def guarded_by_region(self, place: Place) -> bool:
        """Whether a compiled region that calls the function reads the place itself, so that Dynamo guards it."""
        ...

    def mode_writers(self) -> tuple[Related, ...]:
        """Where the project switches a module between training and evaluation (`.eval()`, `.train()`)."""
        ...

    @property
    def private(self) -> bool:
        """Whether the function exists only to be traced, once: no other run of it can differ from the trace."""
        ...

    receiver: Value | None
    """What a marked bound method or module is bound to; None for a plain function."""

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """The calls of the marked function that were seen, in compiled regions and elsewhere."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the marked function, `self` included."""
        ...

    @property
    def dispatches(self) -> tuple[Related, ...]:
        """Calls in regions that may reach one of several marked functions, each with how (NST107)."""
        ...


class Rule(NamedTuple):
    """One rule of the catalogue.

    `severity` is the default; `documentation` is the Markdown page (the docstring of the rule's file).
    `examine` yields the findings in one body; None for rules of the tool itself (NST9xx).
    """

    code: str
    name: str
    severity: Severity
    summary: str
    documentation: str
    markers: frozenset[str] = TRACED
    examine: Callable[[Body], Iterator[Finding]] | None = None

    @property
    def url(self) -> str:
        """Address of the rule's page."""
        return f"{DOCUMENTATION_URL}{self.name}.md"


def report(
    rule: Rule,
    body: Body,
    observed: Observed,
    message: str,
    *,
    help: str = "",
    severity: Severity | None = None,
    evidence: tuple[Related, ...] = (),
) -> Finding:
    """The finding of a rule on an effect: placed on its expression, with the call chain and then the evidence."""
    return Finding(
        code=rule.code,
        severity=rule.severity if severity is None else severity,
        span=observed.effect.span,
        message=message,
        help=help,
        function=body.function,
        marker=body.marker,
        related=(*body.chain(observed), *evidence),
    )


def report_at(
    rule: Rule,
    body: Body,
    span: Span,
    message: str,
    *,
    help: str = "",
    severity: Severity | None = None,
    evidence: tuple[Related, ...] = (),
) -> Finding:
    """The finding of a rule on a place that is no effect: a marker, a call site, a parameter."""
    marked = Related(body.marked_at, f"`{body.function}` is marked here")
    return Finding(
        code=rule.code,
        severity=rule.severity if severity is None else severity,
        span=span,
        message=message,
        help=help,
        function=body.function,
        marker=body.marker,
        related=(marked, *evidence) if body.marked_at != span else evidence,
    )
