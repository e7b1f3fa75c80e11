"""Compiled regions in a window: the lens above one, what `torch.compile` tells, the view of those of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.workbench.code_server import ROOT
from tests.workbench.driving import COMPILING, plain
from tests.workbench.projects import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open
    from tests.workbench.driving import Workbench

#: The graph breaks in row 7.
NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        print("between")
        return x * 2
"""
TRAINING = """\
import torch

from net import Net

net = torch.compile(Net())
net(torch.ones(3))
"""
#: A region without findings.
CALM = "import torch\n\n\n@torch.compile\ndef calm(x):\n    return x + 1\n"
TITLE = "2 graphs · 1 break · 1 warning | confirm"


def regions(workbench: Workbench) -> Locator:
    """The view of compiled regions."""
    workbench.run("Explorer: Focus on Compiled Regions View")
    pane = workbench.page.locator(".pane", has=workbench.page.locator(".pane-header", has_text="Compiled Regions"))
    expect(pane.first).to_be_visible()
    return pane.first


def test_a_region_in_the_editor(open_workbench: Open, project: Path):
    write(project, net=NET, training=TRAINING)
    workbench = open_workbench(project)
    workbench.open_file("training.py")
    expect(workbench.lens("2 graphs")).to_have_text(TITLE)
    words = plain(workbench.hover(workbench.word("net = torch.compile(Net())", "compile")).inner_text())
    assert "Net.forward" in words
    assert "net.py:7" in words
    workbench.leave_hover()
    workbench.open_file("net.py")
    expect(workbench.lens("2 graphs")).to_have_text(TITLE)


@pytest.mark.pictures
def test_a_break_in_the_editor(open_workbench: Open, project: Path):
    write(project, layers=(ROOT / "examples" / "layers.py").read_text(encoding="utf-8"))
    workbench = open_workbench(project)
    workbench.open_file("layers.py")
    expect(workbench.lens("nothing is compiled")).to_be_visible()
    rows = workbench.problems()
    workbench.expand(rows.filter(has_text="NST701"))
    expect(rows.filter(has_text="is compiled here")).to_have_count(1)
    workbench.picture("region", height=820)


def test_the_view_leads_to_a_break_and_follows_edits(open_workbench: Open, project: Path):
    write(project, net=NET, training=TRAINING)
    workbench = open_workbench(project)
    workbench.open_file("training.py")
    rows = regions(workbench).locator(".monaco-list-row")
    region = rows.filter(has_text="Net.forward").first
    expect(region).to_contain_text("net.py:5 · 2 graphs · 1 break · 1 warning")
    region.locator(".monaco-tl-twistie").click()
    for number in (1, 2):
        expect(rows.filter(has_text=f"graph {number}")).to_have_count(1)
    rows.filter(has_text="graph break").click()
    expect(workbench.tab("net.py")).to_be_visible()
    workbench.expect_cursor(7)
    workbench.type_at_end_of(7, "\nprint('again')")
    expect(region).to_contain_text("2 breaks")


def test_a_click_lists_what_a_region_reaches(open_workbench: Open, project: Path):
    write(project, net=NET, training=TRAINING)
    workbench = open_workbench(project)
    workbench.open_file("training.py")
    workbench.press_lens("2 graphs")
    rows = workbench.page.locator(".quick-input-widget:visible .monaco-list-row")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("NST701")
    expect(rows).to_contain_text("net.py:7")
    workbench.page.keyboard.press("Enter")
    expect(workbench.tab("net.py")).to_be_visible()
    workbench.expect_cursor(7)


def test_the_view_confirms_and_filters_by_keyboard(open_workbench: Open, project: Path):
    write(project, net=NET, training=TRAINING, calm=CALM)
    workbench = open_workbench(project)
    workbench.open_file("training.py")
    pane = regions(workbench)
    rows = pane.locator(".monaco-list-row")
    expect(rows).to_have_count(2)
    rows.filter(has_text="Net.forward").click()
    workbench.run("Explorer: Focus on Compiled Regions View")
    workbench.page.keyboard.press("Control+Enter")
    expect(rows.filter(has_text="Net.forward").first).to_contain_text("1 confirmed", timeout=COMPILING)
    workbench.run("nonstrict: Show Compiled Regions with Confirmed Findings")
    expect(rows.filter(has_text="calm")).to_have_count(0)
    expect(rows.filter(has_text="Net.forward").first).to_be_visible()
    workbench.run("nonstrict: Show Compiled Regions Observed in Runs")
    expect(pane).to_contain_text("No recorded run did what a finding says.")
    workbench.run("nonstrict: Show All Compiled Regions")
    expect(rows.filter(has_text="calm").first).to_be_visible()


def test_the_view_says_what_to_do_while_it_is_empty(open_workbench: Open, project: Path):
    write(project, plain="import torch\n\n\ndef double(x):\n    return x * 2\n")
    workbench = open_workbench(project)
    workbench.open_file("plain.py")
    expect(regions(workbench)).to_contain_text("was found in this workspace")
