"""Property tests draw the same examples in every run, whatever else the process imported; fresh seeds draw others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROPERTY = """\
import os

from hypothesis import given, strategies as st

if os.environ.get("WITH_CONSTANTS"):
    import constants


@given(st.integers(), st.text(), st.floats(), st.randoms(use_true_random=False))
def test_any(number, text, fraction, chance):
    with open(os.environ["DRAWN"], "a", encoding="utf-8", errors="surrogatepass") as file:
        file.write(f"{number!r} {text!r} {fraction!r} {chance.random()}\\n")
"""


def drawn(directory: Path, name: str, *options: str, **environment: str) -> str:
    """The examples of a run."""
    path = directory / name
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", *options]
    subprocess.run(
        [*command, f"--rootdir={directory}", str(directory / "test_property.py")],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{directory}", "DRAWN": str(path), **environment},
        capture_output=True,
        check=True,
    )
    return path.read_text(encoding="utf-8", errors="surrogatepass")


def test_runs_draw_the_same(tmp_path: Path):
    (tmp_path / "test_property.py").write_text(PROPERTY, encoding="utf-8")
    constants = "".join(f"A{number} = ({number * 7919 + 1_000_003}, 'text {number}')\n" for number in range(500))
    (tmp_path / "constants.py").write_text(constants, encoding="utf-8")
    first = drawn(tmp_path, "first", PYTHONHASHSEED="1")
    assert first.count("\n") >= 100
    assert drawn(tmp_path, "second", PYTHONHASHSEED="2", WITH_CONSTANTS="1") == first
    fuzzed = drawn(tmp_path, "third", "--hypothesis-profile=fuzz", "--hypothesis-seed=1", CI="true")
    other = drawn(tmp_path, "fourth", "--hypothesis-profile=fuzz", "--hypothesis-seed=2", CI="true")
    assert fuzzed not in (first, other)
