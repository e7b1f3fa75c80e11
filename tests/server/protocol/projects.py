"""Small projects with real hazards, and what `nonstrict check` finds in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.oracle import Expected, Shown, checked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: Two files, findings in both; the line with most of them begins with characters of one to four bytes.
MODEL = """\
import torch

from helper import BIAS, shifted

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    "\U0001d494 é"; return shifted(x) * SCALE + BIAS


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x)
"""
HELPER = """\
import random

import torch

BIAS = torch.zeros(3)


def shifted(x):
    "\U0001f4a3"; print("shifting")
    return x + random.random()
"""
#: A marked function without findings, and one with a single one.
CLEAN = """\
import torch


@torch._dynamo.nonstrict_trace
def scaled(x, scale):
    return x * scale
"""
BAD = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x)


region(torch.ones(3))
"""


def write(root: Path, **files: str) -> Path:
    """A directory with Python files, by their names without ending."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return root


def expected(root: Path, path: Path, encoding: str) -> list[Shown]:
    """What an editor must show of a file, from a fresh check of the directory."""
    return as_shown(checked(root), path, encoding)


def as_shown(found: Sequence[Expected], path: Path, encoding: str) -> list[Shown]:
    """Those of the findings that an editor must show of a file, in order of place."""
    text = path.read_bytes().decode()
    here = [one.shown(text, encoding) for one in found if one.path == path]
    return sorted(here, key=lambda one: (one.start, one.code, one.end))
