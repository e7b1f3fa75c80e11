"""The example of `docs/models.md`, run as a user would: its files, its command, its output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
BLOCK = re.compile(r"^`([^`\n]+)`\n\n```\w+\n(.*?)```\n", re.MULTILINE | re.DOTALL)


def test_the_example_is_real(tmp_path: Path):
    blocks = dict(BLOCK.findall(PAGE.read_text("utf-8")))
    command = next(name for name in blocks if name.startswith("nonstrict "))
    for name, text in blocks.items():
        if name != command:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
    arguments = [sys.executable, "-m", *command.split(), "--no-cache"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == blocks[command], done.stderr
