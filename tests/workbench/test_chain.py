"""The way from a compiled region to the offending line: peeked at, and drawn for eyes, keyboards and screen readers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.workbench.code_server import write_settings
from tests.workbench.projects import HELPERS, MODEL, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open
    from tests.workbench.driving import Workbench

ROW, COLUMN = 12, 16
#: The places of the chain, from the region to what is known of the captured tensor.
PLACES = ["model.py:12", "model.py:14", "model.py:7", "model.py:9", "helpers.py:12", "helpers.py:8"]
#: What normal text needs by the guidelines for accessible content (WCAG 2, level AA).
CONTRAST = 4.5
#: Themes that come with VS Code, and the class that it gives pages then.
THEMES = {
    "Default High Contrast": "vscode-high-contrast",
    "Default Dark Modern": "vscode-dark",
    "Default Light Modern": "vscode-light",
}


def with_finding(open_workbench: Open, project: Path) -> Workbench:
    write(project, helpers=HELPERS, model=MODEL)
    workbench = open_workbench(project)
    workbench.open_file("helpers.py")
    expect(workbench.squiggles()).to_have_count(1)
    return workbench


def brightness(color: str) -> float:
    """The relative luminance of `rgb(...)`."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(text: Locator, ground: Locator) -> float:
    fill = "element => getComputedStyle(element).fill"
    dark, light = sorted(brightness(each.evaluate(fill)) for each in (text, ground))
    return (light + 0.05) / (dark + 0.05)


def test_peek_at_the_chain(open_workbench: Open, project: Path):
    workbench = with_finding(open_workbench, project)
    workbench.fix(ROW, COLUMN, "Peek at the call chain")
    rows = workbench.page.locator(".quick-input-widget:visible .monaco-list-row")
    expect(rows).to_have_count(len(PLACES))
    for place, row in zip(PLACES, rows.all(), strict=True):
        expect(row).to_contain_text(place)
    # Each place is shown while it is selected, and where the user was comes back.
    workbench.page.keyboard.press("ArrowDown")
    workbench.expect_cursor(14)
    workbench.page.keyboard.press("Escape")
    expect(rows).to_have_count(0)
    expect(workbench.tab("helpers.py")).to_have_attribute("aria-selected", "true")


@pytest.mark.pictures
def test_drawn_chain_in_every_kind_of_theme(open_workbench: Open, project: Path):
    workbench = with_finding(open_workbench, project)
    workbench.fix(ROW, COLUMN, "Draw the call chain")
    expect(workbench.tab("Chain: NST101")).to_be_visible()
    picture = workbench.webview()
    expect(picture.locator("svg .place")).to_have_text(PLACES)
    for name, kind in THEMES.items():
        write_settings(project / ".vscode", {"workbench.colorTheme": name})
        expect(picture.locator(f"body.{kind}")).to_be_visible()
        frame = picture.locator("svg .frame").first
        for text in ("text:not([class])", ".label", ".code", ".place"):
            assert contrast(picture.locator(f"svg {text}").first, frame) >= CONTRAST, (name, text)
    workbench.picture("chain", height=800)


def test_drawn_chain_by_keyboard(open_workbench: Open, project: Path):
    workbench = with_finding(open_workbench, project)
    workbench.fix(ROW, COLUMN, "Draw the call chain")
    nodes = workbench.webview().locator("svg [role=button]")
    expect(nodes).to_have_count(len(PLACES))
    for number, place in enumerate(PLACES, 1):
        expect(nodes.nth(number - 1)).to_have_accessible_name(re.compile(rf"^Step {number} of 6, .+{place}$"))
    workbench.page.keyboard.press("Tab")
    expect(nodes.first).to_be_focused()
    workbench.page.keyboard.press("Tab")
    workbench.page.keyboard.press("ArrowDown")
    expect(nodes.nth(2)).to_be_focused()
    workbench.page.keyboard.press("Enter")
    expect(workbench.tab("model.py")).to_be_visible()
    workbench.expect_cursor(7)
