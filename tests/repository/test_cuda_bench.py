"""The benchmark on a GPU: what it says without one, and of verdicts that are not what they should be."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import cuda
from bench.cuda import Budget, Found, Run, Target, placed, report, unlike, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]


def found(status: str, row: int = 3, reason: str = "") -> Found:
    return Found("a.py", row, "NST101", {"status": status, "reason": reason or None, "evidence": "a | b"})


def test_without_a_gpu_it_says_so():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("needs a machine without a GPU")
    command = [sys.executable, str(ROOT / "bench/cuda.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{cuda.NO_GPU}\n"


def test_programs_are_put_on_a_device(tmp_path: Path):
    (tmp_path / "a.py").write_text("import torch\nimport torch.nn\nx = torch.ones(2)\n", encoding="utf-8")
    (made,) = placed([tmp_path / "a.py"], tmp_path / "there", "cuda")
    text = made.read_text(encoding="utf-8")
    assert text == 'import torch; torch.set_default_device("cuda")\nimport torch.nn\nx = torch.ones(2)\n'
    (made,) = placed([tmp_path / "a.py"], tmp_path / "here", "cpu")
    assert made.read_text(encoding="utf-8").startswith("import torch\n")


def test_verdicts_that_are_not_those_of_the_cpu():
    here = Run(2.0, None, (found("confirmed"), found("refuted", 5), found("inconclusive", 7, "inputs")))
    there = Run(3.0, 10, (found("confirmed"), found("inconclusive", 5, "gpu-memory")))
    assert list(unlike(here, there)) == [
        "1 of 3 are those of the CPU, which took 2 s.\n",
        "- `a.py:5` NST101: refuted on the CPU, inconclusive: gpu-memory (a / b) there\n",
        "- `a.py:7` NST101: inconclusive: inputs on the CPU, no finding there\n",
    ]


def test_programs_that_raise_in_eager_mode_are_counted_apart():
    here = Run(2.0, None, (found("confirmed"), found("confirmed", 5), found("inconclusive", 7, "eager-raises")))
    raising = (found("inconclusive", 5, "eager-raises"), found("inconclusive", 7, "eager-raises"))
    assert list(unlike(here, Run(3.0, None, (found("confirmed"), *raising)))) == [
        "2 of 2 are those of the CPU, which took 2 s, 1 more raise in eager mode.\n"
    ]


def test_each_program_is_told_as_it_ends(monkeypatch: pytest.MonkeyPatch):
    given: list[tuple[Path, Target]] = []

    def confirmed(paths: Sequence[Path], target: Target, cache: Path, seconds: float) -> Run:
        (path,) = paths
        given.append((path, target))
        if len(given) == 3:
            raise subprocess.TimeoutExpired("nonstrict", seconds)
        ((code, status),) = [*cuda._EXPECTED.findall(path.read_text(encoding="utf-8"))][:1]
        reason = "eager-raises" if len(given) == 2 else None
        verdict = {"status": "inconclusive" if reason else status, "reason": reason, "evidence": "", "seconds": 2}
        return Run(2.0, 10 * len(given), (Found(path.name, 3, code, verdict),))

    monkeypatch.setattr(cuda, "confirmed", confirmed)
    monkeypatch.setattr(cuda, "_RUN", {"graphs": cuda.graphs})
    written: list[str] = []
    report(["graphs"], Target("cuda", "none"), Budget(600), written.append)
    assert {target for _, target in given} == {Target("cuda", "none")}
    lines = written[-1].splitlines()
    assert [line.split(" | ")[0] for line in lines if line.startswith("| ")][1:] == [
        f"| {path.stem}" for path, _ in given[:2]
    ]
    assert lines[-1] == "Stopped: it did not end in time."


def test_the_sandbox_is_that_which_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    commands: list[list[str]] = []

    def run(command: list[str], **named: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "[]", "")

    monkeypatch.setattr(cuda.subprocess, "run", run)
    monkeypatch.setattr(cuda.Memory, "_used", lambda self: None)
    cuda.confirmed([tmp_path / "a.py"], Target("cuda", "deny"), tmp_path, 9)
    (command,) = commands
    assert command[command.index("--isolation") + 1] == "deny"
    assert command[command.index("--device") + 1] == "cuda"


def test_verdicts_that_contradict_a_label():
    assert wrong(found("confirmed"), {"inductor": "same"}, labelled=False)
    assert wrong(found("refuted"), {"inductor": "error"}, labelled=True)
    assert not wrong(found("refuted"), {"inductor": "error"}, labelled=False)
    assert not wrong(found("inconclusive", reason="inputs"), {"inductor": "same"}, labelled=True)
    assert not wrong(found("confirmed"), {}, labelled=True)


def test_what_is_known_is_written_as_it_goes(monkeypatch: pytest.MonkeyPatch):
    def first(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
        yield f"on {target.device}\n"
        raise RuntimeError("no kernels")

    def second(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
        yield "one\n"
        raise subprocess.TimeoutExpired("nonstrict", 3)

    monkeypatch.setattr(cuda, "_RUN", {"first": first, "second": second})
    written: list[str] = []
    report(["first", "second"], Target("cpu"), Budget(600), written.append)
    assert written[0] == "\n## first\n\non cpu\n"
    assert written[-1].endswith(
        "Failed: RuntimeError: no kernels\n\n## second\n\none\n\nStopped: it did not end in time.\n"
    )
    written.clear()
    report(["first"], Target("cpu"), Budget(cuda.LEAST - 1), written.append)
    assert written == ["\n## first\n\nNot run: there was no time left.\n"]
    assert Budget(-time.monotonic()).left < 0
