"""What only some editors show: graphs beside their source, chains as pictures, pages of rules, the environment."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from nonstrict_server.features.contents import address_of
from tests.server.protocol.profiles import CODE, EXTENSION, NEOVIM
from tests.server.protocol.projects import BAD, HELPER, MODEL, write
from tests.server.units import range_of

if TYPE_CHECKING:
    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

#: Two operators of one line, and one of another.
PROGRAM = """\
import torch


@torch._dynamo.nonstrict_trace
def scaled(x):
    y = torch.sin(x) * 3.5
    return y.sum()


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x) + x


region(torch.ones(3))
"""


async def ask(editor: Editor, method: str, **parameters: Any) -> Any:
    """The answer to a request of our own, as plain data."""
    return plain(await editor.client.protocol.send_request_async(method, parameters))


def plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if hasattr(answer, "_asdict"):
        return {name: plain(value) for name, value in answer._asdict().items()}
    return answer


def at(editor: Editor, uri: str, words: str) -> dict[str, int]:
    start = range_of(editor.documents[uri].text, words, editor.encoding).start
    return {"line": start.line, "character": start.character}


async def execute(editor: Editor, command: str, *arguments: Any) -> Any:
    params = types.ExecuteCommandParams(f"nonstrict.{command}", list(arguments))
    return await editor.client.workspace_execute_command_async(params)


async def text_of(editor: Editor, uri: str) -> str:
    params = types.TextDocumentContentParams(uri)
    return (await editor.client.workspace_text_document_content_async(params)).text


@pytest.mark.parametrize("profile", [CODE, NEOVIM], ids=str)
async def test_a_chain_goes_from_the_region_to_the_expression(start: Start, tmp_path: Path, profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    helper = editor.open(root / "helper.py")
    model = editor.open(root / "model.py")
    await editor.until(helper, bool)
    chain = await ask(editor, "nonstrict/chain", uri=helper, position=at(editor, helper, "random.random()"))
    assert (chain["code"], chain["function"], chain["verdict"]) == ("NST301", "scaled", None)
    steps = chain["steps"]
    assert [step["kind"] for step in steps] == ["region", "entry", "marker", "call", "effect"]
    assert [step["uri"] for step in steps] == [model, model, model, model, helper]
    assert (steps[0]["text"], steps[0]["code"]) == ("`region` is compiled", "@torch.compile(fullgraph=True)")
    assert (steps[1]["text"], steps[1]["code"]) == ("`region` calls `scaled`", "return scaled(x)")
    assert steps[-1]["code"] == "return x + random.random()"
    # The line of the call begins with characters of several units.
    called = range_of(MODEL, "shifted(x)", profile.encoding)
    assert steps[3]["range"]["start"] == {"line": called.start.line, "character": called.start.character}
    assert steps[3]["range"]["end"] == {"line": called.end.line, "character": called.end.character}
    assert await ask(editor, "nonstrict/chain", uri=helper, position={"line": 0, "character": 0}) is None


async def test_a_chain_shows_who_writes_the_state(start: Start, tmp_path: Path):
    writes = BAD + "\n\ndef grow():\n    global SCALE\n    SCALE = SCALE * 2\n"
    root = write(tmp_path / "project", bad=writes)
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, bool)
    chain = await ask(editor, "nonstrict/chain", uri=uri, position=at(editor, uri, "SCALE\n\n\n@torch.compile"))
    assert [step["kind"] for step in chain["steps"]] == ["region", "entry", "marker", "effect", "evidence"]
    assert chain["steps"][-1]["code"] == "SCALE = SCALE * 2"


async def test_a_rule_has_a_page(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    page = await text_of(editor, "nonstrict:/rule/NST101.md")
    assert page.startswith("# global-tensor-capture (NST101)")
    assert "## What it does" in page
    with pytest.raises(JsonRpcException, match="there is no document"):
        await text_of(editor, "nonstrict:/rule/NST999.md")


async def test_the_environment_of_a_folder_is_told(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    (root / "nonstrict.toml").write_text('torch-version = "2.9.1"\n')
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    told = await ask(editor, "nonstrict/environment", uri=uri)
    python = told.pop("python")
    assert Path(python).samefile(sys.executable)
    assert told == {
        "root": str(root),
        "torch": "2.9.1",
        "device": "",
        "hasTorch": True,
        "notice": "",
        "trusted": True,
        "hindrance": "",
    }
    await editor.configure({"confirm": {"mode": "off", "device": "cuda"}})
    told = await ask(editor, "nonstrict/environment", uri=uri)
    while not told["hindrance"]:
        told = await ask(editor, "nonstrict/environment", uri=uri)
    assert "switched off" in told["hindrance"]
    assert told["device"] == "cuda"


async def test_a_folder_without_torch_says_so(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    (root / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    editor = await start(CODE, root, settings={"interpreter": [str(root / ".venv")]})
    uri = editor.open(root / "bad.py")
    await editor.until(uri, bool)
    assert (await ask(editor, "nonstrict/environment", uri=uri))["torch"] is None


def environment(folder: Path, *, torch: bool) -> Path:
    """An environment with an interpreter that nobody may start; its `python`."""
    packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    # No script: those may start any interpreter.
    python.write_bytes(b"\x7fELF")
    python.chmod(0o755)
    if torch:
        (packages / "torch").mkdir()
        (packages / "torch" / "version.py").write_text("__version__ = '2.12.1'\n", encoding="utf-8")
    return python


@pytest.mark.parametrize("named", ["gone/bin/python", "uv run python", "project", "notes.txt"])
async def test_an_interpreter_that_is_not_there_is_told(start: Start, tmp_path: Path, named: str):
    root = write(tmp_path / "project", bad=BAD)
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    editor = await start(EXTENSION, root, settings={"interpreter": [str(tmp_path / named)]})
    uri = editor.open(root / "bad.py")
    await no_interpreter(editor, uri, tmp_path / named)


async def test_an_interpreter_that_vanishes_is_told(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    python = environment(tmp_path / "other", torch=True)
    editor = await start(EXTENSION, root, settings={"interpreter": [str(python)]})
    uri = editor.open(root / "bad.py")
    told = await ask(editor, "nonstrict/environment", uri=uri)
    assert (told["torch"], told["hasTorch"], told["hindrance"]) == ("2.12.1", True, "")
    (tmp_path / "other").rename(tmp_path / "elsewhere")
    for _ in range(200):
        if not (await ask(editor, "nonstrict/environment", uri=uri))["hasTorch"]:
            break
        await asyncio.sleep(0.05)
    await no_interpreter(editor, uri, python)


async def no_interpreter(editor: Editor, uri: str, python: Path) -> None:
    """That it is told, with what to do, and that nothing offers to confirm."""
    found = await editor.until(uri, bool)
    told = await ask(editor, "nonstrict/environment", uri=uri)
    assert (told["torch"], told["device"], told["python"], told["hasTorch"]) == (None, "", str(python), False)
    assert f"there is no interpreter {python}" in told["hindrance"]
    assert "set `nonstrict.interpreter`" in told["hindrance"]
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    lenses = await editor.client.text_document_code_lens_async(params) or ()
    assert "confirm" not in [one.command.title for one in lenses if one.command]
    assert "Confirm `scaled`" not in [one.title for one in await editor.actions(uri, found)]
    (region,) = await ask(editor, "nonstrict/regions")
    assert "confirm" not in region
    with pytest.raises(JsonRpcException, match="there is no interpreter"):
        await execute(editor, "confirmFunction", uri, "scaled")


@pytest.mark.parametrize("torch", [True, False], ids=["with", "without"])
async def test_nothing_is_confirmed_where_there_is_no_torch(start: Start, tmp_path: Path, torch: bool):
    """Whatever version the findings are for, experiments need an interpreter that has one."""
    root = write(tmp_path / "project", bad=BAD)
    (root / "nonstrict.toml").write_text('torch-version = "2.12"\n')
    python = environment(tmp_path / "other", torch=torch)
    editor = await start(EXTENSION, root, settings={"interpreter": [str(python)]})
    uri = editor.open(root / "bad.py")
    found = await editor.until(uri, bool)
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    lenses = await editor.client.text_document_code_lens_async(params) or ()
    actions = [one.title for one in await editor.actions(uri, found)]
    (region,) = await ask(editor, "nonstrict/regions")
    assert ("confirm" in [one.command.title for one in lenses if one.command]) is torch
    assert ("Confirm `scaled`" in actions, "Show FX graph of `scaled`" in actions) == (torch, torch)
    assert ("confirm" in region) is torch
    told = await ask(editor, "nonstrict/environment", uri=uri)
    assert (told["torch"], told["python"], told["hasTorch"]) == ("2.12", str(python), torch)
    assert bool(told["hindrance"]) is not torch
    if not torch:
        for command in ("confirmFunction", "confirmFile", "showGraph", "writeRepro"):
            with pytest.raises(JsonRpcException) as refused:
                await execute(editor, command, uri, "scaled")
            message = str(refused.value)
            assert f"{python} has no torch" in message
            assert "choose an interpreter that has it" in message
        # Once it is installed, that is seen without a restart.
        environment(tmp_path / "filled", torch=True)
        (tmp_path / "filled" / "lib").rename(tmp_path / "other" / "filled")
        (tmp_path / "other" / "lib").rename(tmp_path / "other" / "before")
        (tmp_path / "other" / "filled").rename(tmp_path / "other" / "lib")
        refreshed = editor.client.refreshed.get("lenses", 0)
        for _ in range(200):
            told = await ask(editor, "nonstrict/environment", uri=uri)
            if told["hasTorch"]:
                break
            await asyncio.sleep(0.05)
        assert told["hindrance"] == ""
        assert await editor.comes_true(lambda: editor.client.refreshed.get("lenses", 0) > refreshed)
        lenses = await editor.client.text_document_code_lens_async(params) or ()
        assert "confirm" in [one.command.title for one in lenses if one.command]


async def test_a_command_finds_the_function_around_a_position(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, bool)
    with pytest.raises(JsonRpcException, match="no marked function here"):
        await execute(editor, "showGraph", uri, {"line": 0, "character": 0})


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["graph", "code"])
async def test_operators_are_traced_to_their_lines(start: Start, tmp_path: Path, kind: str):
    root = write(tmp_path / "project", model=PROGRAM)
    editor = await start(CODE, root, settings={"interpreter": [sys.executable]})
    uri = editor.open(root / "model.py")
    shown = await execute(editor, "showGraph" if kind == "graph" else "showCode", uri, at(editor, uri, "torch.sin"))
    address = address_of(kind, uri, "scaled")
    # The document has the text that was shown, and is not made again.
    assert await text_of(editor, address) == shown
    lines = shown.split("\n")
    found = await ask(editor, "nonstrict/origins", uri=address)
    assert {one["uri"] for one in found} == {uri}
    rows = {row: {one["line"] for one in found if one["row"] == row} for row in (5, 6)}
    if kind == "graph":
        # What the region does around the marked function belongs to the region.
        assert [lines[one["line"]] for one in found if one["row"] == 11 and "aten.add" in lines[one["line"]]]
        assert not [line for line in rows[5] | rows[6] if "aten.add" in lines[line]]
        assert [any(word in lines[line] for line in rows[5]) for word in ("sin", "mul")] == [True, True]
        assert [line for line in range(len(lines)) if "aten.sum" in lines[line]] == sorted(rows[6])
    else:
        # One kernel computes both lines: its call, and its text.
        assert rows[5] & rows[6]
        both = [lines[line] for line in sorted(rows[5] & rows[6])]
        assert any("async_compile" in line for line in both)
        assert any(line.startswith("        cpp_fused") for line in both)
    other = await ask(editor, "nonstrict/origins", uri=address_of(kind, uri, "region"))
    assert other is None
