"""What the packaged extension shows of a finding: underlined, listed, explained when pointed at, and mended."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.server.oracle import checked
from tests.workbench.code_server import write_settings
from tests.workbench.driving import COMPILING, plain
from tests.workbench.projects import (
    CALLING,
    CAPTURING,
    DISCARDING,
    HELPERS,
    MODEL,
    SCALED,
    write,
    write_notebook,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open

ROW, COLUMN = 9, 16


def test_squiggle_with_the_message_of_a_check(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    (finding,) = checked(project)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    words = plain(workbench.hover(workbench.word("return x * SCALE", "SCALE")).inner_text())
    assert finding.start == (ROW, COLUMN)
    assert finding.message in words
    assert finding.code in words
    workbench.leave_hover()


@pytest.mark.pictures
def test_problems_with_related_places(open_workbench: Open, project: Path):
    write(project, helpers=HELPERS, model=MODEL)
    (finding,) = checked(project)
    workbench = open_workbench(project)
    workbench.open_file("helpers.py")
    expect(workbench.squiggles()).to_have_count(1)
    rows = workbench.problems()
    expect(rows.filter(has_text=finding.code)).to_have_count(1)
    workbench.expand(rows.filter(has_text=finding.code))
    for place, row in finding.related:
        expect(rows.filter(has_text=place.name).filter(has_text=f"Ln {row},")).to_have_count(1)
    workbench.picture("problem-list")
    rows.filter(has_text="calls `scaled` here").first.dblclick()
    expect(workbench.tab("model.py")).to_be_visible()
    workbench.expect_cursor(9)


def test_hover_on_a_marker(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    words = plain(workbench.hover(workbench.word("@nonstrict_trace", "nonstrict_trace")).inner_text())
    assert "scaled, marked with" in words
    assert "1 finding" in words
    assert "Captures: SCALE (global variable)" in words


def test_quick_fix_and_undo(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    workbench.fix(ROW, COLUMN, "Disable NST104 for this line")
    expect(workbench.line("# nonstrict: ignore[NST104]")).to_be_visible()
    expect(workbench.squiggles("warning")).to_have_count(0)
    workbench.save()
    assert checked(project) == []
    workbench.page.keyboard.press("Control+Z")
    expect(workbench.squiggles("warning")).to_have_count(1)


def test_quick_fixes_come_first_then_experiments_then_explanations_then_suppressions(
    open_workbench: Open, project: Path
):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    expect(workbench.lens("confirm")).to_be_visible()
    titles = [plain(title) for title in workbench.quick_fixes(ROW, COLUMN).all_inner_texts()]
    assert titles[:8] == [
        "Pass `SCALE` as an argument (unsafe)",
        "Confirm `scaled`",
        "Show FX graph of `scaled`",
        "Explain NST104",
        "Peek at the call chain",
        "Draw the call chain",
        "Disable NST104 for this line",
        "Disable NST104 for this file",
    ]
    workbench.page.keyboard.press("Escape")
    workbench.fix(ROW, COLUMN, "Confirm `scaled`")
    expect(workbench.lens("1 finding")).to_have_text("1 finding · 1 confirmed", timeout=COMPILING)
    titles = [plain(title) for title in workbench.quick_fixes(ROW, COLUMN).all_inner_texts()]
    assert "Confirm `scaled`" not in titles
    assert titles[1] == "Pass `SCALE` as an argument (unsafe), then confirm"


def test_check_workspace_fills_the_problems_and_keeps_them_up_to_date(open_workbench: Open, project: Path):
    write(project, helpers=HELPERS, model=MODEL, scaled=SCALED)
    found = checked(project)
    workbench = open_workbench(project)
    workbench.open_file("model.py")
    expect(workbench.status()).to_have_attribute("aria-label", re.compile(r"nonstrict · torch \d+\.\d+"))
    workbench.run("nonstrict: Check Workspace")
    expect(workbench.notification(f"{len(found)} findings in 2 of 3 files.")).to_be_visible()
    rows = workbench.page.locator(".markers-panel .monaco-list-row")
    assert {one.path.name for one in found} == {"helpers.py", "scaled.py"}
    for one in found:
        expect(rows.filter(has_text=one.code)).to_have_count(1)
    # A closed file that another program mends has no findings any more, and a new server shows the others.
    write(project, scaled=SCALED.replace("x * SCALE", "x * 2.0"))
    expect(rows.filter(has_text="scaled.py")).to_have_count(0)
    workbench.run("nonstrict: Restart Server")
    expect(workbench.status()).to_have_attribute("aria-label", re.compile(r"nonstrict · torch \d+\.\d+"))
    expect(rows.filter(has_text="NST101")).to_have_count(1)


def test_check_workspace_without_a_server_is_a_task(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project, {"nonstrict.enable": False})
    workbench.open_file("scaled.py")
    workbench.run("nonstrict: Check Workspace")
    rows = workbench.page.locator(".markers-panel .monaco-list-row")
    expect(rows.filter(has_text="NST104")).to_have_count(1)
    expect(workbench.status()).to_have_count(0)


def test_quick_fix_in_two_files(open_workbench: Open, project: Path):
    write(project, capturing=CAPTURING, calling=CALLING)
    workbench = open_workbench(project)
    workbench.open_file("capturing.py")
    expect(workbench.squiggles("error")).to_have_count(1)
    workbench.fix(ROW, COLUMN, "Pass `SCALE` as an argument (unsafe)")
    expect(workbench.line("def scaled(x, SCALE):")).to_have_count(0)
    workbench.apply_reviewed(files=2)
    expect(workbench.line("def scaled(x, SCALE):")).to_be_visible()
    expect(workbench.squiggles("error")).to_have_count(0)
    workbench.run("File: Save All")
    workbench.open_file("calling.py")
    expect(workbench.line("return capturing.scaled(x, capturing.SCALE) + 1")).to_be_visible()
    workbench.run("File: Save All")
    expect(workbench.page.locator(".tabs-container .tab.dirty")).to_have_count(0)
    assert (project / "capturing.py").read_text(encoding="utf-8") == CAPTURING.replace("(x)", "(x, SCALE)")
    assert (project / "calling.py").read_text(encoding="utf-8") == CALLING.replace("d(x)", "d(x, capturing.SCALE)")
    assert checked(project) == []


def test_what_is_safe_is_fixed_on_save(open_workbench: Open, project: Path):
    write(project, discarding=DISCARDING)
    workbench = open_workbench(project, {"editor.codeActionsOnSave": {"source.fixAll.nonstrict": "explicit"}})
    workbench.open_file("discarding.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    workbench.type_at_end_of(1, "  # typed")
    workbench.save()
    expect(workbench.line("scaled = torch._dynamo.nonstrict_trace(scaled)")).to_be_visible()
    expect(workbench.squiggles("warning")).to_have_count(0)
    fixed = DISCARDING.replace("import torch\n", "import torch  # typed\n").replace("\ntorch._", "\nscaled = torch._")
    assert (project / "discarding.py").read_text(encoding="utf-8") == fixed


def test_a_notebook_is_fixed_on_save(open_workbench: Open, project: Path):
    write_notebook(project / "study.ipynb", *DISCARDING.split("\n\n\n"))
    on_save = {"notebook.source.fixAll.nonstrict": "explicit"}
    workbench = open_workbench(project, {"notebook.codeActionsOnSave": on_save})
    workbench.open_file("study.ipynb")
    expect(workbench.cells().locator(".squiggly-warning")).to_have_count(1)
    workbench.cells().first.click()
    workbench.page.keyboard.press("Control+S")
    expect(workbench.cells().locator(".squiggly-warning")).to_have_count(0)
    expect(workbench.page.locator(".tabs-container .tab.dirty")).to_have_count(0)
    assert "scaled = torch._dynamo.nonstrict_trace(scaled)" in (project / "study.ipynb").read_text(encoding="utf-8")


def test_typing_changes_what_is_found(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    workbench.type_at_end_of(ROW, " if len(x) else x  # nonstrict: ignore")
    expect(workbench.squiggles("warning")).to_have_count(0)
    expect(workbench.lens("1 finding")).to_have_count(0)
    assert "nonstrict: ignore" not in (project / "scaled.py").read_text(encoding="utf-8")


def test_notebook_cell(open_workbench: Open, project: Path):
    head, marker, rest = SCALED.partition("@nonstrict_trace")
    write_notebook(project / "study.ipynb", head, marker + rest)
    (finding,) = checked(project)
    assert finding.cell == 2
    workbench = open_workbench(project)
    workbench.open_file("study.ipynb")
    underlined = workbench.cells().locator(".squiggly-warning")
    expect(underlined).to_have_count(1)
    rows = workbench.problems()
    expect(rows.filter(has_text=finding.code)).to_have_count(1)


def test_settings_take_effect_at_once(open_workbench: Open, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    expect(workbench.lens("1 finding")).to_be_visible()
    write_settings(project / ".vscode", {"nonstrict.ignore": ["NST104"], "nonstrict.codeLens.enable": False})
    expect(workbench.squiggles("warning")).to_have_count(0)
    expect(workbench.editor.locator(".codelens-decoration")).to_have_count(0)
    write_settings(project / ".vscode", {})
    expect(workbench.squiggles("warning")).to_have_count(1)
    expect(workbench.lens("1 finding")).to_be_visible()


def test_each_root_has_its_own_configuration(open_workbench: Open, project: Path):
    left, right = (write(project / name, **{name: SCALED}) for name in ("left", "right"))
    (right / "nonstrict.toml").write_text('ignore = ["NST104"]\n', encoding="utf-8")
    place = project / "both.code-workspace"
    place.write_text(json.dumps({"folders": [{"path": left.name}, {"path": right.name}]}), encoding="utf-8")
    workbench = open_workbench(place)
    workbench.open_file("right.py")
    expect(workbench.lens("no findings")).to_be_visible()
    expect(workbench.squiggles("warning")).to_have_count(0)
    workbench.open_file("left.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
