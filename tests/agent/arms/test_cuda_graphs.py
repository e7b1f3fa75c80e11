"""What arms tell of CUDA graphs, and of results that the program keeps while they are overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nonstrict_agent.observe import kept_results
from nonstrict_agent.observe.kept_results import KeptResults
from tests.agent.arms.running import numbers
from tests.agent.arms.standing_graphs import GRAPHS, program

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

KEEPING = """\
@torch.no_grad()
def main():
    found = []
    for number in range(5):
        found.append(step(torch.full((2,), float(number), device=DEVICE)))
    return found
"""


def calls(project: Project, text: str, backend: str = "inductor", **fields: Any) -> list[dict[str, Any]]:
    """The calls of a program in an arm that is about CUDA graphs."""
    project.write("graphs.py", GRAPHS)
    return project.calls(program(text), backend, captured=True, gradients=False, **fields)


def overwritten(made: list[dict[str, Any]]) -> list[tuple[int, int, float, float]]:
    """Which call changed the result of which earlier one, from what to what."""
    return [
        (index, one["of"], numbers(one["was"])[0], numbers(one["now"])[0])
        for index, call in enumerate(made)
        for one in call.get("overwritten", ())
        if "was" in one
    ]


def test_results_in_a_list_are_overwritten_by_each_replay(project: Project):
    made = calls(project, KEEPING)
    assert [call["graphed"]["begun"] for call in made] == [1, 0, 0, 0, 0]
    assert [call["graphed"]["warmed"] for call in made] == [1, 0, 0, 0, 0]
    assert [call["graphed"]["recorded"] for call in made] == [0, 1, 0, 0, 0]
    assert [call["graphed"]["replayed"] for call in made] == [0, 0, 1, 1, 1]
    # What the last call did is not seen: the list is gone with `main`.
    assert overwritten(made) == [(2, 1, 2.0, 4.0), (3, 1, 4.0, 6.0), (3, 2, 4.0, 6.0)]


def test_what_lives_on_is_looked_at_to_the_end(project: Project):
    text = """\
    KEPT = []


    @torch.no_grad()
    def main():
        for number in range(5):
            KEPT.append(step(torch.full((2,), float(number), device=DEVICE)))
    """
    made = calls(project, text)
    assert [(index, of) for index, of, _, _ in overwritten(made)] == [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)]
    # Where the program calls on, and is followed no further.
    followed = calls(project, text, calls=4)
    assert [(index, of) for index, of, _, _ in overwritten(followed)] == [(2, 1), (3, 1), (3, 2)]


def test_results_of_equal_numbers_share_their_memory(project: Project):
    made = calls(project, KEEPING.replace("float(number)", "1.0"))
    found = [(index, one) for index, call in enumerate(made) for one in call["overwritten"]]
    assert found == [(2, {"of": 1, "shared": True}), *((3, {"of": of, "shared": True}) for of in (1, 2))]
    eager = calls(project, KEEPING.replace("float(number)", "1.0"), "eager")
    assert [call["overwritten"] for call in eager] == [[], [], [], [], []]


def test_nearly_equal_numbers_are_changed_and_share_their_memory(project: Project):
    made = calls(project, KEEPING.replace("float(number)", "1.0 + number * 1e-6"))
    found = [
        (index, one["of"], one["changed"], one["shared"])
        for index, call in enumerate(made)
        for one in call["overwritten"]
    ]
    assert found == [(2, 1, True, True), (3, 1, True, True), (3, 2, True, True)]


def test_changes_without_room_for_their_numbers_are_told(monkeypatch: pytest.MonkeyPatch):
    import torch

    monkeypatch.setattr(kept_results, "_MOST_BYTES", 100)
    kept, result, found = KeptResults(lambda path: path == __file__), torch.ones(2), []
    for number in range(5):
        record: dict[str, Any] = {}
        kept.before()
        result.add_(number)
        kept.after(record, ())
        result = kept.given(number, result, ()) if not number else result
        found.append(record)
    kept.before()
    told = [one for record in found for one in record["overwritten"]]
    assert [one["changed"] for one in told] == [True] * 4
    assert ["was" in one for one in told] == [True, True, False, False]


def test_eager_code_is_looked_at_in_the_same_way(project: Project):
    made = calls(project, KEEPING, "eager")
    assert [call.get("overwritten") for call in made] == [[], [], [], [], []]
    assert "graphed" not in made[0]


@pytest.mark.parametrize(
    "body",
    [
        "y = step(x)",
        "y = (\n            step(x)\n        )",
        "y = step(x).clone()\n        found.append(y)",
        "y = step(x)\n        found.append(y.sum())",
        "y = step(x)\n        found.append(y.cpu() + 1)",
        "step(x)",
        "y = step(x)\n        found.append(float(y[0]))",
    ],
)
def test_what_is_not_kept_is_not_looked_at(project: Project, body: str):
    text = "found = []\n\n\n@torch.no_grad()\ndef main():\n    for number in range(5):\n"
    text += f"        x = torch.full((2,), float(number), device=DEVICE)\n        {body}\n"
    assert overwritten(calls(project, text)) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("total = step(x) + step(x + 1)", [(3, 2), (5, 4)]),
        ("total = through(x) + through(x + 1)", [(3, 2), (5, 4)]),
        ("total = max(step(x).sum(), step(x + 1).sum())", []),
        ("total = step(x).sum() + step(x + 1).sum()", []),
        ("y = step(x); y = step(x + 1)", []),
        ("step(x); step(x + 1)", []),
    ],
)
def test_an_operand_that_waits_is_kept(project: Project, line: str, found: list[tuple[int, int]]):
    text = f"""\
    def through(x):
        return step(x)


    @torch.no_grad()
    def main():
        for number in range(3):
            x = torch.full((2,), float(number), device=DEVICE)
            {line}
    """
    assert [(index, of) for index, of, _, _ in overwritten(calls(project, text))] == found


def test_what_the_program_writes_itself_is_no_matter(project: Project):
    text = """\
    KEPT = []


    @torch.no_grad()
    def main():
        for number in range(2):
            KEPT.append(step(torch.full((2,), float(number), device=DEVICE)))
            KEPT[-1].add_(1)
            KEPT[0].mul_(3)
    """
    assert overwritten(calls(project, text)) == []


def test_views_are_kept_results_too(project: Project):
    text = """\
    KEPT = []


    @torch.no_grad()
    def main():
        for number in range(4):
            y = step(torch.full((2,), float(number), device=DEVICE))
            KEPT.append((y, y[0]))
    """
    assert [(index, of) for index, of, _, _ in overwritten(calls(project, text))] == [(2, 1), (3, 1), (3, 2)]


def test_results_with_gradients_are_not_replaced(project: Project):
    text = """\
    KEPT = []


    @torch.compile(mode="reduce-overhead")
    def trained(x):
        return x * 2


    def main():
        weight = torch.ones(2, requires_grad=True)
        for number in range(3):
            y = trained(weight)
            KEPT.append(type(y.grad_fn).__name__)
            y.sum().backward()
        print(sorted(set(KEPT)))
    """
    made = calls(project, text)
    assert [call["result"]["leaves"][0]["grad"] for call in made] == [True] * 3
    assert overwritten(made) == []


def test_what_is_no_tensor_of_torchs_is_changed_as_the_result_is(project: Project):
    text = """\
    @torch.compile(mode="reduce-overhead")
    def twice(x):
        y = torch.ops.standing.twice(x)
        return y, [y]


    def main():
        weight = torch.ones(2, requires_grad=True)
        for number in range(3):
            with torch.no_grad():
                y, (same,) = twice(torch.ones(2))
            assert y is same and not y._is_view()
            y.mul_(weight).sum().backward()
    """
    made = calls(project, text)
    assert len(made) == 3
    assert overwritten(made) == []


def test_results_that_torch_holds_too_are_unclear():
    import torch

    kept = KeptResults(lambda path: path == __file__)
    weight = torch.ones(2, requires_grad=True)
    held, free = weight * 2, weight * 2
    torch._C._set_cached_tensors_enabled(True)
    torch._C._add_cached_tensor(held)
    try:
        first, second, third = {}, {}, {}
        for number, record in enumerate((first, second, third)):
            kept.before()
            with torch.no_grad():
                held.data.add_(number)
                free.data.add_(number)
            kept.after(record, ())
            assert kept.given(number, (held, free) if not number else (), ()) == ((held, free) if not number else ())
        kept.before()
    finally:
        torch._C._remove_cached_tensor(held)
        torch._C._set_cached_tensors_enabled(False)
    assert first["overwritten"] == []
    for record in (second, third):
        unclear, told = record["overwritten"]
        assert unclear == {"of": 0, "unclear": True}
        assert (told["of"], "was" in told, "now" in told) == (0, True, True)


@pytest.mark.parametrize(
    ("answer", "deaf"), [("None", False), ("'cpu ops'", False), ("True", True), ("False", True), ("KeyError()", True)]
)
def test_a_torch_that_gives_no_reasons_for_what_it_leaves_out(project: Project, answer: str, deaf: bool):
    text = f"""\
    import sys

    from torch._inductor.scheduler import Scheduler


    def should_partition(self, node):
        if sys._getframe(1).f_code.co_name != "_partitioned":
            return None  # torch itself asks
        answer = {answer}
        if isinstance(answer, Exception):
            raise answer
        return answer


    Scheduler.should_partition = should_partition


    @torch.no_grad()
    def main():
        for number in range(3):
            step(torch.ones(2))
    """
    made = calls(project, text)
    assert [call["graphed"]["deaf"] for call in made] == [deaf, False, False]
    # What is counted goes on.
    assert [call["graphed"]["replayed"] for call in made] == [0, 0, 1]


def test_why_torch_runs_something_without(project: Project):
    text = """\
    WHY = (
        "skipping cudagraphs due to mutated inputs (1 instances). Found from : \\\\n "
        f'File "{__file__}", line 12, in step\\\\n    x.add_(1)'
    )


    @torch.compile(mode="reduce-overhead")
    def changed(x, why):
        return torch.ops.standing.skipped(x, why)


    def main():
        for number in range(2):
            changed(torch.ones(2), WHY)
        changed(torch.ones(2), "skipping cudagraphs due to skipping cudagraphs due to multiple devices: cpu")
        changed(torch.ones(2), "skipping cudagraph due to function 3 exceeding max re-recording limit (=128)")
    """
    made = calls(project, text)
    (reason,) = made[0]["graphed"]["skipped"]
    assert reason["text"] == "mutated inputs (1 instances)"
    assert reason["lines"] == [[str(project.directory / "model.py"), 12]]
    assert made[2]["graphed"]["skipped"] == [{"text": "multiple devices: cpu", "lines": []}]
    again = "function 3 exceeding max re-recording limit (=128)"
    assert made[3]["graphed"]["skipped"] == [{"text": again, "lines": []}]
    # One more where a graph is compiled: all of it is on the CPU, of which torch says nothing.
    assert [call["graphed"]["skips"] for call in made] == [2, 1, 2, 2]
    assert [call["graphed"]["told"] for call in made] == [1, 1, 1, 1]


@pytest.mark.parametrize("captured", [False, True])
def test_the_backend_that_makes_cuda_graphs_without_inductor(project: Project, captured: bool):
    text = """\
    @torch.compile(backend="cudagraphs")
    def step(x):
        return x * 2


    def main():
        step(torch.ones(2))
    """
    project.write("graphs.py", GRAPHS)
    (made,) = project.calls(program(text), "inductor", captured=captured, gradients=False)
    # That backend says so, and Inductor does not.
    told = [reason["text"] for reason in made.get("graphed", {}).get("skipped", ())]
    assert [text.partition(" (")[0] for text in told] == ["cpu device"] * captured


@pytest.mark.parametrize(
    ("pending", "before", "waiting"),
    [
        (True, "", [0, 1, 1]),
        (False, "", [0, 0, 0]),
        (True, "torch.compiler.cudagraph_mark_step_begin()", [0, 0, 0]),
    ],
)
def test_warm_ups_for_a_pending_backward_pass(project: Project, pending: bool, before: str, waiting: list[int]):
    text = f"""\
    @torch.no_grad()
    def main():
        graphs.MANAGER.is_recording = False
        graphs.MANAGER.running_forwards_with_pending_backwards = {pending}
        {before}
        for number in range(3):
            step(torch.ones(2))
    """
    made = calls(project, text)
    assert [call["graphed"]["warmed"] for call in made] == [1, 1, 1]
    assert [call["graphed"]["waiting"] for call in made] == waiting


def test_backward_passes_are_no_further_cuda_graphs(project: Project):
    text = """\
    from torch._inductor.cudagraph_trees import CompilationMode


    @torch.no_grad()
    def main():
        graphs.MANAGER.id_to_mode = {(2,): CompilationMode.BACKWARD, (3,): CompilationMode.FORWARD}
        step(torch.ones(2))
        step(torch.ones(3))
    """
    assert [call["graphed"]["begun"] for call in calls(project, text)] == [0, 1]


@pytest.mark.parametrize(("captured", "skips"), [(False, 0), (True, 1)])
@pytest.mark.parametrize(
    ("first", "later"), [("True", ""), ("False", "torch._inductor.config.triton.cudagraphs = True")]
)
def test_other_arms_make_none_whatever_the_program_sets(
    project: Project, captured: bool, skips: int, first: str, later: str
):
    text = f"""\
    import torch._inductor.config
    from torch._dynamo.utils import counters

    torch._inductor.config.triton.cudagraphs = {first}


    @torch.compile
    def plain(x):
        return x * 2


    def main():
        {later}
        plain(torch.ones(2))
        raise ValueError(counters["inductor"]["cudagraph_skips"])
    """
    project.write("graphs.py", GRAPHS)
    job = project.job(program(text), "inductor", captured=captured, gradients=False, cached=False)
    # On the CPU, torch leaves out what it is asked for.
    assert project.perform(job)["stop"]["error"]["links"][-1]["message"] == str(skips)


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ('mode="reduce-overhead"', True),
        ('mode="max-autotune"', True),
        ('options={"triton.cudagraphs": True}', True),
        ('mode="max-autotune-no-cudagraphs"', False),
        ('options={"triton.cudagraphs": False}', False),
        ("dynamic=False", False),
    ],
)
def test_cuda_graphs_are_made_where_the_program_asks_for_them(project: Project, options: str, asked: bool):
    text = f"""\
    @torch.compile({options})
    def plain(x):
        return x * 2


    def main():
        plain(torch.ones(2))
    """
    (made,) = calls(project, text)
    assert made["graphed"]["skips"] == asked
    # Elsewhere the backend is compared without them, as before.
    (plain,) = project.calls(program(text), "inductor")
    assert "graphed" not in plain
