"""What calls tell the world: compared as a whole, where the agent keeps only its beginning."""

from __future__ import annotations

from typing import Any

import pytest

from nonstrict.confirm.judging import judge
from nonstrict.confirm.outputs import KEPT_BYTES, KEPT_EVENTS, KEPT_RECORDS
from nonstrict.findings import Output, Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, arms, call, suspect

LINES = "a line of a long text\n" * 1000
KEPT = LINES[:KEPT_BYTES]
PRINTS = suspect("NST201", Experiment.EFFECT, output=Output.STDOUT)
LOGS = suspect("NST201", Experiment.EFFECT, output=Output.LOG, number=1)
WARNS = suspect("NST201", Experiment.EFFECT, output=Output.STDERR, number=2)


def verdict(eager: dict[str, Any], compiled: dict[str, Any], one: Any = PRINTS) -> tuple[Status, str, str]:
    """What is said of two such calls: agreement in the first one, which is compiled, says nothing."""
    judgement = judge([one], arms([eager, eager], [compiled, compiled]))[one.number]
    return judgement.status, judgement.reason, judgement.evidence


def test_output_that_is_alike_as_far_as_it_is_kept_may_be_three_times_as_long():
    status, _, told = verdict(call(1.0, out=KEPT, bytes=len(LINES)), call(1.0, out=KEPT, bytes=3 * len(LINES)))
    assert status is Status.CONFIRMED
    assert f"and at least {KEPT.count(chr(10)) - 1} more lines ({len(LINES)} bytes)" in told
    assert f"({3 * len(LINES)} bytes)" in told


def test_long_output_of_one_length_agrees():
    long = call(1.0, out=KEPT, bytes=len(LINES))
    assert verdict(long, long)[0] is Status.REFUTED


def test_output_of_which_the_length_is_not_told_is_no_agreement():
    told = KEPT.replace("long text", "at 0x...")
    made = verdict(call(1.0, out=told, bytes=len(LINES)), call(1.0, out=told, bytes=3 * len(LINES)))
    assert made[:2] == (Status.INCONCLUSIVE, "differs-before")


@pytest.mark.parametrize("kept", [KEPT_RECORDS, KEPT_RECORDS - 1])
def test_log_records_that_fill_what_is_kept_are_no_agreement(kept: int):
    made = call(1.0, log=["INFO x"] * kept)
    expected = Status.INCONCLUSIVE if kept == KEPT_RECORDS else Status.REFUTED
    assert verdict(made, made, LOGS)[0] is expected


def test_events_that_were_not_kept_are_not_missing():
    opens = ["open", "a.txt", FILE, LINE + 1]
    eager = call(1.0, events=[opens, ["open", "b.txt", FILE, LINE]])
    compiled = call(1.0, events=[opens] * KEPT_EVENTS)
    one = suspect("NST201", Experiment.EFFECT, message="this opens a file only while ...")
    assert verdict(eager, compiled, one)[0] is Status.INCONCLUSIVE
    other = one._replace(lines=frozenset({LINE + 1}))
    made = judge([other], arms([eager], [compiled], lines=(LINE, LINE + 1)))[0]
    assert made.status is Status.CONFIRMED


def test_a_warning_is_not_lost_with_a_log_record():
    eager = call(1.0, log=["WARNING slow"], err="WARNING:root:slow\nm.py:8: UserWarning: twice\n")
    compiled = call(1.0, log=[], err="m.py:8: UserWarning: twice\n")
    made = judge([LOGS, WARNS], arms([eager], [compiled]))
    assert made[1].status is Status.CONFIRMED
    assert made[1].evidence == "call 1: eager wrote the log record 'WARNING slow', compiled no log record"
    assert (made[2].status, made[2].reason) == (Status.INCONCLUSIVE, "shared")


def test_an_event_of_another_line_is_no_proof_and_no_acquittal():
    eager = call(1.0, events=[["open", "a.txt", FILE, LINE + 10]])
    one = suspect("NST201", Experiment.EFFECT, message="this uses a socket only while ...")
    assert verdict(eager, call(1.0), one)[:2] == (Status.INCONCLUSIVE, "shared")
