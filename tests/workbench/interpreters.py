"""Interpreters as users have them: without our packages, without torch, or too old."""

from __future__ import annotations

import os
import sys
import venv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def bare(folder: Path) -> Path:
    """A virtual environment with nothing in it; its interpreter."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    return folder / "bin" / "python"


def old(folder: Path, version: tuple[int, int, int]) -> Path:
    """An interpreter that says it is an older one, since those are not to be had everywhere."""
    python = bare(folder)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "old.pth").write_text(f"import sys; sys.version_info = {(*version, 'final', 0)}\n", encoding="utf-8")
    return python


def leaving_a_trace(folder: Path, trace: Path) -> Path:
    """A program in the place of an interpreter that leaves a file wherever it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "python"
    script.write_text(f'#!/bin/sh\necho "$@" >>"{trace}"\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script
