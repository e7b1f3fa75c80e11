"""What the analysis says: spans in the analysed code, findings of rules, and the diagnostics that users see.

Named tuples, because every run imports this module and making a dataclass takes milliseconds.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.events import Event, How

#: Codes of what is no finding of a marked function or region. A diagnostic of what no finding explains is a question
#: until an experiment answered it.
UNEXPLAINED, SYNTAX_ERROR, UNUSED_SUPPRESSION = "NST900", "NST901", "NST902"
INVALID_CONFIGURATION, INTERNAL_FAULT = "NST903", "NST904"


class Severity(enum.IntEnum):
    """How bad a finding is; the order is the order of `--fail-on`."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The lower-case word shown to users: `note`, `warning` or `error`."""
        return self.name.lower()

    def raised(self) -> Severity:
        """One step worse, at most `ERROR`."""
        return Severity(min(self + 1, Severity.ERROR))

    def lowered(self) -> Severity:
        """One step milder, at least `NOTE`."""
        return Severity(max(self - 1, Severity.NOTE))


class Output(enum.Flag):
    """Where a program tells people something."""

    NONE = 0
    STDOUT = enum.auto()
    STDERR = enum.auto()
    LOG = enum.auto()
    ANYWHERE = STDOUT | STDERR | LOG


class Span(NamedTuple):
    """A range in the *analysed code* of a file, in the units of `ast`.

    Lines count from 1, columns are UTF-8 byte offsets from 0, the end is exclusive. For notebooks the
    lines are those of the cells joined into one module; `Source.locate` turns a span into a `Location`.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Related(NamedTuple):
    """Another place that explains a finding: a link of the call chain, or a writer of a captured name."""

    span: Span
    message: str


class Rebinding(Related):
    """A writer that gives a name another value: what it held before is not changed."""

    __slots__ = ()


#: The origin of environment variables.
ENVIRONMENT = "environment"


class Subject(NamedTuple):
    """The state that a finding is about, as an experiment has to find it.

    `origin` is where it lives (`global`, `cell`, `argument`, `default`, `receiver`, `environment`), `name` the
    variable, and `path` the steps from it: `.scale`, `["w"]`.
    """

    origin: str
    name: str
    path: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The expression a user would write: `CONFIG.scale`."""
        return self.name + "".join("[...]" if step == "[]" else step for step in self.path if step != "~")


class Cause(NamedTuple):
    """The effect that a finding is about: what happens, in which way, and to which state.

    `output` is where it tells people something, if that is all it does.
    """

    event: Event
    how: How | None = None
    subject: Subject | None = None
    output: Output = Output.NONE


class Applicability(enum.IntEnum):
    """How far a fix can be trusted; the order is the order in which they are preferred."""

    DISPLAY = 1
    """Shown only: it holds a part that a person has to fill in."""
    UNSAFE = 2
    """Eager code may compute something else afterwards, or code that was not seen may break."""
    SAFE = 3
    """Eager code computes what it did before."""

    @property
    def label(self) -> str:
        """The word in reports: `display`, `unsafe` or `safe`."""
        return self.name.lower()


class Edit(NamedTuple):
    """Replace a range of the analysed code by a text, whose lines end in LF; an empty range is an insertion."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A way to mend a finding. `title` is an imperative: "Pass `scale` as an argument".

    The edits, in any number of files, belong together: all of them or none. They do not overlap.
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...]


class Finding(NamedTuple):
    """What a rule found, before suppressions and positions for users.

    `message` says what it is, `note` what comes of it and `help` what to do, each in one clause without a full stop.
    `function` is the qualified name of the marked function, `marker` the kind of its marker
    (`nonstrict`, `in-graph`, ...); both are empty for findings of the tool itself (NST9xx).
    `related` holds the call chain from the marker to the expression, then the evidence; `links` is the length of the
    chain, the marker included. `fixes` are the ways to mend it, the best one first. With `gives_up` it says that torch
    compiles nothing of the function after it; where it is `hidden`, that torch gives up before it comes to it. With
    `observed` it is no prediction: torch told it in an experiment. `cause` is the effect that it is
    about, if it is about one. `others` are further marked functions that come to its place, each with its marker.
    `about` is which of several things it says, where experiments have to tell them apart.
    """

    code: str
    severity: Severity
    span: Span
    message: str
    help: str = ""
    note: str = ""
    function: str = ""
    marker: str = ""
    related: tuple[Related, ...] = ()
    links: int = 0
    cause: Cause | None = None
    fixes: tuple[Fix, ...] = ()
    gives_up: bool = False
    hidden: bool = False
    observed: bool = False
    others: tuple[tuple[str, Span], ...] = ()
    about: str = ""

    @property
    def spans(self) -> tuple[Span, ...]:
        """All places that users are shown of it, those of its fixes aside."""
        return (self.span, *(related.span for related in self.related), *(marker for _, marker in self.others))

    @property
    def marked_at(self) -> Span:
        """The marker of its function."""
        return self.related[0].span if self.links else self.span

    def moved(self, at: Callable[[Span], Span]) -> Finding:
        """The finding where its places are now, its fixes aside."""
        return self._replace(
            span=at(self.span),
            related=tuple(related._replace(span=at(related.span)) for related in self.related),
            others=tuple((function, at(marker)) for function, marker in self.others),
        )


class Location(NamedTuple):
    """A range as users count: rows and columns from 1, columns in code points, the end exclusive.

    In a notebook `cell` is the position of the cell among all cells, from 1, and rows count within the cell.
    """

    path: str
    row: int
    column: int
    end_row: int
    end_column: int
    cell: int | None = None


class RelatedLocation(NamedTuple):
    """`Related`, located for users."""

    location: Location
    message: str


class LocatedEdit(NamedTuple):
    """`Edit`, located for users."""

    location: Location
    text: str


class LocatedFix(NamedTuple):
    """`Fix`, located for users."""

    title: str
    applicability: Applicability
    edits: tuple[LocatedEdit, ...]


class Status(str, enum.Enum):
    """What an experiment says about a finding; the value is the word shown to users."""

    CONFIRMED = "confirmed"
    """Compiled code did what the finding predicts, and eager did not."""
    REFUTED = "refuted"
    """The code under suspicion ran, and compiled code agreed with eager."""
    INCONCLUSIVE = "inconclusive"
    """The experiment could not be done, or said nothing; `Verdict.reason` says why."""


class Outcome(NamedTuple):
    """What one backend did.

    `result` is `same`, `silent-wrong`, `effect-lost`, `error`, `graph-break`, `not-compiled`,
    `recompiled` or `not-run`; `detail` says more.
    """

    backend: str
    result: str
    detail: str = ""


class Verdict(NamedTuple):
    """The answer of an experiment, and what it holds for.

    `reason` is the key of a sentence in `nonstrict.report.verdicts.REASONS`, empty unless inconclusive. `evidence` is
    one sentence: what eager and compiled code gave, after what. `repro` is the path of a script that shows the
    difference, `files` say what the run would have changed outside the sandbox (`would write runs/log.txt`). `driver`
    says what set it going, `source` where the arguments come from, `inputs` what the first call was given
    (`x: tensor float32 [2, 3]`).
    """

    status: Status
    reason: str = ""
    evidence: str = ""
    outcomes: tuple[Outcome, ...] = ()
    torch: str = ""
    python: str = ""
    device: str = ""
    seconds: float = 0.0
    repro: str = ""
    files: tuple[str, ...] = ()
    driver: str = ""
    inputs: tuple[str, ...] = ()
    source: str = ""


class Sighting(NamedTuple):
    """What torch did in a real run where a finding stands.

    `when` is the end of the run, in seconds since 1970. It did what the finding says unless it `passed`: it compiled
    the function and did not. `recompilations` count what was compiled again for it, which took `seconds`; with
    `gives_up` torch left the function to plain Python. `reason` is torch's: the name of a break, or the guard. It is
    `stale` if the code was edited since.
    """

    when: float
    passed: bool = False
    recompilations: int = 0
    seconds: float = 0.0
    gives_up: bool = False
    reason: str = ""
    stale: bool = False


class Diagnostic(NamedTuple):
    """A finding as users see it, in every output format and in editors.

    `verdict` is None where no experiment was asked for. `subject` and `output` are those of its cause. `sighting` is
    what a real run made of it, None where none was kept. What else the fields hold: see `Finding`.
    """

    code: str
    name: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    note: str = ""
    function: str = ""
    marker: str = ""
    related: tuple[RelatedLocation, ...] = ()
    links: int = 0
    verdict: Verdict | None = None
    subject: Subject | None = None
    fixes: tuple[LocatedFix, ...] = ()
    gives_up: bool = False
    hidden: bool = False
    observed: bool = False
    output: Output = Output.NONE
    sighting: Sighting | None = None
    others: tuple[tuple[str, Location], ...] = ()
    about: str = ""


def with_advice(message: str, advice: str) -> str:
    """A message and what to do about it, a clause each, as sentences."""
    return f"{message}. {advice[0].upper()}{advice[1:]}." if advice else f"{message}."


class Line(NamedTuple):
    """A line of the analysed code of a file, from 1; columns are UTF-8 bytes, -1 where they are not known."""

    path: str
    line: int
    column: int = -1
    end_column: int = -1


class Break(NamedTuple):
    """A place where torch left the graph of a region.

    `type` and `id` are torch's names for what it could not trace (`Failed to trace builtin operator`, `GB0059`), `told`
    and `hint` its explanation and first advice. `lines` are those of the project that lead there, the innermost last.
    It `raises` where the graph must not break; it is `explained` if what raises is the doing of some finding. With
    `fails_in_eager`, eager code raised on the same line.
    """

    type: str
    id: str
    told: str
    hint: str
    lines: tuple[Line, ...]
    raises: bool = False
    explained: bool = False
    fails_in_eager: bool = False

    @property
    def text(self) -> str:
        """What torch calls it, with the id: `Failed to trace builtin operator (GB0059)`."""
        return f"{self.type} ({self.id})" if self.id else self.type


class FallBack(NamedTuple):
    """A function of the project that torch left to plain Python: only what comes after a break, if it is the `rest`.

    `line` and `last` are the lines that the function spans, `at` is the line of the break that was the reason, 0 if
    there was none. `type` and `id` are torch's names for why it did not go on.
    """

    function: str
    path: str
    line: int
    last: int
    rest: bool
    at: int
    type: str
    id: str

    @property
    def text(self) -> str:
        """Why torch did not go on, with the id: `graph break in loop (GB7000)`."""
        return f"{self.type} ({self.id})" if self.id else self.type


class Recompiled(NamedTuple):
    """What a function was compiled again for, so many `times`, which took `seconds`.

    `guard` is the one that failed last, `sources` what it asks of, as names and steps (`("self", "step")`), `lines` the
    user's lines for which it was made, the innermost last. At the `limit` torch gave the function up for it.
    """

    guard: str
    sources: tuple[tuple[str, ...], ...]
    lines: tuple[Line, ...]
    times: int = 1
    seconds: float = 0.0
    limit: bool = False


class Measured(NamedTuple):
    """What torch made of a compiled region in an experiment, or of a function in a real run.

    `line` is that of the region's `function` in the file `path`. `graphs` are the numbers of operators of the graphs
    that its first call compiled, `later` counts those of the `calls` after it. `skipped` is why torch passed over it,
    if it compiled nothing; `backends` are those that it was compiled with, `again` is what it was compiled again for.
    Of real runs, which tell no calls and no backends, it is known how many `seconds` compilation took.
    """

    function: str
    path: str
    line: int
    calls: int
    graphs: tuple[int, ...]
    later: int
    breaks: tuple[Break, ...]
    fallbacks: tuple[FallBack, ...]
    skipped: str
    backends: tuple[str, ...]
    again: tuple[Recompiled, ...] = ()
    seconds: float = 0.0
