"""Experiments on demand: a verdict arrives in the editor for the text it holds for, whatever befalls the agent."""

from __future__ import annotations

import os
import re
import signal
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from lsprotocol.types import WorkDoneProgressEnd as End
from pygls.exceptions import JsonRpcException

from nonstrict_server.features.contents import address_of
from tests.server.processes import Process, all_gone, descendants
from tests.server.protocol.profiles import CODE, EMACS
from tests.server.protocol.projects import BAD, CLEAN, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = [pytest.mark.asyncio, pytest.mark.torch]
#: Seconds that importing torch and an experiment may take on a busy machine.
PATIENCE = 120
#: A hazard that fails at once on Inductor, so that nothing waits for a C++ compiler; with a number that no earlier run
#: of the tests had, or its verdict would be remembered.
NUMBER = uuid.uuid4().int % 1_000_000
MINE = BAD.replace("torch.ones(3)", f"torch.full((3,), {NUMBER}.0)", 1)
OTHER = MINE.replace("return x * SCALE", "return x - SCALE")

#: A region of which a rule names one break; which method it calls besides only running tells.
REGION = f"""\
import json
import torch

KIND = json.loads('"item"')


class Parts:
    @staticmethod
    def item(x):
        return x * x.max().item()


@torch.compile
def step(x):
    print("said")
    return getattr(Parts, KIND)(x) + {NUMBER}


step(torch.ones(3))
"""


def server_of(editor: Editor) -> int:
    server = editor.client._server
    assert server
    return server.pid


def agents(editor: Editor) -> list[Process]:
    """The processes that experiments run in."""
    return [one for one in descendants(server_of(editor)) if "nonstrict_agent" in one.command]


async def lenses(editor: Editor, uri: str) -> list[types.Command]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_code_lens_async(params) or ()
    resolved = [one if one.command else await editor.client.code_lens_resolve_async(one) for one in found]
    return [one.command for one in resolved if one.command]


def commands(editor: Editor, word: str) -> list[str]:
    provider = editor.capabilities.execute_command_provider
    return [name for name in (provider.commands if provider else ()) if word in name.lower()]


async def execute(editor: Editor, command: str, arguments: Sequence[Any] | None = None) -> Any:
    params = types.ExecuteCommandParams(command, list(arguments or ()))
    return await editor.client.workspace_execute_command_async(params)


async def confirm(editor: Editor, uri: str) -> None:
    """Press the lens of the first marked function."""
    (lens, *_) = [one for one in await lenses(editor, uri) if one.title == "confirm"]
    await execute(editor, lens.command, lens.arguments)


def decided(found: Sequence[types.Diagnostic]) -> bool:
    return bool(found) and all("[confirmed" in one.message for one in found)


async def test_a_region_is_confirmed_with_what_it_calls(start: Start, tmp_path: Path):
    text, _, region = MINE.partition("@torch.compile(fullgraph=True)\n")
    imports = "import torch\n\nfrom marked import scaled\n\n\n@torch.compile\n"
    root = write(tmp_path / "project", marked=text, train=f"{imports}{region}")
    editor = await start(CODE, root)
    uri, marked = editor.open(root / "train.py"), editor.open(root / "marked.py")
    assert len(await editor.diagnostics(marked)) == 1
    told, press = await lenses(editor, uri)
    assert (told.title, press.title) == ("1 graph · 1 error", "confirm")
    await execute(editor, press.command, press.arguments)
    await editor.until(marked, decided, PATIENCE)
    while len(found := await lenses(editor, uri)) > 1:
        assert re.fullmatch(r"confirming [01]/1 \(cancel\)", found[1].title)
    assert [one.title for one in found] == ["1 graph · 1 confirmed"]
    # A click tells what is known, and runs nothing again.
    (listed,) = await execute(editor, found[0].command, found[0].arguments)
    assert (listed["text"], listed["worst"], listed["uri"]) == ("NST101", "confirmed", marked)
    assert any(lens.title == "1 finding · 1 confirmed" for lens in await lenses(editor, marked))


async def test_a_finding_is_confirmed_on_demand(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=MINE)
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    (found,) = await editor.diagnostics(uri)
    assert "confirmed" not in found.message
    assert agents(editor) == []
    refreshed = editor.client.diagnostic_refresh_count
    await confirm(editor, uri)
    # Nobody asks before the server says that there is something new.
    assert await editor.comes_true(lambda: editor.client.diagnostic_refresh_count > refreshed, PATIENCE)
    (found,) = await editor.until(uri, decided, PATIENCE)
    assert "torch 2." in found.message
    assert any("confirmed" in lens.title for lens in await lenses(editor, uri))
    reports = editor.client.progress_reports
    assert await editor.comes_true(lambda: any(told and isinstance(told[-1], End) for told in reports.values()))
    assert all(isinstance(told[0], types.WorkDoneProgressBegin) for told in reports.values() if told)

    # The verdict is of this text: it does not hold for another, and holds again for the same.
    editor.change(uri, OTHER)
    (found,) = await editor.diagnostics(uri)
    assert "[confirmed" not in found.message
    editor.change(uri, MINE)
    assert decided(await editor.diagnostics(uri))

    # Whoever kills the agent gets another one.
    running = agents(editor)
    assert running
    for one in running:
        os.kill(one.pid, signal.SIGKILL)
    assert all_gone(running)
    editor.change(uri, OTHER)
    await confirm(editor, uri)
    await editor.until(uri, decided, PATIENCE)
    assert not set(agents(editor)) & set(running)

    # Warm as it is, it shows what torch makes of a function, too.
    editor.change(uri, CLEAN + "\n\n@torch.compile(fullgraph=True)\ndef region(x):\n    return scaled(x, 2.5)\n")
    assert "mul" in await execute(editor, "nonstrict.showGraph", [uri, "scaled"])
    address = types.TextDocumentContentParams(uri=address_of("graph", uri, "scaled"))
    assert "mul" in (await editor.client.workspace_text_document_content_async(address)).text
    with pytest.raises(JsonRpcException, match="there is no document"):
        await editor.client.workspace_text_document_content_async(types.TextDocumentContentParams("nonstrict:/no"))


async def test_a_finding_is_confirmed_when_the_file_is_saved(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(EMACS, root, settings={"confirm": {"mode": "onSave"}})
    uri = editor.open(root / "bad.py")
    await editor.until(uri, bool)
    assert agents(editor) == []
    editor.change(uri, MINE.replace("x * SCALE", "SCALE / x"))
    editor.save(uri)
    await editor.until(uri, decided, PATIENCE)
    # Started anew by the user, the server has no agent before somebody needs one.
    running = agents(editor)
    assert running
    await execute(editor, "nonstrict.restart")
    assert await editor.comes_true(lambda: not any(one.alive for one in running))
    await editor.until(uri, lambda found: len(found) == 1)


async def test_a_break_that_only_torch_tells_arrives_beside_the_verdicts(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", region=REGION)
    editor = await start(CODE, root)
    uri = editor.open(root / "region.py")
    (found,) = await editor.diagnostics(uri)
    assert found.range.start.line == REGION.split("\n").index('    print("said")')
    await confirm(editor, uri)
    said, observed = await editor.until(uri, lambda found: len(found) == 2 and decided(found), PATIENCE)
    assert said.range == found.range
    assert observed.code == "NST701"
    assert observed.message.startswith("torch breaks the graph at `x.max().item()` (GB0124)\nnote: ")
    assert "observed" in observed.message

    # It goes when its statement does.
    editor.change(uri, REGION.replace("x.max().item()", "x.max()"))
    assert len(await editor.diagnostics(uri)) == 1


async def test_an_experiment_is_cancelled(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD + "\nimport time\n\ntime.sleep(60)\nregion(torch.ones(3))\n")
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    await editor.diagnostics(uri)
    await confirm(editor, uri)
    reports = editor.client.progress_reports
    assert await editor.comes_true(lambda: any(reports.values()) and bool(agents(editor)))
    (token,) = reports
    editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    assert await editor.comes_true(lambda: isinstance(reports[token][-1], End), 10)
    (found,) = await editor.diagnostics(uri)
    assert "[confirmed" not in found.message


async def test_nothing_runs_in_a_workspace_that_is_not_trusted(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    marker = tmp_path / "ran"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {marker}\n")
    python.chmod(0o755)
    (root / "nonstrict.toml").write_text(f'python = "{python}"\n')
    settings = {"confirm": {"mode": "onSave"}, "interpreter": [str(python)]}
    editor = await start(CODE, root, settings=settings, arguments=["--untrusted-workspace"])
    uri = editor.open(root / "bad.py")
    (found,) = await editor.diagnostics(uri)
    assert found.code == "NST101"
    assert not [lens for lens in await lenses(editor, uri) if "confirm" in (lens.title + lens.command).lower()]
    for name in (*commands(editor, "confirm"), "nonstrict.showGraph", "nonstrict.showCode"):
        with pytest.raises(JsonRpcException, match="not trusted"):
            await execute(editor, name, [uri, "scaled"])
    editor.save(uri)
    assert (await editor.diagnostics(uri))[0].message == found.message
    assert descendants(server_of(editor)) == []
    assert not marker.exists()


@pytest.mark.parametrize("arguments", [[], ["--trusted-workspace"]])
async def test_the_interpreter_of_a_workspace_runs_only_where_that_is_trusted(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
):
    root = write(tmp_path / "project", bad=BAD)
    marker = tmp_path / "ran"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntouch {marker}\n")
    python.chmod(0o755)
    (root / "nonstrict.toml").write_text(f'python = "{python}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    editor = await start(CODE, root, arguments=arguments)
    uri = editor.open(root / "bad.py")
    await editor.diagnostics(uri)
    await confirm(editor, uri)
    told = await editor.comes_true(
        lambda: marker.exists() or any("is not trusted" in one.message for one in editor.client.messages), 60
    )
    assert told
    assert marker.exists() is bool(arguments)


async def test_nothing_runs_where_experiments_are_switched_off(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(CODE, root, settings={"confirm": {"mode": "off"}})
    uri = editor.open(root / "bad.py")
    await editor.diagnostics(uri)
    assert not [lens for lens in await lenses(editor, uri) if "confirm" in (lens.title + lens.command).lower()]
    await editor.configure({"confirm": {"mode": "onDemand"}})
    for _ in range(300):
        if any(lens.title == "confirm" for lens in await lenses(editor, uri)):
            break
    assert any(lens.title == "confirm" for lens in await lenses(editor, uri))
