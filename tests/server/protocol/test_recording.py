"""`trace`: a test or a script is run in the user's interpreter, and what torch compiled stands in the open document."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from nonstrict.confirm.recorded import DIRECTORY as INPUTS
from nonstrict.confirm.runs.store import DIRECTORY
from tests.server.protocol.profiles import CODE
from tests.server.protocol.projects import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

MODEL = """\
import torch


@torch.compile
def step(x, n):
    y = x * n
    print("between")
    return y.cos()


if __name__ == "__main__":
    for n in range(3):
        step(torch.ones(3), n)
"""
TESTS = """\
import torch

from model import step


class TestStep:
    def test_once(self):
        assert step(torch.zeros(3), 1).sum() == 3


def test_fails():
    assert step(torch.zeros(3), 1).sum() == 4


def unrelated():
    return 1
"""
UNRELATED = "def test_nothing():\n    assert True\n\n\nif __name__ == '__main__':\n    test_nothing()\n"
SLEEPER = MODEL.replace(
    "    for n", "    import os, time\n\n    open('pid', 'w').write(str(os.getpid()))\n    time.sleep(600)\n    for n"
)


async def lenses(editor: Editor, uri: str) -> dict[tuple[int, str], types.Command]:
    """The lenses of a document, by row and title."""
    asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_code_lens_async(asked)
    return {(one.range.start.line + 1, one.command.title): one.command for one in found or () if one.command}


async def until(editor: Editor, uri: str, row: int, title: str) -> types.Command:
    found = await lenses(editor, uri)
    for _ in range(300):
        if (row, title) in found:
            break
        await asyncio.sleep(0.1)
        found = await lenses(editor, uri)
    return found[row, title]


async def run(editor: Editor, command: types.Command) -> Any:
    asked = types.ExecuteCommandParams(command.command, command.arguments)
    return await editor.client.workspace_execute_command_async(asked)


@pytest.mark.parametrize(("name", "row", "told"), [("model.py", 11, "3 recompilations"), ("test_model.py", 7, "0 rec")])
async def test_a_run_is_shown_where_it_was_started(start: Start, tmp_path: Path, name: str, row: int, told: str):
    root = write(tmp_path / "project", model=MODEL, test_model=TESTS)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    model, uri = editor.open(root / "model.py"), editor.open(root / name)
    command = await until(editor, uri, row, "trace")
    answer = await run(editor, command)
    assert answer.startswith("Kept 1 compiled function, 1 break, ")
    titles = [title for _, title in await lenses(editor, model)]
    (last,) = [title for title in titles if title.startswith("last run")]
    assert last.startswith("last run just now: ")
    assert "· 1 break ·" in last
    assert any(one.name.startswith("model.py") for one in (root / INPUTS).iterdir())
    assert list((root / DIRECTORY).iterdir())
    assert (told.startswith("0")) == ("recompilation" not in last)
    shown = [one.message for one in editor.client.messages]
    assert f"nonstrict: `{'test_once' if row == 7 else name}`: {answer}" in shown


async def test_what_fails_is_told_and_kept_all_the_same(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, test_model=TESTS)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "test_model.py")
    await run(editor, await until(editor, uri, 11, "trace"))
    (message,) = [one.message for one in editor.client.messages if "exit status" in one.message]
    assert message.startswith("nonstrict: `test_fails` ended with exit status 1; the log holds its output. Kept 1 comp")
    assert any("assert" in one.message for one in editor.client.log_messages)
    assert list((root / DIRECTORY).iterdir())


async def test_tests_and_scripts_that_compile_nothing_have_no_such_lens(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, test_model=TESTS, test_other=UNRELATED)
    editor = await start(CODE, root, arguments=["--trusted-workspace"])
    uri = editor.open(root / "test_model.py")
    await until(editor, uri, 11, "trace")
    assert [row for row, title in await lenses(editor, uri) if title == "trace"] == [7, 11]
    assert await lenses(editor, editor.open(root / "test_other.py")) == {}


@pytest.mark.parametrize("arguments", [[], ["--untrusted-workspace"]])
async def test_nothing_is_run_in_a_workspace_that_is_not_trusted(start: Start, tmp_path: Path, arguments: list[str]):
    root = write(tmp_path / "project", model=MODEL)
    editor = await start(CODE, root, arguments=arguments)
    uri = editor.open(root / "model.py")
    await until(editor, uri, 4, "2 graphs · 1 break · 1 warning")
    assert not any(title == "trace" for _, title in await lenses(editor, uri))
    with pytest.raises(JsonRpcException, match="not trusted"):
        await run(editor, types.Command("", "nonstrict.trace", arguments=[uri, ""]))
    assert not (root / DIRECTORY).exists()


async def test_one_run_at_a_time_which_can_be_ended(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=SLEEPER)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    running = asyncio.ensure_future(run(editor, await until(editor, uri, 11, "trace")))
    stop = await until(editor, uri, 11, "tracing (cancel)")
    while not (root / "pid").exists() or not (root / "pid").read_text():
        await asyncio.sleep(0.1)
    with pytest.raises(JsonRpcException, match="`model\\.py` is running"):
        await run(editor, types.Command("", "nonstrict.trace", arguments=[uri, ""]))
    await run(editor, stop)
    assert await running == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int((root / "pid").read_text()), 0)
    await until(editor, uri, 11, "trace")


@pytest.mark.parametrize("arguments", [[], [3], ["file:///a.py", "test_a"], ["file:///a.py", {}]])
async def test_arguments_that_make_no_sense(start: Start, tmp_path: Path, arguments: list[Any]):
    editor = await start(CODE, write(tmp_path / "project", model=MODEL), arguments=["--trusted-workspace"])
    with pytest.raises(JsonRpcException) as raised:
        await run(editor, types.Command("", "nonstrict.trace", arguments=arguments))
    assert raised.value.code == -32602


def script(body: str) -> str:
    """A program with a region that notes its process, and then does something."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    noting = "    import os, subprocess, sys, time\n\n    open('pid', 'w').write(str(os.getpid()))\n"
    return MODEL.replace("    for n in range(3):\n        step(torch.ones(3), n)\n", noting + lines)


async def started(root: Path) -> int:
    while not (root / "pid").exists() or not (root / "pid").read_text():
        await asyncio.sleep(0.1)
    return int((root / "pid").read_text())


async def is_gone(process: int) -> bool:
    for _ in range(150):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.1)
    return False


async def test_a_run_ends_with_the_request_that_began_it(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=script("time.sleep(600)"))
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    command = await until(editor, uri, 11, "trace")
    asked = types.ExecuteCommandParams(command.command, command.arguments)
    protocol = editor.client.protocol
    protocol.send_request("workspace/executeCommand", asked, msg_id="the trace")
    process = await started(root)
    protocol.notify("$/cancelRequest", types.CancelParams("the trace"))
    assert await is_gone(process)
    await until(editor, uri, 11, "trace")


async def test_no_run_outlives_the_server(start: Start, tmp_path: Path):
    """The fixture shuts the server down, and looks for what it left."""
    root = write(tmp_path / "project", model=script("time.sleep(600)"))
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    command = await until(editor, uri, 11, "trace")
    asked = types.ExecuteCommandParams(command.command, command.arguments)
    editor.client.protocol.send_request("workspace/executeCommand", asked)
    await started(root)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("subprocess.Popen(['sleep', '60'])", "Nothing was compiled"),
        ("for number in range(200_000):\n    print(number)\nstep(torch.ones(3), 1)", "Kept 1 compiled function"),
        ("sys.stdout.write('x' * 50_000_000)", "Nothing was compiled"),
    ],
    ids=["leaves-a-child", "many-lines", "a-long-line"],
)
async def test_programs_that_are_hard_to_listen_to(start: Start, tmp_path: Path, body: str, said: str):
    root = write(tmp_path / "project", model=script(body))
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    answer = await asyncio.wait_for(run(editor, await until(editor, uri, 11, "trace")), 60)
    assert answer.startswith(said)
    assert sum(len(one.message) for one in editor.client.log_messages) < 5_000_000
    await asyncio.wait_for(lenses(editor, uri), 5)


async def test_text_that_is_not_saved_is_not_run(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    command = await until(editor, uri, 11, "trace")
    editor.change(uri, MODEL + "# edited\n")
    with pytest.raises(JsonRpcException, match="save it first"):
        await run(editor, command)


async def test_a_saved_file_may_have_a_mark_and_other_line_ends(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    (root / "model.py").write_bytes(b"\xef\xbb\xbf" + MODEL.replace("\n", "\r\n").encode())
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]}, arguments=["--trusted-workspace"])
    uri = editor.open(root / "model.py")
    assert (await run(editor, await until(editor, uri, 11, "trace"))).startswith("Kept 1 compiled function")


@pytest.mark.parametrize("name", ["pyproject.toml", "missing.py", "folder"])
async def test_what_is_no_python_file_is_not_run(start: Start, tmp_path: Path, name: str):
    root = write(tmp_path / "project", model=MODEL)
    (root / "folder").mkdir()
    editor = await start(CODE, root, arguments=["--trusted-workspace"])
    with pytest.raises(JsonRpcException, match="no Python file"):
        await run(editor, types.Command("", "nonstrict.trace", arguments=[(root / name).as_uri(), ""]))
