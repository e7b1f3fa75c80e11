"""The sentences of verdicts."""

from __future__ import annotations

import pytest

from nonstrict.confirm import evidence
from nonstrict.confirm.traces import Divergence
from nonstrict.findings import Outcome
from nonstrict.rules.expectation import Channel
from tests.confirm.making import FILE, LINE, SCALE, call, suspect, trace

ONE = [Outcome("aot_eager", "silent-wrong", "call 2: eager 3, compiled 2")]


@pytest.mark.parametrize(
    ("divergence", "text"),
    [
        (Divergence(Channel.VALUES, 1, "3", "2"), "call 2: eager 3, compiled 2"),
        (Divergence(Channel.ERROR, 0, "no error", "Unsupported: x"), "does not compile: Unsupported: x"),
        (
            Divergence(Channel.ERROR, 0, "no error", "Unsupported: x", lines=((FILE, 3), (FILE, LINE))),
            f"does not compile: Unsupported: x (line {LINE})",
        ),
        (
            Divergence(Channel.ERROR, 0, "KeyError: a", "Unsupported: x"),
            "eager raises KeyError: a; compiled does not compile: Unsupported: x",
        ),
        (Divergence(Channel.ERROR, 0, "KeyError: a", "no error"), "eager raises KeyError: a, compiled does not"),
        (
            Divergence(Channel.GRADIENTS, 0, "1", "2", paths=("W",)),
            "gradient of `W`: eager 1, compiled 2",
        ),
        (Divergence(Channel.OUTPUT, 0, "'a'", "nothing"), "call 1: eager wrote 'a', compiled nothing"),
        (
            Divergence(Channel.LEAK, 0, "values", "a tensor of the tracer", paths=("LOG[0]",)),
            "call 1: `LOG[0]` holds a tensor of the tracer afterwards",
        ),
        (
            Divergence(Channel.EVENTS, 0, "open once", "open never", lines=((FILE, LINE),)),
            f"call 1: eager open once, compiled open never (line {LINE})",
        ),
        (
            Divergence(Channel.STATE, 0, "int 0 -> int 1", "unchanged", paths=("<grad mode>",)),
            "call 1: `grad mode` in eager: int 0 -> int 1; compiled: unchanged",
        ),
    ],
)
def test_each_kind_of_divergence(divergence: Divergence, text: str):
    assert evidence.short(divergence) == text


def test_long_errors_are_cut():
    told = evidence.short(Divergence(Channel.ERROR, 0, "no error", "Unsupported: " + "x" * 5000 + "\nsecond line"))
    assert len(told) < 260
    assert told.endswith("...")


@pytest.mark.parametrize(
    ("between", "text"),
    [
        ({"SCALE": ["int 2", "int 3"]}, "`SCALE` changed from 2 to 3"),
        ({"SCALE": ["tensor float32 [3] a", "tensor float32 [3] b"]}, "`SCALE` changed"),
        ({"SCALE": [None, "int 3"]}, "`SCALE` changed"),
        ({"<grad mode>": ["True", "False"]}, "`grad mode` changed"),
        ({"A": ["int 1", "int 2"], "SCALE": ["bool True", "bool False"]}, "`SCALE` changed from True to False"),
        ({"A": ["int 1", "int 2"], "B": ["1", "2"], "C": ["1", "2"]}, "`A` changed from 1 to 2 and `B` changed"),
    ],
)
def test_what_changed_before(between: dict[str, list[str | None]], text: str):
    divergence = Divergence(Channel.VALUES, 1, "3", "2")
    eager = trace(call(2.0), call(3.0, between=between))
    told = evidence.sentence(divergence, suspect(subject=SCALE), eager, ONE)
    assert told == f"call 2: eager 3, compiled 2, after {text}"


def test_random_state_is_no_change_worth_telling():
    eager = trace(call(2.0), call(3.0, between={"<random state>": ["1", "2"]}))
    told = evidence.sentence(Divergence(Channel.VALUES, 1, "3", "2"), suspect(), eager, ONE)
    assert told == "call 2: eager 3, compiled 2"


@pytest.mark.parametrize(
    ("calls", "backends", "text"),
    [
        (1, ["aot_eager"], "1 call on aot_eager agree"),
        (2, ["aot_eager", "inductor"], "2 calls on aot_eager and inductor agree"),
        (2, ["a", "b", "c"], "2 calls on a, b and c agree"),
    ],
)
def test_agreement(calls: int, backends: list[str], text: str):
    assert evidence.agreement(trace(*[call(1.0)] * calls), backends) == f"{text} with eager"
