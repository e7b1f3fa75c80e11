"""Regions shared out among arms, and the traces of these as one."""

from __future__ import annotations

from typing import Any

from nonstrict.confirm.shares import joined, shares_of
from tests.confirm.making import call, error, failing, trace


def calls_of(*names: str, **fields: Any) -> list[dict[str, Any]]:
    return [call(1.0, region=name, line=3, **fields) for name in names]


def test_each_region_is_in_one_share():
    eager = trace(*calls_of("a", "b", "a", "c", "d", "e"))
    shares = shares_of(eager, 2)
    assert shares == ((("a", 3), ("c", 3), ("e", 3)), (("b", 3), ("d", 3)))
    assert shares_of(eager, 16) == shares


def test_one_name_may_be_that_of_several_regions():
    first, second = (call(1.0, region="step", line=line) for line in (3, 9))
    eager = trace(first, second, *calls_of("a", "b"))
    assert sorted(region for share in shares_of(eager, 2) for region in share) == [
        ("a", 3),
        ("b", 3),
        ("step", 3),
        ("step", 9),
    ]


def test_few_regions_are_not_shared():
    assert shares_of(trace(*calls_of("a", "b", "c")), 8) == ()
    assert shares_of(trace(*calls_of("a", "b", "c", "d")), 1) == ()


def test_gradients_and_graphs_traced_ahead_are_not_shared():
    many = calls_of("a", "b", "c", "d")
    assert shares_of(trace(*many, gradients={"error": "no result requires a gradient"}), 2)
    assert shares_of(trace(*many, gradients={"of": {"w": None}}), 2) == ()
    assert shares_of(trace(*many, ahead=True), 2) == ()


def test_each_call_is_that_of_the_arm_that_compiled_its_region():
    arms = [trace(*calls_of("a", "b", "a", out=out), files=[out], numbers={out: {}}) for out in ("first", "second")]
    whole = joined(arms, [(("a", 3),), (("b", 3),)])
    assert [made["out"] for made in whole["calls"]] == ["first", "second", "first"]
    assert whole["files"] == list(whole["numbers"]) == ["first", "second"]


def test_it_ends_where_the_first_arm_ends():
    raised = {"kind": "raised", "error": error("Unsupported", "no", 8)}
    stopped = trace(failing(error("Unsupported", "no", 8), region="a", line=3), stop=raised)
    whole = joined([stopped, trace(*calls_of("a", "b", "a"))], [(("a", 3),), (("b", 3),)])
    assert [made["region"] for made in whole["calls"]] == ["a"]
    assert "error" in whole["calls"][0]
    assert whole["stop"] == raised


def test_it_ends_where_arms_go_separate_ways():
    whole = joined([trace(*calls_of("a", "b", "a")), trace(*calls_of("a", "a", "b"))], [(("a", 3),), (("b", 3),)])
    assert [made["region"] for made in whole["calls"]] == ["a"]


def test_a_failure_of_one_arm_is_that_of_all():
    failed = {"calls": [], "failure": "out of memory"}
    assert joined([trace(*calls_of("a")), failed], [(("a", 3),), (("b", 3),)]) is failed
