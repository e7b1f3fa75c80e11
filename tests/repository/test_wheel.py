"""What is installed holds all that the program reads beside its modules."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    files = {
        path.relative_to(ROOT / "analysis").as_posix()
        for path in (ROOT / "analysis").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - held == set()
    assert {"nonstrict/report/page/page.js", "nonstrict/schemas/settings.json", "nonstrict/py.typed"} <= files
