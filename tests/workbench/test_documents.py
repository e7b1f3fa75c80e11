"""Documents that the server makes: the page of a rule, and graphs that follow the cursor beside their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.workbench.driving import COMPILING
from tests.workbench.projects import ATTENTION, SCALED, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open


def test_explain_opens_the_page_of_the_rule(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    workbench.fix(9, 16, "Explain NST104")
    expect(workbench.tab("NST104")).to_be_visible()
    page = workbench.webview()
    expect(page.locator("h1")).to_contain_text("mutable-state-capture")
    expect(page.locator("h2", has_text="Why is this bad")).to_be_visible()
    expect(page.locator("pre code").first).to_be_visible()


@pytest.mark.pictures
def test_graph_beside_its_source_follows_the_cursor(open_workbench: Open, project: Path):
    write(project, attention=ATTENTION)
    workbench = open_workbench(project)
    workbench.open_file("attention.py")
    expect(workbench.lens("1 finding")).to_be_visible()
    workbench.go_to(10)
    workbench.run("nonstrict: Show FX Graph")
    operators = workbench.group("graph.py").locator(".view-line")
    expect(operators.filter(has_text="softmax").first).to_be_visible(timeout=COMPILING)
    workbench.expect_marked("graph.py", "softmax")
    workbench.go_to(4)
    workbench.expect_marked("graph.py", None)

    workbench.go_to(9)
    workbench.expect_marked("graph.py", "div")
    workbench.picture("graph")
    operators.filter(has_text="softmax").first.click()
    workbench.expect_marked("attention.py", "torch.softmax")
    workbench.page.keyboard.type("x")
    expect(workbench.page.locator(".monaco-editor-overlaymessage", has_text="read-only")).to_be_visible()
