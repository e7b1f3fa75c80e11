"""What real runs did, in a window that is open while they are imported, or that starts them."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.confirm.runs.logs import Log, guard
from tests.server.oracle import environment
from tests.server.protocol.test_recording import MODEL as SCRIPT
from tests.workbench.driving import COMPILING, plain
from tests.workbench.projects import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open

MODEL = """\
import torch


@torch.compile
def step(x, n):
    y = x * n
    return y.cos()


step(torch.ones(3), 2)
"""


def test_a_run_is_shown_once_it_is_imported_and_fades_with_an_edit(open_workbench: Open, project: Path):
    write(project, model=MODEL)
    workbench = open_workbench(project)
    workbench.open_file("model.py")
    expect(workbench.lens("1 graph")).to_have_text("1 graph")

    path, traces = str(project / "model.py"), project.parent / "traces"
    log = Log(traces)
    log.started("0/0", path, 4, "step")
    log.done("0/0", "step")
    for number in range(1, 4):
        log.started(f"0/{number}", path, 4, "step")
        reason = guard(f"n == {number}", path, 6, "step", "y = x * n")
        log.done(
            f"0/{number}", "step", recompile_reason=reason, start_time=time.time(), entire_frame_compile_time_s=12.0
        )
    command = [sys.executable, "-m", "nonstrict", "import", str(traces)]
    subprocess.run(command, cwd=project, env=environment(), check=True, capture_output=True)

    expect(workbench.lens("1 graph")).to_have_text(
        "1 graph · 1 note | last run just now: 4 graphs · 3 recompilations · 36 s compiling"
    )
    expect(workbench.squiggles("info")).to_have_count(1)
    words = plain(workbench.hover(workbench.word("y = x * n", "n")).inner_text())
    assert "torch compiled `step` again" in words
    assert "observed just now, 3 recompilations, 36 s" in words
    workbench.leave_hover()

    workbench.type_at_end_of(7, " + 1")
    faded = workbench.page.locator(".squiggly-inline-unnecessary")
    expect(faded.first).to_be_visible()
    words = plain(workbench.hover(workbench.word("y = x * n", "n")).inner_text())
    assert "before the code was edited" in words
    workbench.leave_hover()
    workbench.type_at_end_of(6, " + 1")
    expect(faded).to_have_count(0)
    expect(workbench.squiggles("info")).to_have_count(0)


@pytest.mark.pictures
def test_a_script_is_traced_and_what_it_did_stands_in_the_code(open_workbench: Open, project: Path):
    write(project, train=SCRIPT)
    workbench = open_workbench(project)
    workbench.open_file("train.py")
    expect(workbench.lens("2 graphs")).to_have_text("2 graphs · 1 break · 1 warning | confirm")
    workbench.press_lens("trace")
    expect(workbench.lens("last run")).to_be_visible(timeout=COMPILING)
    expect(workbench.notification("`train.py`: kept 1 compiled function")).to_be_visible()
    said = plain(workbench.lens("last run").inner_text())
    assert re.search(
        r"\| last run just now: \d graphs · 1 break · \d recompilations? · [\d.]+ s compiling \| confirm", said
    )
    expect(workbench.line('print("between")')).to_contain_text("graph break 1/1")
    expect(workbench.line("y = x * n")).to_contain_text(re.compile(r"recompiled\s(once|\d\stimes)"))
    workbench.press_lens("last run")
    rows = workbench.page.locator(".quick-input-list .monaco-list-row")
    expect(rows.filter(has_text="predicted and observed just now")).not_to_have_count(0)
    workbench.page.keyboard.press("Escape")
    workbench.picture("run", height=520)


def test_a_trace_by_keyboard(open_workbench: Open, project: Path):
    write(project, train=SCRIPT)
    workbench = open_workbench(project)
    workbench.open_file("train.py")
    expect(workbench.lens("trace")).to_be_visible()
    workbench.type_at_end_of(8, "  # edited, and not saved")
    workbench.run("nonstrict: Trace Test or Script")
    expect(workbench.lens("last run")).to_be_visible(timeout=COMPILING)
    assert "not saved" in (project / "train.py").read_text(encoding="utf-8")
    workbench.go_to(6)
    workbench.run("nonstrict: Show Last Run of Function")
    rows = workbench.page.locator(".quick-input-list .monaco-list-row")
    expect(rows.first).to_contain_text("observed just now")
