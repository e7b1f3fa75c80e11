"""The first minute in a project of fifteen files: the view of its regions, lines, hints, a run, by keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.workbench.code_server import write_settings
from tests.workbench.driving import COMPILING
from tests.workbench.projects import training

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open

THEMES = {"Default Dark Modern": "dark", "Default Light Modern": "light", "Default High Contrast": "high-contrast"}


@pytest.mark.pictures
def test_all_that_is_known_of_a_project_by_keyboard(open_workbench: Open, tmp_path: Path):
    folder = training(tmp_path / "training")
    workbench = open_workbench(folder)
    workbench.open_file("train.py")
    expect(workbench.lens("2 breaks")).to_be_visible()
    workbench.run("nonstrict: Trace Test or Script")
    expect(workbench.lens("last run just now")).to_be_visible(timeout=COMPILING)
    workbench.go_to(12)
    workbench.run("nonstrict: Confirm Function")
    expect(workbench.lens("confirmed")).to_be_visible(timeout=COMPILING)
    workbench.run("Explorer: Focus on Compiled Regions View")
    pane = workbench.page.locator(".pane", has=workbench.page.locator(".pane-header", has_text="Compiled Regions"))
    expect(pane.first.locator(".monaco-list-row").first).to_be_visible()
    # What is unfolded by the first one has no focus yet.
    workbench.run("Explorer: Focus on Compiled Regions View")
    workbench.page.keyboard.press("End")
    workbench.page.keyboard.press("ArrowRight")
    step = pane.first.locator(".monaco-list-row", has_text="step")
    expect(step).to_have_attribute("aria-expanded", "true")
    # More of the view for the picture.
    above = workbench.page.locator(".pane-header", has_text="Outline").bounding_box()
    assert above is not None
    workbench.page.mouse.move(above["x"] + 80, above["y"])
    workbench.page.mouse.down()
    workbench.page.mouse.move(above["x"] + 80, 160, steps=5)
    workbench.page.mouse.up()
    workbench.go_to(1)
    for theme, name in THEMES.items():
        write_settings(folder / ".vscode", {"workbench.colorTheme": theme})
        kind = {"dark": "vs-dark", "light": "vs", "high-contrast": "hc-black"}[name]
        expect(workbench.page.locator(f".monaco-workbench.{kind}")).to_be_visible()
        workbench.picture(f"project-{name}", height=700, side_bar=True)
