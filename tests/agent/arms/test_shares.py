"""Regions that are compiled by several arms: the verdicts are those of one arm that compiles them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.run import check
from nonstrict.confirm.arms import Limits
from nonstrict.confirm.programs import program_of
from nonstrict.confirm.session import Session
from nonstrict.confirm.suspects import suspect_of
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.agent.arms.running import Runner, result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

#: Six regions: two that go stale, one that loses what it prints, one that torch refuses, two that are as they should.
PROGRAM = """\
import torch
from torch._dynamo import nonstrict_trace

SCALE = 2.0
LEVEL = 1.0


@nonstrict_trace
def scaled(x):
    return x * SCALE


@nonstrict_trace
def lifted(x):
    return x + LEVEL


@nonstrict_trace
def told(x):
    print("told")
    return x - 1


@nonstrict_trace
def counted(x):
    return x * int(x.sum())


@nonstrict_trace
def doubled(x):
    return x * 2


@torch.compile(fullgraph=True)
def first(x):
    return scaled(x)


@torch.compile(fullgraph=True)
def second(x):
    return lifted(x)


@torch.compile(fullgraph=True)
def third(x):
    return told(x)


@torch.compile(fullgraph=True)
def fourth(x):
    return counted(x)


@torch.compile(fullgraph=True)
def fifth(x):
    return doubled(x)


@torch.compile(fullgraph=True)
def sixth(x):
    return doubled(x) + 1


def main():
    global SCALE, LEVEL
    x = torch.ones(2)
    for region in (first, second, third, fifth, sixth):
        region(x)
    SCALE, LEVEL = 3.0, 2.0
    for region in (first, second, third, fifth, sixth):
        region(x)
"""
REFUSED = "    fourth(x)\n"
CAUGHT = "    try:\n        fourth(x)\n    except Exception:\n        pass\n    second(x)\n"


@pytest.mark.parametrize("end", ["", REFUSED, CAUGHT], ids=["all run", "refused", "caught"])
def test_verdicts_do_not_depend_on_how_regions_are_shared(project: Project, end: str) -> None:
    path = str(project.write("model.py", PROGRAM + end))
    found = check([path], default_settings(str(project.directory)))
    suspects = [s for n, d in enumerate(found.diagnostics) if (s := suspect_of(n, d, RULES, found.read)) is not None]
    program = program_of(path, PROGRAM + end, str(project.directory), {})
    assert program is not None
    told: list[list[Any]] = []
    for slots in (1, 3):
        runner = Runner(project)
        judged = Session(runner, Limits(backends=("aot_eager",), slots=slots), program).confirm(suspects)
        told.append([(s.code, s.marked_line, judged[s.number].judgement[:3]) for s in suspects])
        shared = [job for job in runner.jobs if job.get("only")]
        assert len(shared) == (0 if slots == 1 else len({str(job["only"]) for job in shared}))
        assert bool(shared) == (slots > 1)
    assert told[0] == told[1]
    assert {"NST104", "NST201"} <= {code for code, _, judgement in told[0] if judgement[0].value == "confirmed"}


@pytest.mark.parametrize("forging", ["", "inductor"])
def test_one_arm_that_forges_its_result_discredits_all(project: Project, forging: str) -> None:
    path = str(project.write("model.py", PROGRAM))
    found = check([path], default_settings(str(project.directory)))
    suspects = [s for n, d in enumerate(found.diagnostics) if (s := suspect_of(n, d, RULES, found.read)) is not None]
    program = program_of(path, PROGRAM, str(project.directory), {})
    assert program is not None
    session = Session(Runner(project, forging), Limits(), program)
    reasons = {told.judgement.reason for told in session.confirm(suspects).values()}
    assert (reasons == {"tampered"}) is bool(forging)
    assert bool(session.measured) is not bool(forging)


def test_what_is_not_asked_for_stays_eager(project: Project) -> None:
    (first,) = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line == "def first(x):"]
    calls = project.calls(PROGRAM, "aot_eager", only=[["first", first - 1]], calls=20)
    # The first region goes stale; the second one, like it, is not compiled.
    assert [result(call) for call in calls if call["region"] == "first"] == [[2, 2], [2, 2]]
    assert [result(call) for call in calls if call["region"] == "second"] == [[2, 2], [3, 3]]
