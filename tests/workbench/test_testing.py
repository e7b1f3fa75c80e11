"""The Testing view: marked functions and compiled regions are tests, which experiments decide."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.server.protocol.test_experiments import CALM, MODEL
from tests.workbench.driving import COMPILING
from tests.workbench.projects import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open
    from tests.workbench.driving import Workbench


def rows(workbench: Workbench, text: str | re.Pattern[str]) -> Locator:
    """The rows of the view that say something."""
    return workbench.page.locator(".test-explorer .monaco-list-row", has_text=text)


@pytest.mark.pictures
def test_functions_are_tests(open_workbench: Open, project: Path):
    write(project, model=MODEL, calm=CALM)
    workbench = open_workbench(project)
    workbench.open_file("model.py")
    expect(workbench.lens("1 finding")).to_be_visible()
    workbench.run("Testing: Focus on Test Explorer View")
    expect(rows(workbench, "calm.py")).to_be_visible()
    workbench.run("Test: Run All Tests")
    for name, outcome in (("model.py", "failed"), ("calm.py", "passed")):
        icon = rows(workbench, name).locator(f".codicon-testing-{outcome}-icon")
        expect(icon.first).to_be_visible(timeout=COMPILING)
        workbench.expand(rows(workbench, name))
    outcomes = {"region": "failed", "scaled": "failed", "calm": "passed", "unknown": "skipped"}
    for name, outcome in outcomes.items():
        row = rows(workbench, re.compile(rf"^\s*{name}(?!\.)"))
        expect(row.locator(f".codicon-testing-{outcome}-icon").first).to_be_visible()
    panel = workbench.page.locator(".part.panel")
    expect(panel).to_contain_text("unknown: ")
    expect(panel).to_contain_text("model.py:8: NST104")
    workbench.picture("testing", side_bar=True)
