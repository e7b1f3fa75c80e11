"""Scripts that show a finding: they fail as predicted, for themselves, and pass once the program is fixed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.repro import file_name
from nonstrict.findings import Diagnostic, Location, Severity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHARED = "FACTOR = 1.0\n"
PROGRAM = textwrap.dedent("""\
    import torch
    from torch._dynamo import nonstrict_trace

    from .shared import FACTOR

    SCALE = 2.0
    SEEN = []
    WEIGHT = torch.ones(3)


    def set_scale(value):
        global SCALE
        SCALE = value


    @nonstrict_trace
    def scaled(x: torch.Tensor):
        # the scale of the moment
        return x * SCALE * FACTOR


    @nonstrict_trace
    def noted(x):
        SEEN.append(1)
        return x + 1


    def main():
        torch.compile(lambda x: noted(x))(torch.ones(2))


    # nonstrict: inputs(torch.ones(3))
    @nonstrict_trace
    def weighted(x):
        return x @ WEIGHT
    """)


def run(path: Path, backend: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, str(path), backend]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.torch
def test_scripts_fail_as_predicted_and_pass_once_fixed(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "shared.py").write_text(SHARED)
    (package / "model.py").write_text(PROGRAM)
    done = nonstrict("check", "--confirm", "--write-repro", "scripts", "package/model.py")
    assert done.returncode == 1, done.stderr
    scripts = {path.name[:6]: path for path in (tmp_path / "scripts").iterdir()}
    assert set(scripts) == {"NST101", "NST104", "NST203"}, done.stdout + done.stderr
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    expected = [
        ("NST104", "aot_eager", "call 3, result:"),
        ("NST104", "inductor", "call 3, result:"),
        ("NST203", "aot_eager", "SEEN:"),
        ("NST101", "inductor", "Please convert all Tensors to FakeTensors"),
    ]
    for code, backend, told in expected:
        failed = run(scripts[code], backend, elsewhere)
        assert failed.returncode == 1, failed.stdout + failed.stderr
        assert "AssertionError" in failed.stderr
        assert told in failed.stderr, (code, backend, failed.stderr)
    text = scripts["NST104"].read_text()
    assert "    # the scale of the moment\n    return x * SCALE * FACTOR" in text
    assert "WEIGHT" not in text
    fixed = tmp_path / "fixed.py"
    fixed.write_text(text.replace("x * SCALE * FACTOR", "x * FACTOR"))
    passed = run(fixed, "aot_eager", elsewhere)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "aot_eager does what eager code does" in passed.stdout


AHEAD = """\
import torch
from torch.fx.experimental.proxy_tensor import make_fx

scale = torch.tensor(1.0)


def scaled(x):
    return x * scale


def pointer(x):
    return x + x.data_ptr() % 2


x = torch.ones(2)
graph = make_fx(scaled, tracing_mode="fake", _allow_non_fake_inputs=True)(x)
graph.print_readable()
graph(x)
scale = torch.tensor(5.0)
graph(x)
try:
    make_fx(pointer, tracing_mode="fake")(x)
except RuntimeError:
    pass
"""


@pytest.mark.torch
def test_graphs_traced_ahead_of_time(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "ahead.py").write_text(AHEAD)
    done = nonstrict("check", "--confirm", "--write-repro", "scripts", "ahead.py")
    assert done.returncode == 1, done.stderr
    scripts = {path.name[:6]: path for path in (tmp_path / "scripts").iterdir()}
    assert set(scripts) == {"NST101", "NST401"}, done.stdout + done.stderr
    for code, told in (("NST101", "result:\n  eager: tensor([5., 5.])"), ("NST401", "Cannot access data pointer")):
        failed = run(scripts[code], "aot_eager", tmp_path)
        assert failed.returncode == 1, failed.stdout + failed.stderr
        assert told in failed.stderr, (code, failed.stderr)
    fixed = tmp_path / "fixed.py"
    fixed.write_text(scripts["NST101"].read_text().replace("x * scale", "x * 2"))
    passed = run(fixed, "aot_eager", tmp_path)
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_the_name_of_a_script_is_that_of_the_finding() -> None:
    where = Location("src/my-model.py", 12, 3, 12, 8)
    finding = Diagnostic("NST101", "global-tensor-capture", Severity.ERROR, where, "", function="Net.attend")
    assert file_name(finding) == "NST101_my_model_attend_12.py"


NOTES = """\
SEEN = []


def note(value):
    SEEN.append(value)


def raised(x):
    if x.sum() > 0:
        x = x + 1
    return x
"""
SEVERAL = """\
import torch
from torch._dynamo import nonstrict_trace

from notes import note, raised


@nonstrict_trace
def scored(x):
    note("scored")
    return raised(x)


@torch.compile(fullgraph=True)
def step(x):
    return scored(x)


def main():
    step(torch.ones(3))
    step(torch.ones(3))
"""


@pytest.mark.torch
def test_scripts_of_programs_in_which_others_are_not_in_the_way(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "notes.py").write_text(NOTES)
    (tmp_path / "model.py").write_text(SEVERAL)
    done = nonstrict("check", "--confirm", "--write-repro", "scripts", "model.py", "--output-format", "json")
    verdicts = {one["code"]: one["verdict"] for one in json.loads(done.stdout)}
    assert {code: one["status"] for code, one in verdicts.items()} == {"NST203": "confirmed", "NST402": "confirmed"}
    assert "judged without NST402" in verdicts["NST203"]["evidence"]
    scripts = {path.name[:6]: path for path in (tmp_path / "scripts").iterdir()}
    assert set(scripts) == {"NST203", "NST402"}
    text = scripts["NST203"].read_text()
    assert "# Changed for this: NST402 (" in text
    assert "TEXTS = {" in text
    assert "if x.sum() > 0:" not in text
    failed = run(scripts["NST203"], "aot_eager", tmp_path)
    assert failed.returncode == 1
    assert "SEEN" in failed.stderr
