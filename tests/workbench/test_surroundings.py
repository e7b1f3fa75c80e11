"""What may be wrong around the extension: each is said in one message, and nothing breaks."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.workbench.code_server import write_settings
from tests.workbench.driving import COMPILING, Workbench, plain
from tests.workbench.interpreters import bare, old
from tests.workbench.projects import SCALED, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workbench.conftest import Open, Serve


def the_message(workbench: Workbench, words: str) -> str:
    """The one message that was shown, whatever it said of progress before; it holds some words."""
    expect(workbench.notification(re.compile(words, re.IGNORECASE))).to_have_count(1, timeout=COMPILING)
    expect(workbench.notification()).to_have_count(1)
    (message,) = workbench.all_notifications()
    return message


def test_interpreter_without_our_packages(open_workbench: Open, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    settings = {"nonstrict.interpreter": [str(bare(tmp_path / "bare"))], "nonstrict.importStrategy": "fromEnvironment"}
    workbench = open_workbench(project, settings)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    assert workbench.all_notifications() == []


def test_the_nonstrict_of_the_environment(open_workbench: Open, project: Path, tmp_path: Path):
    """A project that pins a version of nonstrict gets that one."""
    write(project, scaled=SCALED)
    workbench = open_workbench(project, {"nonstrict.importStrategy": "fromEnvironment"})
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)


def test_interpreter_without_torch(open_workbench: Open, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project, {"nonstrict.interpreter": [str(bare(tmp_path / "bare"))]})
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    expect(workbench.lens("1 finding")).to_have_text("1 finding")
    titles = [plain(title) for title in workbench.quick_fixes(9, 16).all_inner_texts()]
    assert not [title for title in titles if title.startswith(("Confirm", "Show FX"))], titles
    workbench.page.keyboard.press("Escape")
    workbench.run("nonstrict: Confirm File")
    message = the_message(workbench, "torch")
    assert str(tmp_path / "bare") in message
    assert "choose an interpreter" in message
    expect(workbench.status()).to_have_attribute("aria-label", re.compile("nonstrict · no torch"))
    # The first row of the list that a click opens is what helps.
    workbench.status().locator("a").click()
    rows = workbench.page.locator(".quick-input-widget:visible .monaco-list-row")
    expect(rows.first).to_contain_text("Choose Interpreter")
    expect(rows.filter(has_text="Interpreter").last).to_contain_text(str(tmp_path / "bare"))
    workbench.page.keyboard.press("Enter")
    expect(workbench.page.locator(".settings-editor").get_by_text(str(tmp_path / "bare")).first).to_be_visible()


def test_interpreter_too_old(open_workbench: Open, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    python = old(tmp_path / "old", (3, 8, 20))
    workbench = open_workbench(project, {"nonstrict.interpreter": [str(python)]})
    workbench.open_file("scaled.py")
    message = the_message(workbench, r"needs Python 3\.10 or newer")
    assert str(python) in message
    assert "3.8.20" in message
    write_settings(project / ".vscode", {"nonstrict.interpreter": [sys.executable]})
    expect(workbench.squiggles("warning")).to_have_count(1)


def test_interpreter_that_is_not_there(open_workbench: Open, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project, {"nonstrict.interpreter": [str(tmp_path / "nowhere" / "python")]})
    workbench.open_file("scaled.py")
    assert str(tmp_path / "nowhere" / "python") in the_message(workbench, "cannot run")


def test_no_python_at_all(open_workbench: Open, serve: Serve, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    (tmp_path / "bin").mkdir()
    workbench = open_workbench(project, server=serve({"nonstrict.interpreter": []}, PATH=str(tmp_path / "bin")))
    workbench.open_file("scaled.py")
    assert "3.10" in the_message(workbench, "found no Python")


def test_path_that_names_no_server(open_workbench: Open, project: Path, tmp_path: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project, {"nonstrict.path": [str(tmp_path / "nowhere" / "nonstrict")]})
    workbench.open_file("scaled.py")
    assert str(tmp_path / "nowhere" / "nonstrict") in the_message(workbench, "cannot run")
    write_settings(project / ".vscode", {})
    expect(workbench.squiggles("warning")).to_have_count(1)


def test_server_that_does_not_start(open_workbench: Open, project: Path, tmp_path: Path):
    """Such as that of an environment in which a package is broken."""
    write(project, scaled=SCALED)
    server = tmp_path / "nonstrict"
    server.write_text('#!/bin/sh\n[ "$1" = version ] && echo "nonstrict 0.1.0" && exit\nexit 1\n', encoding="utf-8")
    server.chmod(0o755)
    workbench = open_workbench(project, {"nonstrict.path": [str(server)]})
    workbench.open_file("scaled.py")
    assert "nonstrict" in the_message(workbench, "did not start")
    expect(workbench.status()).to_have_attribute("aria-label", re.compile("nonstrict · failed"))
    workbench.status().locator("a").click()
    rows = workbench.page.locator(".quick-input-widget:visible .monaco-list-row")
    expect(rows.first).to_contain_text("Show Logs")


def test_read_only_workspace(open_workbench: Open, serve: Serve, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project, server=serve(read_only=project))
    workbench.open_file("scaled.py")
    workbench.press_lens("confirm")
    expect(workbench.lens("1 finding")).to_have_text("1 finding · 1 confirmed", timeout=COMPILING)
    assert workbench.all_notifications() == []
    workbench.go_to(9)
    workbench.run("nonstrict: Write Repro Script")
    assert str(project) in the_message(workbench, "read-only|cannot be written|cannot write")
    assert sorted(path.name for path in project.iterdir()) == ["pyproject.toml", "scaled.py"]
