"""What set an experiment going, and what its first call was given, as a verdict tells it."""

from __future__ import annotations

import pytest

from nonstrict.confirm.drivers import Driver, Source
from nonstrict.confirm.programs import Schedule, program_of
from nonstrict.confirm.setting import driver_of, inputs_of, source_of


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("function", "main", "`main()`"),
        ("test", "test_step", "the test `test_step`"),
        ("guard", "the main guard", "the main guard"),
        ("block", "the top level", "the top level of the file"),
        ("calls", "scaled", "calls of `scaled`"),
        ("source", "scaled", "an example that calls `scaled`"),
    ],
)
def test_what_sets_a_run_going(kind: str, name: str, told: str):
    assert driver_of(Schedule(Driver(kind, name, frozenset()))) == told


def test_where_arguments_come_from():
    program = program_of("/project/other.py", "", "/project", {})
    direct = Schedule(Driver("calls", "scaled", frozenset(), given="[]", source=Source.RECORDS))
    assert source_of(direct) is Source.RECORDS
    main = Schedule(Driver("function", "main", frozenset()))
    assert source_of(main) is Source.PROGRAM
    assert source_of(main._replace(program=program)) is Source.CALLERS
    test = Schedule(Driver("test", "test_step", frozenset()))
    assert source_of(test) is source_of(test._replace(program=program)) is Source.TESTS


GIVEN = '[{"args": [{"kind": "list", "items": [{"kind": "process-group"}]}], "kwargs": {}}]'


def test_a_process_group_that_was_made_is_told():
    main = Driver("function", "main", frozenset())
    assert driver_of(Schedule(main, group=True)) == "`main()` with a fake process group of 2 ranks"
    calls = Driver("calls", "scaled", frozenset(), given=GIVEN)
    assert driver_of(Schedule(calls)) == "calls of `scaled` with a fake process group of 2 ranks"
    mesh = calls._replace(given=GIVEN.replace("process-group", "device-mesh"))
    assert driver_of(Schedule(mesh)) == "calls of `scaled` with a fake process group of 2 ranks"
    assert driver_of(Schedule(calls._replace(given='[{"args": [], "kwargs": {}}]'))) == "calls of `scaled`"


def test_what_the_first_call_was_given():
    inputs = {"x": "tensor float32 [2, 3] 0a1b", "n": "3", "<grad mode>": "True", "text": "'" + "a" * 90 + "'"}
    told = inputs_of({"calls": [{"inputs": inputs}, {"inputs": {"x": "4"}}]})
    assert told[:2] == ("x: tensor float32 [2, 3]", "n: 3")
    assert len(told) == 3
    assert told[2].endswith("…")


def test_a_run_without_calls_was_given_nothing():
    assert inputs_of({"calls": []}) == ()
    assert inputs_of({"calls": [{"inputs": {f"x{i}": "1" for i in range(9)}}]}) == tuple(f"x{i}: 1" for i in range(6))
