"""What the JSON of every command holds, as types: the schemas are made of them (`scripts/generate_schemas.py`).

Fields may be added; none is renamed, taken away or given another type before the schemas have another version. What
people read of a field stands beside its type.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypedDict

from nonstrict.findings import Applicability, Severity, Status
from nonstrict.report.regions import KINDS


class OneOf(NamedTuple):
    """Says of a text that it is one of some words."""

    words: tuple[str, ...]


class Form(NamedTuple):
    """Says how a text is written, with a name that JSON Schema knows: `date-time`."""

    name: str


SEVERITIES = OneOf(tuple(one.label for one in Severity))
APPLICABILITIES = OneOf(tuple(one.label for one in Applicability))
STATUSES = OneOf(tuple(one.value for one in Status))

# -- findings ---------------------------------------------------------------------------------------------------------


class PositionRecord(TypedDict):
    """A position: rows and columns count from 1, columns in code points."""

    row: int
    column: int


class StartRecord(TypedDict):
    """Where something begins in a file."""

    filename: Annotated[str, "absolute path"]
    cell: Annotated[int | None, "in a notebook, the position of the cell among all cells, from 1; rows count within it"]
    location: PositionRecord


class PlaceRecord(StartRecord):
    """A range in a file; its end is exclusive."""

    end_location: PositionRecord


class RelatedRecord(PlaceRecord):
    """Another place that explains something."""

    message: str


class EditRecord(PlaceRecord):
    """Replace a range by a text; an empty range is an insertion."""

    content: str


class FixRecord(TypedDict):
    """A way to mend a finding: all of its edits or none, in any number of files."""

    applicability: Annotated[
        str, APPLICABILITIES, "`safe`: eager code computes what it did; `display`: a person has to fill in a part"
    ]
    message: Annotated[str, "what it does, as an imperative"]
    edits: list[EditRecord]


class OutcomeRecord(TypedDict):
    """What one backend did."""

    result: Annotated[str, "`same`, `silent-wrong`, `effect-lost`, `error`, `graph-break`, `not-run`, ..."]
    detail: str | None


class VerdictRecord(TypedDict):
    """The answer of an experiment, and what it holds for."""

    status: Annotated[str, STATUSES]
    reason: Annotated[str | None, "why it is inconclusive, as a word; null where it is not"]
    backends: dict[str, OutcomeRecord]
    evidence: Annotated[str | None, "what eager and compiled code gave, after what"]
    torch: Annotated[str | None, "the version"]
    python: Annotated[str | None, "the version"]
    device: str | None
    seconds: Annotated[float, "how long it took"]
    repro: Annotated[str | None, "the path of a script that shows the difference"]
    files: Annotated[list[str], "what the run would have changed outside the sandbox"]
    driver: Annotated[str | None, "what set the run going"]
    source: Annotated[str | None, "where the arguments come from"]
    inputs: Annotated[list[str], "what the first call was given"]


class SightingRecord(TypedDict):
    """What torch did in a real run where a finding stands."""

    when: Annotated[str, Form("date-time"), "the end of the run"]
    happened: Annotated[bool, "whether it did what the finding says"]
    recompilations: int
    seconds: Annotated[float, "how long what was compiled again took"]
    gave_up: Annotated[bool, "whether torch fell back to eager for the function"]
    reason: Annotated[str | None, "torch's: the name of a break, or the guard that failed"]
    stale: Annotated[bool, "whether the code was edited since"]


class FindingRecord(PlaceRecord):
    """A finding."""

    code: Annotated[str, "the code of the rule: `NST101`"]
    name: Annotated[str, "the name of the rule: `global-tensor-capture`"]
    severity: Annotated[str, SEVERITIES]
    message: Annotated[str, "what it is"]
    note: Annotated[str | None, "what comes of it"]
    help: Annotated[str | None, "what to do"]
    url: Annotated[str | None, "the page of the rule"]
    fix: Annotated[FixRecord | None, "the best of `fixes`"]
    fixes: Annotated[list[FixRecord], "the ways to mend it, the best one first"]
    function: Annotated[str | None, "the qualified name of the marked function or compiled region that it is about"]
    marker: Annotated[str | None, "the kind of its marker: `nonstrict`, `in-graph`, `compiled`, ..."]
    observed: Annotated[bool, "whether it is no prediction: torch told it in a run"]
    related: Annotated[list[RelatedRecord], "the call chain to the place, evidence, other functions that come there"]
    links: Annotated[int, "so many of `related` are the call chain"]
    fingerprint: Annotated[str, "made of rule, file, function and line of code: edits elsewhere keep it"]
    verdict: Annotated[VerdictRecord | None, "null where no experiment was asked for"]
    sighting: Annotated[SightingRecord | None, "null where no run was kept"]


class _StatisticRecord(TypedDict):
    code: str
    name: str
    severity: Annotated[str, SEVERITIES]
    count: int
    fixable: Annotated[int, "how many of them `--fix` mends"]


class StatisticRecord(_StatisticRecord, total=False):
    """How often a rule was met with a severity."""

    verdicts: Annotated[dict[str, int], "how many of them have which verdict; there if experiments were asked for"]


# -- regions ----------------------------------------------------------------------------------------------------------


class GraphsRecord(TypedDict):
    """How many graphs there are, between two numbers."""

    least: int
    most: int


class BreakRecord(PlaceRecord):
    """A construct that breaks the graph of a region."""

    construct: str
    id: Annotated[str | None, "torch's own of such breaks: `GB0059`"]
    conditional: Annotated[bool, "whether only some calls come to it"]
    stops: Annotated[str | None, "what keeps torch from resuming the region after it: `a loop`; null where it goes on"]
    chain: Annotated[list[RelatedRecord], "the calls that lead there from the region"]


class PartRecord(PlaceRecord):
    """A part of a region, in the order of its text."""

    kind: Annotated[str, OneOf(tuple(KINDS))]
    function: Annotated[str, "the function that it is a part of"]
    depth: Annotated[int, "how many calls lead there"]
    conditional: Annotated[bool, "whether only some calls come to it"]
    cause: Annotated[str | None, "what breaks the graph, or why a function runs in eager mode"]
    stops: Annotated[str | None, "what keeps torch from resuming the function after it"]


class GraphRecord(TypedDict):
    """A graph that torch compiled."""

    operators: int


class RunBreakRecord(TypedDict):
    """A break in a real run, with torch's names for it."""

    row: int
    type: str
    id: str | None


class RecompilationRecord(TypedDict):
    """What a region was compiled again for."""

    row: Annotated[int, "the line for which the guard was made"]
    times: int
    guard: Annotated[str, "the one that failed last"]
    gave_up: Annotated[bool, "whether torch gave the function up for it"]


class RunFallBackRecord(TypedDict):
    """A function that falls back to eager in a real run."""

    after: Annotated[int | None, "the line of the break that was the reason"]
    type: str
    id: str | None


class RunRecord(TypedDict):
    """What the latest real run made of a region."""

    when: Annotated[str, Form("date-time")]
    graphs: list[GraphRecord]
    later_graphs: Annotated[int, "those of calls after the first"]
    breaks: list[RunBreakRecord]
    recompilations: list[RecompilationRecord]
    fall_backs: list[RunFallBackRecord]
    seconds: Annotated[float, "how long compilation took"]
    error: Annotated[str | None, "why nothing was compiled"]


class RegionRecord(PlaceRecord):
    """A compiled region, or a place where it is not known what is compiled; its place is where the user compiles it."""

    function: Annotated[str | None, "its qualified name; null where it is not known"]
    site: Annotated[PlaceRecord, "where `torch.compile` itself is applied, by a wrapper perhaps"]
    defined: Annotated[PlaceRecord | None, "the definition of the function"]
    analyzed: bool
    reason: Annotated[str | None, "why it was not looked at, or why nothing is compiled"]
    options: Annotated[dict[str, Any], "those that it is compiled with, as far as their values are known"]
    options_not_known: Annotated[list[str], "the names of the others"]
    graphs: GraphsRecord | None
    breaks: list[BreakRecord]
    parts: Annotated[list[PartRecord], "graphs, breaks and code in eager mode, in source order"]
    observed: Annotated[RunRecord | None, "null where no run of the code as it is was kept"]
    recompilations: Annotated[list[RelatedRecord], "what it is compiled again for"]
    callers: list[RelatedRecord]
    marked: Annotated[list[RelatedRecord], "the calls of marked functions in it"]
    not_looked_into: list[RelatedRecord]


# -- experiments ------------------------------------------------------------------------------------------------------


class LineRecord(TypedDict):
    """A line of a file."""

    filename: str
    row: int


class SeenBreakRecord(PlaceRecord):
    """A break that torch told in an experiment."""

    type: Annotated[str, "torch's name for what it could not trace"]
    id: str | None
    explanation: str | None
    raises: Annotated[bool, "whether the graph must not break there"]
    predicted: Annotated[bool, "whether a finding named it before it was seen"]
    code: Annotated[str | None, "the rule of the finding that names it"]
    stack: Annotated[list[LineRecord], "the lines of the project that lead there, the innermost last"]


class FallBackRecord(LineRecord):
    """A function that falls back to eager in an experiment."""

    function: str
    rest: Annotated[bool, "whether that is only what comes after a break"]
    after: Annotated[int | None, "the line of the break that was the reason"]
    type: str
    id: str | None


class PredictedRecord(TypedDict):
    """What the analysis said of a region."""

    breaks: int
    fall_back: bool
    graphs: Annotated[list[int] | None, "the least and greatest number"]


class NotSeenRecord(PlaceRecord):
    """A finding about a break that the experiment did not see."""

    code: str
    verdict: Annotated[str | None, "in a few words"]
    why: str


class MeasuredRegionRecord(LineRecord):
    """What torch made of a region in an experiment."""

    function: str
    cell: int | None
    calls: int
    backends: list[str]
    graphs: Annotated[list[GraphRecord], "those of the first call"]
    later_graphs: Annotated[int, "those of calls after the first"]
    skipped: Annotated[str | None, "why torch passed over it, if it compiled nothing"]
    breaks: list[SeenBreakRecord]
    recompilations: list[RecompilationRecord]
    fall_backs: list[FallBackRecord]
    predicted: PredictedRecord
    not_seen: list[NotSeenRecord]


class NotRunRecord(TypedDict):
    """A function without findings that could not be run."""

    function: str
    verdict: VerdictRecord


class ConfirmedRecord(TypedDict):
    """Findings with verdicts, what torch made of the regions, and functions that could not be run."""

    findings: list[FindingRecord]
    regions: list[MeasuredRegionRecord]
    not_run: list[NotRunRecord]


# -- other commands ---------------------------------------------------------------------------------------------------


class ObstacleRecord(FindingRecord):
    """A finding, with what it is about."""

    family: str


class UnseenRecord(StartRecord):
    """A place that was not looked into."""

    message: str


class AuditRecord(TypedDict):
    """Whether a function may be marked."""

    function: str
    filename: Annotated[str, "absolute path"]
    location: PositionRecord
    marker: str
    verdict: Annotated[str, OneOf(("pure", "obstacles", "unknown"))]
    findings: list[ObstacleRecord]
    not_looked_into: list[UnseenRecord]
    hidden: Annotated[int, "findings that settings or suppressions leave out"]


class KnownRecord(TypedDict):
    """At least and at most so many, and how that is known."""

    least: int
    most: int
    source: Annotated[str, OneOf(("measured", "predicted"))]
    when: Annotated[float | None, "when it was measured, in seconds since 1970"]


class HeldRecord(TypedDict):
    """A number of a region against what it may be."""

    filename: str
    row: int
    function: str
    number: Annotated[str, OneOf(("graphs", "recompilations"))]
    allowed: int
    entry: Annotated[str, "the key of the budget that says so"]
    known: KnownRecord | None
    state: Annotated[str, OneOf(("kept", "exceeded", "not-compiled", "fell", "not-known"))]


class BudgetRecord(TypedDict):
    """The compile budget against what is known of regions."""

    regions: list[HeldRecord]
    idle: Annotated[list[str], "keys of the budget of which no region is known"]
    without_budget: Annotated[int, "how many regions have none"]


class RuleRecord(TypedDict):
    """A rule."""

    code: str
    name: str
    severity: Annotated[str, SEVERITIES, "the default"]
    summary: str
    documentation: Annotated[str, "its page, in Markdown"]
    url: str


class ExplainPageRecord(TypedDict):
    """A page that fits a text of torch."""

    kind: Annotated[str, OneOf(("rule", "break", "topic"))]
    id: Annotated[
        str, "the code of a rule, torch's id of a graph break, or the name of a topic: for `nonstrict explain`"
    ]
    title: str
    meaning: str
    advice: Annotated[str | None, "what to do; null where only the page says it"]
    rules: Annotated[list[str], "the codes of rules that report it"]
    urls: Annotated[list[str], "pages to read, the best one first"]


class ExplainPlaceRecord(TypedDict):
    """A line that a text names, as the project has it."""

    given: Annotated[str, "the path as the text has it"]
    row: int
    filename: Annotated[str | None, "the absolute path of the file; null where none is called so, or several are"]
    candidates: Annotated[list[str], "the files that may be meant"]
    function: str | None
    source: Annotated[str | None, "the line as it is now"]
    edited: Annotated[bool, "whether the text quotes another line"]
    nearby: Annotated[bool, "whether the findings are in the function around the line, and none is on it"]
    findings: list[FindingRecord]


class ExplainMessageRecord(TypedDict):
    """One message of torch in a text."""

    row: Annotated[int, "where it stands in the text, from 1"]
    quote: Annotated[str, "the line of the text that told"]
    pages: Annotated[list[ExplainPageRecord], "those that fit, the best one first"]
    guard: Annotated[str | None, "the guard that failed, as a program would write it"]
    place: Annotated[ExplainPlaceRecord | None, "null where the text names no line of a program"]


class ExplainedRecord(TypedDict):
    """What a text of torch means."""

    messages: list[ExplainMessageRecord]
    near: Annotated[list[ExplainPageRecord], "a guess, where nothing known fits"]


class OptionRecord(TypedDict):
    """A key of the configuration."""

    key: str
    default: Annotated[str, "in TOML, or in words"]
    summary: str
    example: Annotated[str, "a line of TOML"]


class VersionRecord(TypedDict):
    """The version of nonstrict."""

    version: str


class _BaselineEntryRecord(TypedDict):
    path: Annotated[str, "relative to the baseline, with `/`"]
    code: str
    function: str
    message: str
    fingerprint: Annotated[str, "by which the finding is known"]


class BaselineEntryRecord(_BaselineEntryRecord, total=False):
    """A known finding."""

    observed: Annotated[bool, "there where only an experiment finds it again"]


class BaselineRecord(TypedDict):
    """A baseline: findings that are known and not reported."""

    version: int
    findings: list[BaselineEntryRecord]
