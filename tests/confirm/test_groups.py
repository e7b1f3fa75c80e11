"""Process groups that experiments make: who has one, and what nothing is concluded from with one."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.drivers import Driver
from nonstrict.confirm.groups import Groups
from nonstrict.confirm.judging import judge, unexplained
from nonstrict.confirm.programs import Schedule
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import LINE, SCALE, arms, call, error, failing, suspect, trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAIN = Schedule(Driver("function", "main", frozenset()))
GROUP = {"ranks": 2, "own": False}
ASKS = {**error("ValueError", "none", LINE), "asks_for_group": True}


def given(without: dict[str, Any], with_group: dict[str, Any]) -> bool:
    """Whether a schedule is given a group for what its eager runs show."""
    return Groups(lambda schedule: with_group if schedule.group else without).given(PLAIN).group


def test_a_program_that_asks_for_a_group_is_given_one():
    ran = trace(call(1.0), group=GROUP)
    assert given(trace(failing(ASKS)), ran)
    assert given(trace(stop={"kind": "raised", "error": ASKS}), ran)


def test_no_group_where_none_is_asked_for_or_it_does_not_help():
    asking, ran = trace(failing(ASKS)), trace(call(1.0), group=GROUP)
    assert not given(trace(failing(error("ValueError", "none", LINE))), ran)
    assert not given(trace(call(1.0)), ran)
    assert not given(asking, trace(failing(ASKS), group=GROUP))
    assert not given(asking, trace(group={"ranks": 0, "own": False}, failure="it cannot be made"))


def test_no_group_where_a_program_makes_its_own_in_any_run():
    asking, own = trace(failing(ASKS)), {"ranks": 2, "own": True}
    assert not given(asking, trace(call(1.0), group=own))
    assert not given({**asking, "group": {"ranks": 0, "own": True}}, trace(call(1.0), group=GROUP))
    shorter = PLAIN._replace(calls=1)
    traces = {(12, False): asking, (12, True): trace(group=own), (1, False): asking, (1, True): trace(group=GROUP)}
    groups = Groups(lambda schedule: traces[schedule.calls, schedule.group])
    assert [groups.given(one).group for one in (PLAIN, shorter)] == [False, False]


CAPTURED = suspect(experiment=Experiment.CHANGE, code="NST104", subject=SCALE)
CHANGED = {"between": {"SCALE": ["1", "2"]}}
EAGER = [call(1.0), call(2.0, **CHANGED)]


def test_numbers_prove_nothing_with_a_group_that_was_made():
    stale = [call(1.0), call(1.0, **CHANGED)]
    assert judge([CAPTURED], arms(EAGER, stale))[0].status is Status.CONFIRMED
    told = judge([CAPTURED], arms(EAGER, stale, group=GROUP))[0]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "group")
    assert told.outcomes[0].detail == "its numbers come from a fake process group"


def test_errors_and_effects_prove_what_they_do_without():
    refused = suspect()
    raising = [failing(error("Unsupported", "no such thing", LINE))]
    assert judge([refused], arms([call(1.0)], raising, group=GROUP))[0].status is Status.CONFIRMED
    telling = suspect("NST201", experiment=Experiment.EFFECT)
    told = judge([telling], arms([call(1.0, out="a\n")], [call(1.0)], group=GROUP))[0]
    assert told.status is Status.CONFIRMED


def test_what_differs_in_numbers_is_no_finding_of_its_own():
    probe = suspect("NST402")
    assert unexplained([], arms([call(1.0)], [call(2.0)])) is not None
    assert unexplained([], arms([call(1.0)], [call(2.0)], group=GROUP)) is None
    assert judge([probe], arms([call(1.0)], [call(1.0)], group=GROUP))[0].status is Status.REFUTED


def test_a_draw_is_none_that_may_be_left_over_memory():
    drawn = suspect("NST301", experiment=Experiment.DRAW)
    eager = [call(1.0), call(2.0)]
    assert judge([drawn], arms(eager, [call(1.0), call(1.0)]))[0].status is Status.CONFIRMED
    assert judge([drawn], arms(eager, [call(1.0), call(1.0)], group=GROUP))[0].status is Status.INCONCLUSIVE


PROGRAM = """
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as fc
    from torch._dynamo import nonstrict_trace

    SCALE = {"value": 2.0}

    @nonstrict_trace
    def told(x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
        print("ranks:", dist.get_world_size(group))
        return fc.all_gather_tensor(x, 0, group)

    @nonstrict_trace
    def asking(x):
        print("rank:", dist.get_rank())
        return x + 1

    @nonstrict_trace
    def scaled(x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
        return x * SCALE["value"] * dist.get_world_size(group)

    @nonstrict_trace
    def without(x: torch.Tensor) -> torch.Tensor:
        return x * SCALE["value"]

    @torch.compiler.allow_in_graph
    def returned(x: torch.Tensor, group: dist.ProcessGroup):
        y = fc.all_to_all_single(x, None, None, group)

        def wait():
            return y

        return wait

    def tune():
        SCALE["value"] = 3.0
"""
OWN = """
    import torch
    import torch.distributed as dist
    from torch._dynamo import nonstrict_trace
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", rank=1, world_size=4, store=FakeStore())

    @nonstrict_trace
    def step(x):
        print("rank:", dist.get_rank())
        return x + 1

    @torch.compile(fullgraph=True)
    def region(x):
        return step(x)

    def main():
        region(torch.ones(3))
"""


def verdicts(nonstrict: Callable[..., subprocess.CompletedProcess[str]], *options: str) -> dict[str, dict[str, Any]]:
    """The verdicts of errors of `model.py`, by function."""
    done = nonstrict("check", "--confirm", "--output-format", "json", *options, "model.py")
    assert done.returncode in {0, 1}, done.stderr
    return {one["function"]: one["verdict"] for one in json.loads(done.stdout) if one["verdict"] is not None}


@pytest.mark.torch
def test_functions_that_need_a_group_are_run_with_one(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(dedent(PROGRAM))
    told = verdicts(nonstrict, "--write-repro", "scripts")
    assert {name: (one["status"], one["reason"]) for name, one in told.items()} == {
        "told": ("confirmed", None),
        "asking": ("confirmed", None),
        "scaled": ("inconclusive", "group"),
        "without": ("confirmed", None),
        "returned": ("confirmed", None),
    }
    made = {name for name, one in told.items() if one["driver"].endswith(" with a fake process group of 2 ranks")}
    assert made == {"told", "asking", "scaled", "returned"}
    assert "eager wrote 'ranks: 2'" in told["told"]["evidence"]
    for name in ("told", "asking"):
        script = told[name]["repro"]
        assert script, name
        done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert "AssertionError" in done.stderr


@pytest.mark.torch
def test_a_program_with_a_group_of_its_own_is_given_none(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(dedent(OWN))
    told = verdicts(nonstrict)["step"]
    assert told["driver"] == "`main()`"
    assert "eager wrote 'rank: 1'" in told["evidence"]


BLOCKED = """
import torch
import torch.distributed as dist


@torch.compiler.allow_in_graph
def gathered(x, group: dist.ProcessGroup):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x, group=group)

    def wait():
        return parts[0]

    return wait
"""


@pytest.mark.torch
def test_a_result_is_judged_alone_where_torch_refuses_the_body_first(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """torch 2.13 refuses `all_gather` with fake tensors; that the result is not a tensor is another matter."""
    (tmp_path / "model.py").write_text(dedent(BLOCKED))
    told = verdicts(nonstrict)["gathered"]
    assert (told["status"], told["source"]) == ("confirmed", "search")
    assert told["driver"] == "calls of what only returns the result of `gathered` with a fake process group of 2 ranks"
    assert "non-Tensor" in told["evidence"]
