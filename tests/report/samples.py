"""Diagnostics that show what output formats must cope with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import (
    Applicability,
    Diagnostic,
    LocatedEdit,
    LocatedFix,
    Location,
    RelatedLocation,
    Severity,
)
from nonstrict.report.context import Context, Lines
from nonstrict.text.source import Source, source_from_bytes

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
\t# a tab, wide and combining characters before the finding
\treturn ("日本é", x * SCALE)


def save(
    x,
    y,
):
    return x
"""
NOTEBOOK = """{"cells": [
 {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
 {"cell_type": "code", "metadata": {}, "source": ["import torch\\n", "print(torch)\\n"],
  "outputs": [], "execution_count": null}
], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
"""
OTHER = "from src.model import scaled\n\nSCALE = None\nprint(scaled(1))\n"
NAMES = {"src/model.py": MODEL, "lib/other.py": OTHER, "a b,c%.ipynb": NOTEBOOK}


def sources() -> dict[str, Source]:
    return {path: source_from_bytes(path, text.encode()) for path, text in NAMES.items()}


def edit(path: str, start: tuple[int, int], end: tuple[int, int], text: str, cell: int | None = None) -> LocatedEdit:
    return LocatedEdit(Location(path, *start, *end, cell), text)


def fix(title: str, applicability: Applicability, *edits: LocatedEdit) -> LocatedFix:
    return LocatedFix(title, applicability, edits)


def diagnostics() -> list[Diagnostic]:
    marker = RelatedLocation(Location("src/model.py", 6, 1, 6, 31), "`scaled` is marked here")
    elsewhere = RelatedLocation(Location("lib/other.py", 3, 1, 3, 6), "rebound here")
    return [
        Diagnostic(
            "NST201",
            "io-side-effect",
            Severity.WARNING,
            Location("a b,c%.ipynb", 2, 1, 2, 13, 2),
            "`print` runs while tracing: 100% lost,\nlater",
            function="show",
            marker="in-graph",
            fixes=(fix("Show it outside", Applicability.DISPLAY, edit("a b,c%.ipynb", (2, 1), (2, 13), "...", 2)),),
        ),
        Diagnostic(
            "NST101",
            "global-tensor-capture",
            Severity.ERROR,
            Location("src/model.py", 9, 20, 9, 25),
            '`SCALE` is a tensor <of> a module & "frozen"',
            "Pass `SCALE` as an argument.\nOr build it inside.",
            "Its first value stays & is kept",
            "scaled",
            "nonstrict",
            (marker, elsewhere),
            1,
            fixes=(
                fix(
                    "Pass `SCALE` as an argument",
                    Applicability.UNSAFE,
                    edit("lib/other.py", (4, 15), (4, 15), ", SCALE"),
                    edit("src/model.py", (7, 13), (7, 13), ", scale"),
                    edit("src/model.py", (9, 21), (9, 26), "scale"),
                ),
                fix(
                    "Compute it inside", Applicability.DISPLAY, edit("src/model.py", (9, 1), (9, 1), "\tSCALE = ...\n")
                ),
            ),
        ),
        Diagnostic(
            "NST902",
            "unused-suppression",
            Severity.NOTE,
            Location("src/model.py", 12, 5, 15, 2),
            "This spans lines",
            "Remove the comment.",
            fixes=(
                fix(
                    "Write it in one line",
                    Applicability.SAFE,
                    edit("src/model.py", (12, 10), (13, 5), ""),
                    edit("src/model.py", (13, 7), (14, 6), " y"),
                ),
            ),
        ),
    ]


def context(directory: Path | str = "/project", *, color: bool = False, counts: bool = True) -> Context:
    failures = ("gone.py: does not exist",)
    return Context(Lines(sources()), 12, failures, color, counts, str(directory))
