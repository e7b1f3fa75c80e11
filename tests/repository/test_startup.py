"""What `nonstrict check` loads: never torch or the server's libraries, and no parser library without a marker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEVER = {"torch", "numpy", "pygls", "lsprotocol", "nonstrict_server", "nonstrict_mcp", "mcp"}
NOT_WITHOUT_MARKERS = {"jedi", "parso", "jsonschema"}
SCRIPT = """
import sys
from nonstrict.cli.main import main
options = ["--isolated", "--no-cache", "--exit-zero", "--output-format", "concise"]
sys.argv = ["nonstrict", "check", *options, *sys.argv[1:]]
try:
    code = main()
except SystemExit as stop:
    code = stop.code
if code:
    sys.exit(f"exit status {code}")
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def loaded_by_check(*paths: Path) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, paths)], capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split())


@pytest.fixture
def unmarked(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text("import torch\n\n\ndef step(x):\n    print(x)\n    return torch.relu(x)\n")
    (tmp_path / "notes.md").write_text("# Notes\n\n```python\nimport torch\n```\n")
    return tmp_path


def test_a_project_without_markers_loads_nothing_heavy(unmarked: Path):
    assert not loaded_by_check(unmarked) & (NEVER | NOT_WITHOUT_MARKERS)


def test_marked_programs_are_checked_without_torch():
    loaded = loaded_by_check(ROOT / "examples")
    assert "nonstrict" in loaded
    assert not loaded & NEVER
