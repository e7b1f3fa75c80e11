"""Verdicts about CUDA graphs, from the text of a program to the judgement, with a stand-in for the graphs."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.run import check
from nonstrict.confirm.arms import Limits
from nonstrict.confirm.programs import program_of
from nonstrict.confirm.session import Session
from nonstrict.confirm.suspects import suspect_of
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings
from tests.agent.arms.running import Runner
from tests.agent.arms.standing_graphs import GRAPHS, program

if TYPE_CHECKING:
    from nonstrict.confirm.judging import Judgement
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

KEEPING = """\
@torch.no_grad()
def predictions(batches):
    found = []
    for batch in batches:
        found.append(step(batch))
    return torch.stack(found)


def main():
    predictions([torch.full((2,), float(number), device=DEVICE) for number in range({number})])
"""

#: A copy in the place of what was kept last.
COPY = "found[-1] = found[-1]{part}.clone()"


def judged(project: Project, text: str, device: str = "cuda") -> tuple[dict[str, Judgement], list[dict[str, Any]]]:
    """The judgements of a program by rule, and the jobs that were run for them."""
    project.write("graphs.py", GRAPHS)
    text = program(text)
    path, root = str(project.write("model.py", text)), str(project.directory)
    found = check([path], default_settings(root))
    suspects = [s for n, d in enumerate(found.diagnostics) if (s := suspect_of(n, d, RULES, found.read)) is not None]
    made = program_of(path, text, root, {})
    assert made is not None
    runner = Runner(project)
    told = Session(runner, Limits(device=device), made).confirm(suspects)
    return {s.code: told[s.number].judgement for s in suspects}, runner.jobs


def test_results_that_replays_overwrite(project: Project):
    told, jobs = judged(project, KEEPING.format(number=5))
    assert told["NST807"].status.value == "confirmed"
    assert told["NST807"].evidence == "the result of call 2 reads as another after call 3: 2, then 4"
    assert [(one.backend, one.result) for one in told["NST807"].outcomes] == [("inductor", "overwritten")]
    captured = [(job["backend"], job.get("cached", True)) for job in jobs if job.get("captured")]
    assert captured == [("eager", True), ("inductor", False)]
    assert {job["device"] for job in jobs} == {"cuda"}


def test_what_is_copied_after_all_refutes(project: Project):
    append = "found.append(step(batch))"
    told, _ = judged(project, KEEPING.format(number=5).replace(append, f"{append}\n        {COPY.format(part='')}"))
    assert told["NST807"].status.value == "refuted"
    assert told["NST807"].evidence == (
        "CUDA graphs ran in 5 calls, and no result that the program keeps was overwritten"
    )


CONTAINED = """\
import collections

Out = collections.namedtuple("Out", "y")


@torch.compile(mode="reduce-overhead")
def held(x):
    y = torch.ops.standing.twice(x)
    return {made}


@torch.no_grad()
def predictions(batches):
    found = []
    for batch in batches:
        found.append(held(batch))
        {then}
    return found


def main():
    predictions([torch.full((2,), float(number), device=DEVICE) for number in range(5)])
"""


@pytest.mark.parametrize(
    ("made", "part"), [("[y]", "[0]"), ('{"y": y}', '["y"]'), ("Out(y)", ".y"), ('{"y": (y, [y])}', '["y"][1][0]')]
)
@pytest.mark.parametrize(("then", "status"), [(COPY, "refuted"), ("pass", "confirmed")])
def test_results_in_containers(project: Project, made: str, part: str, then: str, status: str):
    text = CONTAINED.replace("{made}", made).replace("{then}", then.format(part=part))
    told, _ = judged(project, text)
    assert (told["NST807"].status.value, told["NST807"].reason) == (status, ""), told["NST807"].evidence


def test_results_that_are_overwritten_by_nearly_the_same_numbers(project: Project):
    told, _ = judged(project, KEEPING.format(number=5).replace("float(number)", "1.0 + number * 1e-6"))
    assert told["NST807"].status.value == "confirmed"
    assert told["NST807"].evidence == "the result of call 2 reads as another after call 3"


def test_results_that_are_overwritten_by_the_same_numbers(project: Project):
    told, _ = judged(project, KEEPING.format(number=5).replace("float(number)", "1.0"))
    assert told["NST807"].status.value == "confirmed"
    assert told["NST807"].evidence == "the results of call 2 and of call 3 have the same memory"


def test_a_region_without_cuda_graphs_is_no_refutation(project: Project):
    text = KEEPING.format(number=5).replace("step(batch)", "plain(batch)")
    plain = '@torch.compile(mode="reduce-overhead")\ndef plain(x):\n    return x * 2\n\n\n'
    told, _ = judged(project, plain + text)
    assert (told["NST807"].status.value, told["NST807"].reason) == ("inconclusive", "no-cuda-graphs")


def test_two_calls_record_and_run_nothing(project: Project):
    told, _ = judged(project, KEEPING.format(number=2))
    assert (told["NST807"].status.value, told["NST807"].reason) == ("inconclusive", "few-runs")


def test_without_a_gpu_nothing_is_run_for_it(project: Project):
    told, jobs = judged(project, KEEPING.format(number=5), "cpu")
    assert (told["NST807"].status.value, told["NST807"].reason) == ("inconclusive", "needs-cuda")
    assert told["NST807"].evidence == "torch makes CUDA graphs on a GPU only"
    assert jobs == []


def test_without_a_gpu_the_rest_is_judged_as_ever(project: Project):
    text = dedent(KEEPING.format(number=5)) + dedent(
        """

        @torch.compile
        def noisy(x):
            print("here")
            return x + 1


        def second():
            noisy(torch.ones(2))
        """
    )
    told, jobs = judged(project, text, "cpu")
    assert told["NST807"].reason == "needs-cuda"
    assert told["NST701"].status.value == "confirmed"
    assert jobs
    assert not any(job.get("captured") for job in jobs)
