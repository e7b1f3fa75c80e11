"""NST106 unguarded-argument-property.

The result depends on a property of an argument that tracing changes or does not guard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.events import Event
from nonstrict.rules.base import TRACED, Rule, report
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

#: What is wrong with an answer, by the function that asks.
#: What such a question gets, and what comes of that.
_OTHERWISE = "gets another answer at trace time"
_ANSWERS = {
    "isinstance": (_OTHERWISE, "parameters are plain tensors there, and numbers become symbolic"),
    "type": (_OTHERWISE, "tensors are stand-ins there, and numbers become symbolic"),
    "id": (_OTHERWISE, "it sees a stand-in for the argument"),
}
_COMPILING = ("is true at trace time", "compiled code takes another branch than plain Python")
_ATTACHED = (_OTHERWISE, "attributes that were put on a tensor are not there")
_UNGUARDED = ("is read without a guard", "it may differ in later calls")
_AUTOGRAD = ("is_leaf", "grad_fn", "grad", "retains_grad", "_version", "_base", "output_nr")


def examine(body: Body) -> Iterator[Finding]:
    """Yield the questions about arguments that no guard watches."""
    for query in body.observed(Event.QUERY):
        asked = query.effect.what
        answer, fate = _answer(asked)
        note = f"{fate}; `{called(body)}` keeps the branch of the first call"
        advice = "ask in the compiled region or in its caller, and pass the answer as an argument"
        yield report(RULE, body, query, f"`{asked}` {answer}", note=note, help=advice)


def _answer(asked: str) -> tuple[str, str]:
    """What is wrong with the answer to a question: the text of an expression such as `x.is_leaf` or `id(x)`."""
    if ".__class__" in asked:
        return _ANSWERS["type"]
    function, call, _ = asked.partition("(")
    last = function.rpartition(".")[2]
    if last.endswith("_compiling"):
        return _COMPILING
    if last in _ANSWERS:
        return _ANSWERS[last]
    asks_for_attribute = last in {"getattr", "hasattr"} or (not call and last not in _AUTOGRAD)
    return _ATTACHED if asks_for_attribute else _UNGUARDED


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
