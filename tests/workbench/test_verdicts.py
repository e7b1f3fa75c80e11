"""Verdicts beside the code: a mark in the gutter and what was seen behind the line, until the code is another."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest
from playwright.sync_api import expect

from tests.workbench.code_server import write_settings
from tests.workbench.driving import COMPILING, PATIENCE, plain
from tests.workbench.projects import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.workbench.conftest import Open
    from tests.workbench.driving import Workbench

#: Confirmed in row 12, two findings in row 17 that nothing reaches, and refuted in row 23.
JUDGED = """\
import json

import torch
from torch._dynamo import nonstrict_trace

SCALE = 2.0
OPTIONS = json.loads('{"capture_scalar_outputs": true}')


@nonstrict_trace
def scaled(x):
    return x * SCALE


@nonstrict_trace
def loaded(x, path):
    return x * SCALE + open(path)


@torch._dynamo.config.patch(**OPTIONS)
@torch.compile
def clipped(x):
    return x / x.max().item()


@torch.compile
def layer(x):
    return scaled(x)


def main():
    global SCALE
    x = torch.ones(3)
    layer(x)
    SCALE = 3.0
    layer(x)
    clipped(x)


if __name__ == "__main__":
    main()
"""
#: The last of these alone, which a configuration of torch that only a run tells makes one graph.
CLIPPED = """\
import json

import torch

OPTIONS = json.loads('{"capture_scalar_outputs": true}')


@torch._dynamo.config.patch(**OPTIONS)
@torch.compile
def clipped(x):
    return x / x.max().item()


clipped(torch.ones(3))
"""
CONFIRMED, OPEN, REFUTED = "x * SCALE", "open(path)", "x.max().item()"
SEEN = "call 2: eager 3, compiled 2, after `SCALE` changed from 2.0 to 3.0"
#: Themes that come with VS Code, the colour of what is confirmed in them, and that of what is stale.
THEMES = {
    "Default Dark Modern": ("dark", "rgb(241, 76, 76)", "rgb(143, 143, 143)"),
    "Default Light Modern": ("light", "rgb(196, 49, 75)", "rgb(107, 107, 107)"),
    "Default High Contrast": ("high-contrast", "rgb(255, 128, 128)", "rgb(192, 192, 192)"),
}

#: What stands behind the line at a height, with its colour and style; and the image beside it in the gutter.
_BEHIND = """(top) => {
    const line = [...document.querySelectorAll(".view-line")].find((one) => one.style.top === top);
    const parts = [...(line?.querySelectorAll("[class*='ced-']") ?? [])];
    const style = parts.map((part) => getComputedStyle(part, "::after")).find((one) => one.content.length > 6);
    return style === undefined ? ["", "", ""] : [style.content, style.color, style.fontStyle];
}"""
_MARK = """(top) => {
    const marks = [...document.querySelectorAll(".cgmr[class*='ced-']")];
    const mark = marks.find((one) => (one.style.top || one.parentElement.style.top) === top);
    const image = mark === undefined ? "" : getComputedStyle(mark).backgroundImage;
    return image.includes("base64,") ? atob(image.split("base64,")[1].split('"')[0]) : image;
}"""


class Seen(NamedTuple):
    """What is drawn for a line: the text behind it with its colour and style, and the image in the gutter."""

    text: str
    color: str
    style: str
    mark: str


def seen(workbench: Workbench, code: str) -> Seen:
    """What is drawn now for the line that ends with some code."""
    line = workbench.line(code)
    top = line.evaluate("line => line.style.top")
    text, color, style = workbench.page.evaluate(_BEHIND, top)
    return Seen(plain(text.strip('"').replace("\\", "")), color, style, workbench.page.evaluate(_MARK, top))


def wait_for(workbench: Workbench, code: str, condition: Callable[[Seen], bool], patience: int = PATIENCE) -> Seen:
    """What is drawn for a line as soon as it meets a condition."""
    end = time.monotonic() + patience / 1000
    while not condition(found := seen(workbench, code)):
        assert time.monotonic() < end, found
        workbench.page.wait_for_timeout(100)
    return found


def confirmed(open_workbench: Open, project: Path) -> Workbench:
    """A window with a file in which all was confirmed."""
    write(project, judged=JUDGED)
    workbench = open_workbench(project)
    workbench.open_file("judged.py")
    expect(workbench.squiggles("warning")).to_have_count(4)
    assert seen(workbench, CONFIRMED) == Seen("", "", "", "")
    workbench.run("nonstrict: Confirm File")
    for code, word in ((CONFIRMED, "confirmed"), (OPEN, "inconclusive"), (REFUTED, "refuted")):
        wait_for(workbench, code, lambda one, word=word: word in one.text, COMPILING)
    expect(workbench.lens("1 confirmed")).to_be_visible(timeout=COMPILING)
    return workbench


@pytest.mark.pictures
def test_verdicts_beside_the_code_in_every_kind_of_theme(open_workbench: Open, project: Path):
    workbench = confirmed(open_workbench, project)
    assert seen(workbench, CONFIRMED).text == f"confirmed · {SEEN}"
    assert seen(workbench, OPEN).text == "NST104, NST201 inconclusive · line not reached"
    refuted = seen(workbench, REFUTED)
    assert refuted.text.startswith("refuted · 3 calls on aot_eager and inductor agree with eager")
    # What is refuted has dots in place of its squiggle.
    expect(workbench.editor.locator(".squiggly-hint")).to_have_count(1)
    expect(workbench.squiggles("warning")).to_have_count(3)
    for theme, (name, color, _) in THEMES.items():
        write_settings(project / ".vscode", {"workbench.colorTheme": theme})
        # The colour of the text is the theme's at once, the mark is drawn anew.
        fill = f'fill="{_hex(color)}"'
        wait_for(workbench, CONFIRMED, lambda one, wanted=color, fill=fill: one.color == wanted and fill in one.mark)
        marks = {seen(workbench, code).mark for code in (CONFIRMED, OPEN, REFUTED)}
        assert len(marks) == 3
        assert all(mark.startswith("<svg") for mark in marks)
        workbench.picture(f"verdicts-{name}")


@pytest.mark.pictures
def test_a_verdict_is_dimmed_when_its_code_is_edited(open_workbench: Open, project: Path):
    write_settings(project / ".vscode", {"workbench.colorTheme": "Default Dark Modern"})
    workbench = confirmed(open_workbench, project)
    color, dimmed = THEMES["Default Dark Modern"][1:]
    fresh = seen(workbench, CONFIRMED)
    assert (fresh.color, fresh.style) == (color, "normal")
    workbench.type_at_end_of(12, " + 1")
    stale = wait_for(workbench, CONFIRMED, lambda one: "before the edit" in one.text)
    assert stale[:3] == (f"confirmed before the edit · {SEEN}", dimmed, "italic")
    assert "stroke-dasharray" in stale.mark
    expect(workbench.lens("1 confirmed")).to_have_count(0)
    workbench.picture("verdicts-edited")
    # Confirmed anew, it is there again; switched off, nothing is.
    workbench.press_lens("confirm")
    anew = wait_for(workbench, CONFIRMED, lambda one: one.text.startswith("confirmed · "), COMPILING)
    assert anew.text.startswith("confirmed · call 2: eager 4, compiled 3")
    write_settings(project / ".vscode", {"nonstrict.verdicts.enable": False})
    wait_for(workbench, CONFIRMED, lambda one: one == Seen("", "", "", ""))


def test_a_refuted_finding_of_a_closed_file_has_no_row_in_the_problems(open_workbench: Open, project: Path):
    write(project, clipped=CLIPPED, other="import torch\n")
    workbench = open_workbench(project, {"nonstrict.diagnosticMode": "workspace"})
    workbench.open_file("other.py")
    row = workbench.problems().filter(has_text="breaks the graph")
    expect(row).to_have_count(1)
    workbench.run("nonstrict: Confirm All Compiled Regions")
    expect(row).to_have_count(0, timeout=COMPILING)
    workbench.open_file("clipped.py")
    wait_for(workbench, REFUTED, lambda one: "refuted" in one.text)


def test_a_confirmed_finding_is_fixed_after_a_preview_and_confirmed_again(open_workbench: Open, project: Path):
    workbench = confirmed(open_workbench, project)
    workbench.fix(12, 17, "then confirm")
    expect(workbench.page.locator(".bulk-edit-panel")).to_be_visible()
    expect(workbench.line("def scaled(x, SCALE):")).to_have_count(0)
    workbench.apply_reviewed(files=1)
    told = "NST104 in `scaled`: confirmed → no finding left"
    expect(workbench.notification(told)).to_be_visible(timeout=COMPILING)
    expect(workbench.line("def scaled(x, SCALE):")).to_be_visible()
    wait_for(workbench, CONFIRMED, lambda one: one == Seen("", "", "", ""))


def _hex(color: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", color))
