"""Programs that are really compiled: what their runs say stands at the lines that are labelled, and at no others."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
#: All of them in one process, without the time that Inductor takes.
RUN_ALL = """\
import functools, glob, runpy, torch
torch.compile = functools.partial(torch.compile, backend="eager")
for path in sorted(glob.glob("p*.py")):
    runpy.run_path(path, run_name="__main__")
"""


@pytest.mark.torch
@pytest.mark.parametrize("elsewhere", [False, True], ids=["record", "import"])
def test_every_break_and_recompilation_stands_at_its_line(tmp_path: Path, elsewhere: bool):
    pytest.importorskip("torch")
    project, job, traces = tmp_path / "project", tmp_path / "job", tmp_path / "traces"
    for place in (project, job):
        shutil.copytree(PROGRAMS, place)
        (place / "nonstrict.toml").write_text("")
        (place / "run_all.py").write_text(RUN_ALL)
    nonstrict, program = [sys.executable, "-m", "nonstrict"], [sys.executable, "run_all.py"]
    if elsewhere:
        subprocess.run(
            program, cwd=job, env={**os.environ, "TORCH_TRACE": str(traces)}, check=True, capture_output=True
        )
        command = [*nonstrict, "import", str(traces), "--map", f"{job}={project}"]
    else:
        command = [*nonstrict, "record", "--compiled", "--", *program]
    told = subprocess.run(command, cwd=project, check=True, capture_output=True, text=True).stderr
    assert "Kept 30 compiled functions, 12 breaks, 33 recompilations; `nonstrict check` shows them.\n" in told
    options = ["--output-format", "json", "--exit-zero", "--no-cache"]
    checked = subprocess.run([*nonstrict, "check", *options], cwd=project, check=True, capture_output=True, text=True)
    assert seen(json.loads(checked.stdout)) == labelled()


def seen(found: list[dict[str, dict[str, int]]]) -> set[tuple[str, int, str]]:
    """The breaks and recompilations that were observed, by file and line."""
    return {
        (os.path.basename(str(one["filename"])), one["location"]["row"], kind_of(str(one["code"])))
        for one in found
        if one["sighting"] and one["sighting"]["happened"]
    }


def kind_of(code: str) -> str:
    return "BREAK" if code.startswith("NST7") else "RECOMPILE"


def labelled() -> set[tuple[str, int, str]]:
    return {
        (path.name, number, kind)
        for path in PROGRAMS.glob("p*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for kind in re.findall(r"expect: (BREAK|RECOMPILE)\(", line)
    }


def test_the_programs_have_labels():
    found = labelled()
    assert len({name for name, _, kind in found if kind == "BREAK"}) >= 6
    assert len({name for name, _, kind in found if kind == "RECOMPILE"}) >= 10
