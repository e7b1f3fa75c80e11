"""Experiments out of the editor: the lens starts one, real compiles run, and the verdict is where the finding is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.workbench.driving import COMPILING, plain
from tests.workbench.projects import SCALED, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open


@pytest.mark.pictures
def test_lens_confirm_and_verdict(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.status()).to_have_attribute("aria-label", re.compile(r"nonstrict · torch \d+\.\d+"))
    workbench.press_lens("confirm")
    expect(workbench.lens("1 finding")).to_have_text("1 finding · 1 confirmed", timeout=COMPILING)
    words = plain(workbench.hover(workbench.word("return x * SCALE", "SCALE")).inner_text())
    assert "confirmed" in words
    assert "call 2: eager 3, compiled 2" in words
    workbench.leave_hover()
    expect(workbench.problems().filter(has_text="NST104").filter(has_text="confirmed")).to_have_count(1)
    workbench.picture("verdict")
