"""The server's life: it comes back when it is killed, starts anew when told to, and ends with the window."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.server.processes import all_gone, wait_until
from tests.workbench.projects import SCALED, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.processes import Process
    from tests.workbench.code_server import CodeServer
    from tests.workbench.conftest import Open

SECONDS = 60


def servers(server: CodeServer, project: Path) -> list[Process]:
    """The language servers of a window: they run in its folder."""
    return [one for one in server.processes("launch.py") if os.path.realpath(f"/proc/{one.pid}/cwd") == str(project)]


def test_killed_server_comes_back(open_workbench: Open, common_server: CodeServer, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    (first,) = servers(common_server, project)
    os.kill(first.pid, signal.SIGKILL)
    assert all_gone([first])
    assert wait_until(lambda: len(servers(common_server, project)) == 1, SECONDS)
    workbench.type_at_end_of(9, "  # nonstrict: ignore")
    expect(workbench.squiggles("warning")).to_have_count(0)
    assert workbench.all_notifications() == []


def test_restart_command(open_workbench: Open, common_server: CodeServer, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    first = servers(common_server, project)
    assert len(first) == 1
    workbench.run("nonstrict: Restart Server")
    assert all_gone(first, SECONDS)
    assert wait_until(lambda: len(servers(common_server, project)) == 1, SECONDS)
    workbench.type_at_end_of(9, "  # nonstrict: ignore")
    expect(workbench.squiggles("warning")).to_have_count(0)


def test_nothing_is_left_of_a_closed_window(open_workbench: Open, common_server: CodeServer, project: Path):
    write(project, scaled=SCALED)
    workbench = open_workbench(project)
    workbench.open_file("scaled.py")
    expect(workbench.squiggles("warning")).to_have_count(1)
    left = servers(common_server, project)
    assert len(left) == 1
    workbench.page.goto("about:blank")
    assert all_gone(left, SECONDS)
