"""Golden output: every finding of the suites, the corpus and the examples is the one that was read and committed.

The suites and the corpus say what has to be found; these files also hold every message and column.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.golden import GOLDEN, GROUPS, SHOWN, differences, shortened, summary
from tests.suites.cases import name_within

_SCRIPT = Path(__file__).parents[2] / "scripts" / "golden.py"
_MESSAGE = re.compile(r" NST\d{3} (?:error|warning|note) (?P<message>.*)")
_READ = """# Read

import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * W
"""


@pytest.mark.parametrize("group", GROUPS)
def test_the_findings_are_those_that_were_committed(group: str):
    difference = differences(GOLDEN / f"{group}.txt", GROUPS[group]())
    advice = "`make golden` writes what is found now: read `git diff tests/golden` before you commit it."
    assert not difference, "\n".join([f"{group}: {summary(difference)}. {advice}", *shortened(difference)])


def test_a_difference_is_told_by_its_lines(tmp_path: Path):
    path = tmp_path / "golden.txt"
    path.write_text("a\nb\nc\n", encoding="utf-8")
    assert differences(path, ["a", "b", "c"]) == []
    assert differences(path, ["a", "c", "d"]) == ["-b", "+d"]
    assert summary(["-b", "+d"]) == "1 gone, 1 new"
    assert shortened([f"+{number}" for number in range(SHOWN + 3)])[SHOWN:] == ["... and 3 lines more"]


def test_files_outside_the_folder_have_a_name(tmp_path: Path):
    assert name_within(str(tmp_path / "folder" / "below" / "a.py"), tmp_path / "folder") == "below/a.py"
    assert name_within(str(tmp_path / "beside" / "a.py"), tmp_path / "folder") == "../beside/a.py"


def test_messages_are_short():
    """One clause each: what comes of it is a note, what to do is help."""
    lines = [line for group in GROUPS for line in (GOLDEN / f"{group}.txt").read_text(encoding="utf-8").splitlines()]
    lengths = [len(match["message"]) for line in lines if (match := _MESSAGE.search(line)) is not None]
    assert len(lengths) > len(lines) / 2
    assert statistics.median(lengths) <= 80
    assert max(lengths) <= 110


def test_there_is_one_file_per_group():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(GROUPS)


def _against(package: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(_SCRIPT), str(package), "--against", str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_packages_are_compared_with_what_was_kept(tmp_path: Path):
    package, kept = tmp_path / "package", tmp_path / "kept"
    package.mkdir()
    module = package / "scaled.py"
    module.write_text(_READ, encoding="utf-8")
    assert _against(package, kept).returncode == 0
    assert (kept / "package.txt").read_text(encoding="utf-8").startswith("scaled.py:10:16 NST101 error ")
    assert _against(package, kept).returncode == 0
    module.write_text(_READ.removeprefix("# Read\n"), encoding="utf-8")
    moved = _against(package, kept)
    assert moved.returncode == 1
    assert "1 gone, 1 new\n-scaled.py:10:16 NST101 error " in moved.stdout
    assert "\n+scaled.py:9:16 NST101 error " in moved.stdout
    assert _against(package, kept, "--store").returncode == 0
    assert _against(package, kept).returncode == 0
