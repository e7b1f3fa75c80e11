"""Beginning and end: what the server does with a client that dies, says nonsense, or leaves without a word."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.oracle import environment
from tests.server.processes import all_gone, descendants, process
from tests.server.protocol.projects import BAD, write
from tests.server.raw_client import RawClient

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
PULLS: dict[str, Any] = {"textDocument": {"diagnostic": {"dynamicRegistration": False}}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(write(tmp_path, bad=BAD))
    try:
        yield client
    finally:
        client.close()


def pull(client: RawClient, tmp_path: Path) -> list[str]:
    report = client.call("textDocument/diagnostic", {"textDocument": {"uri": (tmp_path / "bad.py").as_uri()}})
    return [item["code"] for item in report["items"]]


def test_a_session_from_its_beginning_to_its_end(client: RawClient, tmp_path: Path):
    start = {"line": 0, "character": 0}
    params = {"textDocument": {"uri": (tmp_path / "bad.py").as_uri()}, "position": start}
    assert client.reply(client.request("textDocument/hover", params)).code == -32002
    result = client.start([tmp_path], PULLS)
    assert result["serverInfo"]["name"] == "nonstrict"
    assert result["capabilities"]["positionEncoding"] == "utf-16"
    assert pull(client, tmp_path) == ["NST101"]
    assert client.stop() == 0


def test_leaving_without_shutdown_is_no_good_end(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS)
    client.notify("exit")
    assert client.process.wait(10) == 1


def test_nonsense_is_refused_and_survived(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS)
    assert client.reply(client.request("nonstrict/noSuchThing", {})).code == -32601
    assert client.reply(client.request("textDocument/diagnostic", {"textDocument": 5})).code == -32602
    assert client.reply(client.request("workspace/executeCommand", {"command": "nonstrict.noSuchThing"})).code == -32602
    client.notify("$/noSuchThing", {"what": 1})
    client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///gone.py", "version": 3}})
    text = {"uri": (tmp_path / "bad.py").as_uri(), "version": 2}
    outside = {"start": {"line": 900, "character": 7}, "end": {"line": 901, "character": 0}}
    client.notify("textDocument/didChange", {"textDocument": text, "contentChanges": [{"range": outside, "text": ""}]})
    client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///never/opened.py"}})
    assert pull(client, tmp_path) == ["NST101"]
    popups = [params for method, params in client.seen if method == "window/showMessage"]
    assert popups == []
    assert client.stop() == 0


def test_the_end_of_the_input_is_the_end(client: RawClient, tmp_path: Path):
    client.start([tmp_path], PULLS)
    assert pull(client, tmp_path) == ["NST101"]
    family = [process(client.process.pid), *descendants(client.process.pid)]
    assert client.process.stdin
    client.process.stdin.close()
    client.process.wait(10)
    assert all_gone(family)


def test_a_dead_client_takes_its_server_along(client: RawClient, tmp_path: Path):
    # Whoever holds our end of the pipe keeps it open: only the process that the server was told of ends.
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        client.start([tmp_path], PULLS, processId=editor.pid)
        assert pull(client, tmp_path) == ["NST101"]
        family = [process(client.process.pid), *descendants(client.process.pid)]
    finally:
        editor.kill()
        editor.wait()
    client.process.wait(20)
    assert all_gone(family)


def test_what_the_checked_code_prints_does_not_reach_the_client(client: RawClient, tmp_path: Path):
    write(tmp_path, conftest="print('Content-Length: 5')\nraise SystemExit(3)\n")
    client.start([tmp_path], PULLS)
    assert pull(client, tmp_path) == ["NST101"]
    assert client.stop() == 0


@pytest.mark.parametrize("arguments", [["--tcp", "none"], ["--stdio", "--tcp", "0"], ["--nonsense"]])
def test_wrong_arguments_are_refused(tmp_path: Path, arguments: list[str]):
    command = [sys.executable, "-m", "nonstrict", "server", *arguments]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment(), check=False, timeout=30)
    assert run.returncode == 2
    assert run.stdout == b""
    assert b"Traceback" not in run.stderr
