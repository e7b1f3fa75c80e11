"""What agents and workspaces may send that is not meant well, or not meant at all: told in a sentence, and survived."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.mcp.conftest import ROOT, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mcp.conftest import Connect

MISTAKES = [
    ("check", {"paths": ["../secret.py"]}, "is not a file or folder in the workspace"),
    ("check", {"paths": ["/etc/passwd"]}, "is not a file or folder in the workspace"),
    ("check", {"paths": ["link.py"]}, "is not a file or folder in the workspace"),
    ("check", {"paths": ["folder/secret.py"]}, "is not a file or folder in the workspace"),
    ("check", {"paths": ["gone.py"]}, "is not a file or folder in the workspace"),
    ("check", {"paths": ["--help"]}, "`--help` is not a file or folder"),
    ("check", {"paths": ["a\0b"]}, "holds a NUL"),
    ("check", {"paths": [""]}, "A path is empty"),
    ("check", {"paths": ["x" * 5000]}, "too long"),
    ("check", {"paths": "bad.py"}, "list"),
    ("check", {"select": ["--fix"]}, "pattern"),
    ("check", {"select": ["NST999"]}, "no rule is called `NST999`"),
    ("check", {"limit": 0}, "greater than or equal to 1"),
    ("check", {"limit": "many"}, "integer"),
    ("audit", {"function": "bad.py"}, "names no function"),
    ("audit", {"function": "bad.py::gone"}, "has no function `gone`"),
    ("audit", {"function": "bad.py::--help"}, "has no function"),
    ("audit", {"function": "../secret.py::f"}, "is not a file or folder"),
    ("audit", {"function": "bad.py::scaled", "marker": "--x"}, "pattern"),
    ("audit", {"function": "bad.py::scaled", "marker": "compile_me"}, "compile_me"),
    ("audit", {}, "required"),
    ("regions", {"paths": ["../secret.py"]}, "is not a file or folder"),
    ("confirm", {"target": "../secret.py"}, "is not a file or folder"),
    ("confirm", {"target": "."}, "is a folder. Name a file."),
    ("confirm", {"target": "bad.py::gone"}, "no marked function or region `gone`"),
    ("confirm", {"target": "bad.py", "seconds": -1}, "greater than 0"),
    ("confirm", {"target": "bad.py", "seconds": 1e9}, "less than or equal to 600"),
    ("explain", {"rule": "NST999"}, "There is no rule `NST999`"),
    ("fix", {}, "fix"),
]


@pytest.fixture
def surrounded(workspace: Path) -> Path:
    (workspace.parent / "secret.py").write_text("TOKEN = 1\n", encoding="utf-8")
    (workspace / "link.py").symlink_to(workspace.parent / "secret.py")
    (workspace / "folder").symlink_to(workspace.parent)
    return workspace


@pytest.mark.asyncio
async def test_mistakes_are_told_and_nothing_ends(connect: Connect, surrounded: Path):
    async with connect() as client:
        for tool, arguments, message in MISTAKES:
            try:
                result = await client.call_tool(tool, arguments)
            except Exception as error:  # noqa: BLE001 - a mistake of the protocol is told by an exception
                text = str(error)
            else:
                assert result.is_error, (tool, arguments)
                text = said(result)
            assert message in text, (tool, arguments, text)
            assert "Traceback" not in text
        assert not (await client.call_tool("explain", {"rule": "NST101"})).is_error


@pytest.mark.asyncio
async def test_modules_of_the_workspace_are_not_imported(connect: Connect, workspace: Path):
    trap = f"import os\nopen({str(workspace / 'sprung')!r}, 'w').close()\nos._exit(9)\n"
    for name in ("json.py", "nonstrict.py", "argparse.py", "torch.py", "sitecustomize.py"):
        (workspace / name).write_text(trap, encoding="utf-8")
    async with connect() as client:
        result = await client.call_tool("check", {"paths": ["bad.py"]})
        assert not result.is_error, said(result)
        assert not (await client.call_tool("regions", {"paths": ["bad.py"]})).is_error
    assert not (workspace / "sprung").exists()


@pytest.mark.asyncio
async def test_a_broken_configuration_is_told(connect: Connect, workspace: Path):
    (workspace / "nonstrict.toml").write_text("select = 7\n", encoding="utf-8")
    async with connect() as client:
        told = (await client.call_tool("check", {})).structured_content
        assert [one["code"] for one in told["findings"]] == ["NST903"]
        assert told["failures"] == ["The configuration is not valid; nothing was checked."]
        result = await client.call_tool("regions", {})
        assert result.is_error
        assert "bad value for `select`" in said(result)


def children(marker: str) -> list[int]:
    """The processes whose command names something."""
    listed = subprocess.run(["ps", "-wweo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if marker in line]


SLOW = """\
import time

import torch

time.sleep(300)


@torch._dynamo.nonstrict_trace
def f(x):
    return x * time.time()


@torch.compile
def g(x):
    return f(x)


g(torch.ones(2))
"""


async def _until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.2)


@pytest.mark.torch
@pytest.mark.asyncio
async def test_experiments_end_when_they_are_cancelled(connect: Connect, workspace: Path):
    path = workspace / "slow.py"
    path.write_text(SLOW, encoding="utf-8")
    async with connect() as client:
        call = asyncio.ensure_future(client.call_tool("confirm", {"target": "slow.py"}))
        await _until(lambda: bool(children(f"-- {path}")))
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        await _until(lambda: not children(str(path)))
        assert not (await client.call_tool("explain", {"rule": "NST101"})).is_error


START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}
CALL = {"name": "confirm", "arguments": {"target": "slow.py"}}
LINES = [
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": START}),
    "no JSON at all",
    json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": CALL}),
]


@pytest.mark.torch
def test_nothing_is_left_when_the_client_goes(workspace: Path):
    path = workspace / "slow.py"
    path.write_text(SLOW, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "analysis"), str(ROOT / "server")))}
    start = "from nonstrict.cli.main import command; command()"
    server = subprocess.Popen(
        [sys.executable, "-c", start, "mcp", str(workspace)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    assert server.stdin is not None
    try:
        for line in LINES:
            server.stdin.write(f"{line}\n")
            server.stdin.flush()
        asyncio.run(_until(lambda: bool(children(f"-- {path}"))))
        server.stdin.close()
        server.wait(30)
        asyncio.run(_until(lambda: not children(str(path))))
    finally:
        with suppress(ProcessLookupError):
            server.send_signal(signal.SIGKILL)


def test_the_command_says_what_is_missing(tmp_path: Path):
    hidden = "import sys; sys.modules['mcp'] = None; import importlib.util as u; u.find_spec = lambda name: None; "
    start = f"{hidden}from nonstrict.cli.main import command; command()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "analysis"), str(ROOT / "server")))}

    def told(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", start, "mcp", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 2
        return done.stderr

    assert "`pip install 'nonstrict[mcp]'` installs it." in told()
    assert "gone is not a folder" in told("gone")
