"""What the functions of the API return: the JSON of the commands as frozen data, field by field under the same names.

What a field says stands in `nonstrict.report.record_types`, and in the schemas made of it. Only those that JSON cannot
say as well are of other types here: enumerations, tuples. A test holds the two against each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.findings import Applicability, Severity, Status


@dataclass(frozen=True, kw_only=True)
class Position:
    """A position: rows and columns count from 1, columns in code points."""

    row: int
    column: int


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where something begins: in a file with an absolute path, in a notebook within its `cell`, counted from 1."""

    filename: str
    cell: int | None
    location: Position


@dataclass(frozen=True, kw_only=True)
class Place(Start):
    """A range in a file; its end is exclusive."""

    end_location: Position


@dataclass(frozen=True, kw_only=True)
class Related(Place):
    """Another place that explains something."""

    message: str


@dataclass(frozen=True, kw_only=True)
class Edit(Place):
    """Replace a range by a text; an empty range is an insertion."""

    content: str


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A way to mend a finding: all of its edits or none, in any number of files. `message` is an imperative."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one backend did: `same`, `silent-wrong`, `effect-lost`, `error`, `graph-break`, `not-run`, ..."""

    result: str
    detail: str | None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer of an experiment, and what it holds for; `reason` says in a word why it is inconclusive."""

    status: Status
    reason: str | None
    backends: Mapping[str, Outcome] = field(hash=False)
    evidence: str | None
    torch: str | None
    python: str | None
    device: str | None
    seconds: float
    repro: str | None
    files: tuple[str, ...]
    driver: str | None
    source: str | None
    inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """What torch did in a real run where a finding stands; `when` is in UTC, as RFC 3339 writes it."""

    when: str
    happened: bool
    recompilations: int
    seconds: float
    gave_up: bool
    reason: str | None
    stale: bool


@dataclass(frozen=True, kw_only=True)
class Finding(Place):
    """A finding: `message` says what it is, `note` what comes of it, `help` what to do.

    `function` is the marked function or compiled region that it is about. `fixes` begin with the best one.
    `fingerprint` stays the same while the line of code does, wherever in the file it stands.
    """

    code: str
    name: str
    severity: Severity
    message: str
    note: str | None
    help: str | None
    url: str | None
    fixes: tuple[Fix, ...]
    function: str | None
    marker: str | None
    observed: bool
    related: tuple[Related, ...]
    links: int
    fingerprint: str
    verdict: Verdict | None
    sighting: Sighting | None

    @property
    def chain(self) -> tuple[Related, ...]:
        """The calls that lead from the marker to the place."""
        return self.related[: self.links]

    @property
    def evidence(self) -> tuple[Related, ...]:
        """Other places that show it."""
        return self.related[self.links :]


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What a check found.

    `files` says how many files were checked, `regions` and `regions_missed` how many compiled regions were looked at
    and how many could not be, `marked` how many marked functions. `known` is the number of findings that the baseline
    holds, which are not among `findings`. `failures` are sentences about what could not be done: with any, there may be
    more findings than are told. `torches` are the versions that the findings are for, None among them where none was
    found: more than one where projects with a configuration of their own lie below the paths.
    """

    findings: tuple[Finding, ...]
    files: int
    regions: int
    regions_missed: int
    marked: int
    known: int
    torches: tuple[str | None, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Obstacle(Finding):
    """A finding, with what it is about in a word."""

    family: str


@dataclass(frozen=True, kw_only=True)
class Unseen(Start):
    """A place that was not looked into."""

    message: str


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """Whether a function may be marked: `verdict` is `pure`, `obstacles` or `unknown`.

    `hidden` is the number of findings that settings or suppressions leave out.
    """

    function: str
    filename: str
    location: Position
    marker: str
    verdict: str
    findings: tuple[Obstacle, ...]
    not_looked_into: tuple[Unseen, ...]
    hidden: int
    failures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ExplainPage:
    """A page that fits a text of torch: of a `rule`, of torch's graph `break`, or of another `topic`, as `kind` says.

    `id` is for `nonstrict explain`, `rules` are the codes of rules that report such things.
    """

    kind: str
    id: str
    title: str
    meaning: str
    advice: str | None
    rules: tuple[str, ...]
    urls: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ExplainPlace:
    """A line that a text names, as the project has it.

    `given` is the path as the text has it, `filename` that of the file here: None where none is called so, or where any
    of the `candidates` may be meant. The line was `edited` if the text quotes another one. The findings are those on
    the line, or, if they are `nearby`, those in the function around it.
    """

    given: str
    row: int
    filename: str | None
    candidates: tuple[str, ...]
    function: str | None
    source: str | None
    edited: bool
    nearby: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class ExplainMessage:
    """One message of torch in a text: the pages that fit, the best one first, and the place that it is about."""

    row: int
    quote: str
    pages: tuple[ExplainPage, ...]
    guard: str | None
    place: ExplainPlace | None


@dataclass(frozen=True, kw_only=True)
class ExplainResult:
    """What a text of torch means; where nothing known fits, the pages that are `near`, which is a guess."""

    messages: tuple[ExplainMessage, ...]
    near: tuple[ExplainPage, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Graphs:
    """How many graphs there are, between two numbers."""

    least: int
    most: int


@dataclass(frozen=True, kw_only=True)
class Break(Place):
    """A construct that breaks the graph of a region; `stops` says what keeps torch from resuming after it."""

    construct: str
    id: str | None
    conditional: bool
    stops: str | None
    chain: tuple[Related, ...]


@dataclass(frozen=True, kw_only=True)
class Part(Place):
    """A part of a region: `kind` is `graph`, `break` or `eager`."""

    kind: str
    function: str
    depth: int
    conditional: bool
    cause: str | None
    stops: str | None


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A graph that torch compiled."""

    operators: int


@dataclass(frozen=True, kw_only=True)
class RunBreak:
    """A break in a real run, with torch's names for it."""

    row: int
    type: str
    id: str | None


@dataclass(frozen=True, kw_only=True)
class Recompilation:
    """What a region was compiled again for: the guard that failed last, and the row that it was made for."""

    row: int
    times: int
    guard: str
    gave_up: bool


@dataclass(frozen=True, kw_only=True)
class RunFallBack:
    """A function that falls back to eager in a real run, `after` the break on a line."""

    after: int | None
    type: str
    id: str | None


@dataclass(frozen=True, kw_only=True)
class Run:
    """What the latest real run made of a region; `error` says why nothing was compiled."""

    when: str
    graphs: tuple[Graph, ...]
    later_graphs: int
    breaks: tuple[RunBreak, ...]
    recompilations: tuple[Recompilation, ...]
    fall_backs: tuple[RunFallBack, ...]
    seconds: float
    error: str | None


@dataclass(frozen=True, kw_only=True)
class Region(Place):
    """A compiled region, or a place where it is not known what is compiled: then `reason` says why.

    Its place is where the user compiles it, `site` where `torch.compile` itself is applied, `defined` where the
    function is. `recompilations` say what it is compiled again for.
    """

    function: str | None
    site: Place
    defined: Place | None
    analyzed: bool
    reason: str | None
    options: Mapping[str, Any] = field(hash=False)
    options_not_known: tuple[str, ...]
    graphs: Graphs | None
    breaks: tuple[Break, ...]
    parts: tuple[Part, ...]
    observed: Run | None
    recompilations: tuple[Related, ...]
    callers: tuple[Related, ...]
    marked: tuple[Related, ...]
    not_looked_into: tuple[Related, ...]


@dataclass(frozen=True, kw_only=True)
class RegionsResult:
    """The compiled regions of some files. `files`, `torches` and `failures`: see `CheckResult`."""

    regions: tuple[Region, ...]
    files: int
    torches: tuple[str | None, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a file."""

    filename: str
    row: int


@dataclass(frozen=True, kw_only=True)
class SeenBreak(Place):
    """A break that torch told in an experiment, and the rule (`code`) of the finding that names it."""

    type: str
    id: str | None
    explanation: str | None
    raises: bool
    predicted: bool
    code: str | None
    stack: tuple[Line, ...]


@dataclass(frozen=True, kw_only=True)
class FallBack(Line):
    """A function that falls back to eager, or only the rest of it."""

    function: str
    rest: bool
    after: int | None
    type: str
    id: str | None


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """What the analysis said of a region; `graphs` are the least and the greatest number."""

    breaks: int
    fall_back: bool
    graphs: tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True)
class NotSeen(Place):
    """A finding about a break that the experiment did not see."""

    code: str
    verdict: str | None
    why: str


@dataclass(frozen=True, kw_only=True)
class MeasuredRegion(Line):
    """What torch made of a region in an experiment."""

    function: str
    cell: int | None
    calls: int
    backends: tuple[str, ...]
    graphs: tuple[Graph, ...]
    later_graphs: int
    skipped: str | None
    breaks: tuple[SeenBreak, ...]
    recompilations: tuple[Recompilation, ...]
    fall_backs: tuple[FallBack, ...]
    predicted: Predicted
    not_seen: tuple[NotSeen, ...]


@dataclass(frozen=True, kw_only=True)
class NotRun:
    """A function without findings that could not be run."""

    function: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class ConfirmResult:
    """Findings with verdicts, what torch made of the regions, and functions that could not be run.

    `notices` are sentences about what is not as asked for and fails nothing, such as another interpreter.
    """

    findings: tuple[Finding, ...]
    regions: tuple[MeasuredRegion, ...]
    not_run: tuple[NotRun, ...]
    torch: str | None
    failures: tuple[str, ...]
    notices: tuple[str, ...]
