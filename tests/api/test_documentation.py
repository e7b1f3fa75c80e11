"""docs/api.md: its examples run, and print what it says."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
FENCE = re.compile(r"```(?P<info>\w+[^\n]*)\n(?P<text>.*?)```\n", re.DOTALL)


def fences() -> list[tuple[str, str]]:
    return [(found["info"], found["text"]) for found in FENCE.finditer(PAGE.read_text(encoding="utf-8"))]


def examples() -> list[object]:
    found: list[object] = []
    every = fences()
    for (info, code), (following, output) in itertools.pairwise(every):
        if info.startswith("python") and "file=" not in info:
            assert following == "text", f"an example without output:\n{code}"
            found.append(pytest.param(code, output, marks=[pytest.mark.torch] if "torch" in info else []))
    return found


def test_there_is_an_example_of_each_function():
    code = "".join(text for info, text in fences() if info.startswith("python"))
    assert {"check", "audit", "regions", "confirm", "explain"} <= set(re.findall(r"api\.(\w+)\(", code))


@pytest.mark.parametrize(("code", "output"), examples())
def test_the_example_prints_what_the_page_says(code: str, output: str, tmp_path: Path):
    for info, text in fences():
        if name := re.search(r"file=(\S+)", info):
            path = tmp_path / name[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert (run.stdout, run.stderr) == (output, "")
