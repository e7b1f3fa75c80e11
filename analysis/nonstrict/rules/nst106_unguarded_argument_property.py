"""NST106 unguarded-argument-property.

The result depends on a property of an argument that tracing changes or does not guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Question
from nonstrict.findings import Severity
from nonstrict.knowledge.markers import SILENT_TRACERS
from nonstrict.rules.base import TRACED, Rule, report
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

#: What is wrong with an answer, by the function that asks.
#: What such a question gets, and what comes of that.
_OTHERWISE = "gives a different result at trace time"
_ANSWERS = {
    Question.COMPILING: ("is true at trace time", "compiled code takes another branch than eager code"),
    Question.KIND: (_OTHERWISE, "parameters are plain tensors there, and numbers become symbolic"),
    Question.CLASS: (_OTHERWISE, "tensors are fake there, and numbers become symbolic"),
    Question.IDENTITY: (_OTHERWISE, "it sees a fake argument"),
    Question.ATTACHED: (_OTHERWISE, "attributes set on a tensor are missing there"),
    Question.AUTOGRAD: ("is read without a guard", "it may differ in later calls"),
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the questions about arguments that no guard watches."""
    for query in body.observed(Event.QUERY):
        asked, how = query.effect.what, query.effect.how
        if how is Question.COMPILING and body.api in SILENT_TRACERS:
            continue
        answer, fate = _ANSWERS[how if isinstance(how, Question) else Question.AUTOGRAD]
        note = f"{fate}; `{called(body)}` keeps the branch of the first call"
        advice = "check it in the compiled region or in its caller, and pass the result as an argument"
        yield report(RULE, body, query, f"`{asked}` {answer}", note=note, help=advice)


RULE = Rule(
    code="NST106",
    name="unguarded-argument-property",
    severity=Severity.WARNING,
    summary="The result depends on a property of an argument that tracing changes or does not guard.",
    markers=TRACED,
    examine=examine,
    expectation=Expectation(Experiment.CHANGE),
    hint="unguarded",
)
