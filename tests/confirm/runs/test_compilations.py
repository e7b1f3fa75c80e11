"""What a run compiled, of its logs: at which lines of the project, for which reasons, how often."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.runs.compilations import observed
from nonstrict.confirm.runs.logs import read_logs
from nonstrict.confirm.runs.places import Project
from nonstrict.confirm.runs.told import sources_in
from tests.confirm.runs.logs import LOOP, Log, guard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nonstrict.confirm.runs.compilations import Observed
    from nonstrict.findings import Measured

MODEL = dedent(
    """
    import torch


    class Net:
        @torch.compile
        def step(self, x, lengths):
            y = x * self.scale
            z = y.item()
            return torch.cat(lengths) + z
    """
)
JOB = "/scratch/job7/repo/model.py"
RESUMED = "torch_dynamo_resume_in_step_at_9"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "model.py").write_text(MODEL)
    return project


def seen(root: Path, maps: Sequence[tuple[str, str]] | None = None) -> Observed:
    given = [("/scratch/job7/repo", str(root))] if maps is None else maps
    return observed(read_logs(str(root.parent / "traces")), Project(str(root), given))


def only(found: Observed) -> Measured:
    (region,) = found.regions
    return region


def test_breaks_and_what_is_resumed_belong_to_the_function(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.broke("0/0", JOB, 9, "step", "z = y.item()")
    log.done("0/0", "step")
    log.started("1/0", JOB, 9, RESUMED)
    log.done("1/0", RESUMED, graph_op_count=2)
    region = only(seen(root))
    assert (region.function, region.line, region.graphs, region.seconds) == ("Net.step", 6, (4, 2), 1.0)
    (broken,) = region.breaks
    assert broken.text == "Unsupported Tensor.item() call with capture_scalar_outputs=False (GB0124)"
    assert broken.told.startswith("Dynamo does not support tracing `Tensor.item()`")
    assert broken.hint.startswith("Set `torch._dynamo.config.capture_scalar_outputs = True`")
    assert [line[:2] for line in broken.lines] == [(str(root / "model.py"), 9)]
    assert region.fallbacks == ()


def test_a_function_that_torch_left_to_python(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.broke("0/0", JOB, 9, "step", "z = y.item()", LOOP)
    log.done("0/0", "step", graph_op_count=None, fail_type="Unsupported", has_guarded_code=False)
    (left,) = only(seen(root)).fallbacks
    assert (left.function, left.line, left.last, left.rest, left.at) == ("Net.step", 6, 10, False, 9)
    assert left.text == "graph break in loop (GB7000)"


def test_where_the_graph_must_not_break_there_is_no_traceback(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    reason = "Unsupported Tensor.item() call\n  Explanation: No.\n\n visit: https://x/gb/gb0124.html"
    log.done(
        "0/0",
        "step",
        fail_type="Unsupported",
        fail_reason=reason,
        fail_user_frame_filename=JOB,
        fail_user_frame_lineno=9,
    )
    (broken,) = only(seen(root)).breaks
    assert (broken.text, broken.raises, broken.lines[-1].line) == ("Unsupported Tensor.item() call (GB0124)", True, 9)


def test_another_error_is_no_break(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.done("0/0", "step", fail_type="BackendCompilerFailed", fail_reason="backend='bad' raised:\nValueError: no")
    region = only(seen(root))
    assert (region.breaks, region.skipped) == ((), "BackendCompilerFailed: backend='bad' raised:")


def test_guards_are_counted_by_what_they_ask_of(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.done("0/0", "step")
    code = "return torch.cat(lengths) + z"
    for number in range(1, 4):
        reason = guard(f"len(lengths) == {number}", JOB, 10, "step", code, f"0/{number - 1}")
        # The first one is a text, later ones a list, the latest code first.
        reasons = reason if number == 1 else [reason, guard("len(lengths) == 0", JOB, 10, "step", code)]
        if number < 3:
            log.started(f"0/{number}", JOB, 6, "step")
            log.done(f"0/{number}", "step", recompile_reason=reasons)
        else:
            # What is over the limit has no name.
            log.done(f"0/{number}", None, recompile_reason=reasons, fail_type="Unsupported", graph_op_count=None)
    region = only(seen(root))
    (again,) = region.again
    assert (again.guard, again.sources, again.times, again.limit) == ("len(lengths) == 3", (("lengths",),), 2, True)
    assert again.lines[-1].line == 10
    assert (region.graphs, region.later) == ((4,), 2)


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("0/0: tensor 'x' size mismatch at index 1. expected 8, actual 9", 8),
        ("0/0: self.scale == 0.4  # y = x  # job7/repo/model.py:8 in step", 8),
        ("0/0: ___check_type_id(lengths, 123)", 10),
        ("0/0: GLOBAL_STATE changed: grad_mode ", 6),
    ],
)
def test_a_guard_without_a_line_is_laid_at_what_it_asks_of(root: Path, reason: str, line: int):
    log = Log(root.parent / "traces")
    log.started("0/1", JOB, 6, "step")
    log.done("0/1", "step", recompile_reason=reason)
    (again,) = only(seen(root)).again
    assert again.lines[-1].line == line


@pytest.mark.parametrize(
    ("guard", "sources"),
    [
        ("not G['history']", [("history",)]),
        ("G['__import_pkg_dot_config'].scale == 2", [("scale",)]),
        ("self._modules['body'].steps[0] == 3", [("self", "body", "steps", "0")]),
        ("2 <= x.size()[1] <= 4096", [("x",)]),
        ("___stack0 == 5011.7", []),
        ("BACKEND_MATCH failure: torch.compile detected different backend callables. New: _X", [("torch.compile",)]),
        ("Cache line invalidated because L['x'] got deallocated", [("x",)]),
    ],
)
def test_what_a_guard_asks_of(guard: str, sources: list[tuple[str, ...]]):
    assert list(sources_in(guard)) == sources


def test_what_a_library_compiles_is_laid_at_the_line_that_calls_it(root: Path):
    log = Log(root.parent / "traces")
    library = "/venv/lib/site-packages/torch/optim/sgd.py"
    log.started("0/0", library, 105, "step", (JOB, 8, "step"))
    log.done("0/0", "step")
    log.started("1/0", library, 105, "step")
    log.done("1/0", "step")
    region = only(seen(root))
    assert (region.function, region.path, region.line) == ("step", str(root / "model.py"), 8)


def test_ranks_agree_and_processes_add_up(root: Path):
    reason = guard("x == 1", JOB, 8, "step", "y = x * self.scale")
    for name in ("rank", "process"):
        for number in range(2):
            folder = root.parent / "traces" / name
            log = Log(folder, number if name == "rank" else None, f"{name}{number}")
            log.started("0/1", JOB, 6, "step")
            log.done("0/1", "step", recompile_reason=reason)
        found = observed(
            read_logs(str(root.parent / "traces" / name)), Project(str(root), [("/scratch/job7/repo", str(root))])
        )
        times = [again.times for one in found.regions for again in one.again]
        assert (times, found.ranks) == (([1], 2) if name == "rank" else ([2], 0))


def test_other_code_than_is_here_is_not_spoken_of(root: Path):
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.broke("0/0", JOB, 9, "step", "z = y.tolist()")
    log.done("0/0", "step", recompile_reason=guard("x == 1", JOB, 8, "step", "y = x * 2"))
    found = seen(root)
    assert (only(found).breaks, only(found).again) == ((), ())
    assert {line for _, line in found.unlike} == {8, 9}


def test_without_a_mapping_one_is_proposed(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(root)
    log = Log(root.parent / "traces")
    log.started("0/0", JOB, 6, "step")
    log.done("0/0", "step")
    project = Project(str(root))
    assert observed(read_logs(str(root.parent / "traces")), project).regions == ()
    assert project.suggestion() == "--map /scratch/job7/repo=."
