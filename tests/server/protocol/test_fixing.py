"""Quick fixes: of one finding in several files, of all of a rule, of all that is safe; for the texts that are open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.protocol.editor import codes, path_of, text_edits
from tests.server.protocol.profiles import CODE, EMACS, NEOVIM, PROFILES, Profile
from tests.server.protocol.projects import BAD, expected, write
from tests.server.protocol.test_notebooks import CODE_CELL, Notebook
from tests.server.raw_client import MODIFIED
from tests.server.units import applied

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio
#: The marked function and its only caller, on a line with characters of one to four bytes.
MODEL = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE
"""
CALLER = """\
import torch
from model import scaled


@torch.compile(fullgraph=True)
def region(x):
    "\U0001d494 é"; return scaled(x) + 1
"""
#: Two markers whose results are discarded, and a suppression that suppresses nothing.
DISCARDED = """\
import torch


def scaled(x):
    return x * 2


def shifted(x):
    return x + 1


torch._dynamo.nonstrict_trace(scaled)
torch._dynamo.nonstrict_trace(shifted)


@torch.compile
def region(x):
    return scaled(shifted(x))  # nonstrict: ignore[NST101]
"""
STILL_IDLE = DISCARDED.replace(
    "\ntorch._dynamo.nonstrict_trace(sc", "\nscaled = torch._dynamo.nonstrict_trace(sc"
).replace("\ntorch._dynamo.nonstrict_trace(sh", "\nshifted = torch._dynamo.nonstrict_trace(sh")
BOUND = STILL_IDLE.replace("  # nonstrict: ignore[NST101]", "")


def edits_of(editor: Editor, edit: types.WorkspaceEdit) -> dict[str, tuple[int | None, list[types.TextEdit]]]:
    """The edits of each document, with the version that they are for, in the form that the editor knows."""
    capabilities = editor.profile.capabilities().workspace
    assert capabilities
    if capabilities.workspace_edit and capabilities.workspace_edit.document_changes:
        assert not edit.changes
        return {
            change.text_document.uri: (change.text_document.version, text_edits(change))
            for change in edit.document_changes or ()
            if isinstance(change, types.TextDocumentEdit)
        }
    assert not edit.document_changes
    return {uri: (None, list(edits)) for uri, edits in (edit.changes or {}).items()}


async def resolved(editor: Editor, action: types.CodeAction) -> types.CodeAction:
    """An action with its edit."""
    return action if action.edit else await editor.client.code_action_resolve_async(action)


async def fix_of(editor: Editor, uri: str, code: str, words: str) -> types.CodeAction:
    """The action on the finding of a rule whose title holds some words."""
    found = await editor.until(uri, lambda found: code in codes(found))
    offered = await editor.actions(uri, [one for one in found if one.code == code][:1])
    (action,) = [
        one for one in offered if words in one.title and [told.code for told in one.diagnostics or ()] == [code]
    ]
    return action


def write_edits(editor: Editor, edit: types.WorkspaceEdit) -> None:
    """Make changes in open documents and in files."""
    for uri, (version, edits) in edits_of(editor, edit).items():
        if uri in editor.documents:
            assert version in (None, editor.documents[uri].version)
            editor.change(uri, applied(editor.documents[uri].text, edits, editor.encoding))
        else:
            assert version is None
            path = path_of(uri)
            path.write_bytes(applied(path.read_bytes().decode(), edits, editor.encoding).encode())
            editor.written(path)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize("caller", ["closed", "open", "unsaved"])
async def test_a_fix_in_two_files(start: Start, tmp_path: Path, profile: Profile, caller: str):
    root = write(tmp_path / "project", model=MODEL, caller=CALLER)
    editor = await start(profile, root)
    model = editor.open(root / "model.py")
    other = (root / "caller.py").as_uri()
    text = CALLER
    if caller != "closed":
        editor.open(root / "caller.py")
    if caller == "unsaved":
        text = "# not saved\n" + CALLER.replace("scaled(x) + 1", "scaled(x) - scaled(x + 1)")
        editor.change(other, text)
    action = await fix_of(editor, model, "NST101", "Pass `SCALE` as an argument")
    assert action.kind == types.CodeActionKind.QuickFix
    assert action.title == "Pass `SCALE` as an argument (unsafe)"
    assert not action.is_preferred
    assert [one.code for one in action.diagnostics or ()] == ["NST101"]
    action = await resolved(editor, action)
    assert action.edit
    assert set(edits_of(editor, action.edit)) == {model, other}
    asked = list((action.edit.change_annotations or {}).values())
    # What may change eager code is shown first, where the editor can show it.
    assert [(one.label, one.needs_confirmation) for one in asked] == [(action.title, True)] * (profile is CODE)
    assert all("Eager code may compute something else" in (one.description or "") for one in asked)
    write_edits(editor, action.edit)
    assert await editor.until(model, lambda found: not found) == []
    assert editor.documents[model].text == MODEL.replace("scaled(x)", "scaled(x, SCALE)")
    for uri in editor.documents:
        editor.save(uri)
    calls = text.replace("scaled(x)", "scaled(x, SCALE)").replace("scaled(x + 1)", "scaled(x + 1, SCALE)")
    mended = calls.replace("from model import scaled\n", "from model import SCALE, scaled\n")
    assert (root / "caller.py").read_text(encoding="utf-8") == mended
    assert expected(root, root / "model.py", editor.encoding) == []


async def test_a_fix_that_came_too_late(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, caller=CALLER)
    editor = await start(CODE, root)
    model, caller = editor.open(root / "model.py"), editor.open(root / "caller.py")
    action = await fix_of(editor, model, "NST101", "Pass `SCALE`")
    assert action.edit is None
    editor.change(caller, "# longer\n" + CALLER)
    with pytest.raises(JsonRpcException) as refused:
        await editor.client.code_action_resolve_async(action)
    assert refused.value.code == MODIFIED
    # A file that is not open, of whose change nobody told.
    editor.change(caller, CALLER)
    editor.close(caller)
    action = await fix_of(editor, model, "NST101", "Pass `SCALE`")
    (root / "caller.py").write_text("# longer\n" + CALLER, encoding="utf-8")
    with pytest.raises(JsonRpcException) as refused:
        await editor.client.code_action_resolve_async(action)
    assert refused.value.code == MODIFIED
    action = await resolved(editor, await fix_of(editor, model, "NST101", "Pass `SCALE`"))
    assert action.edit
    edits = edits_of(editor, action.edit)[caller][1]
    assert {edit.range.start.line for edit in edits} == {2, 7}


async def test_the_order_of_what_is_offered(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", discarded=DISCARDED)
    for profile in PROFILES:
        editor = await start(profile, root)
        uri = editor.open(root / "discarded.py")
        found = await editor.until(uri, lambda found: "NST603" in codes(found))
        offered = await editor.actions(uri, [one for one in found if one.code == "NST603"][:1])
        graph = ["Show FX graph of `scaled`"] * (profile is CODE)
        assert [one.title for one in offered] == [
            "Bind the marked function to `scaled`",
            "Fix all NST603 in this file",
            "Confirm `scaled`",
            *graph,
            "Disable NST603 for this line",
            "Disable NST603 for this file",
        ]
        assert [one.title for one in offered if one.is_preferred] == [offered[0].title]
        kinds = [str(getattr(one.kind, "value", one.kind)) for one in offered]
        assert kinds == ["quickfix"] * (3 + len(graph)) + ["quickfix.suppress.nonstrict"] * 2
        (confirm, *_) = [one.command for one in offered if one.command]
        assert (confirm.command, list(confirm.arguments or ())) == ("nonstrict.confirmFunction", [uri, "scaled"])
        edited = [one for one in offered if not one.command]
        assert all(one.edit is None for one in edited) == (profile is not EMACS)
        everything, suppressions = ["quickfix"], ["quickfix.suppress"]
        assert len(await editor.actions(uri, found[:1], everything)) == len(offered)
        assert [one.title for one in await editor.actions(uri, found[:1], suppressions)] == [
            one.title for one in offered[-2:]
        ]
        await editor.apply(offered[1])
        assert editor.documents[uri].text == BOUND.replace(
            "scaled(shifted(x))", "scaled(shifted(x))  # nonstrict: ignore[NST101]"
        )


async def test_titles_name_the_rule_where_there_are_several(start: Start, tmp_path: Path):
    text = BAD.replace("return x * SCALE", "print(x); return x * SCALE")
    editor = await start(CODE, write(tmp_path / "project", bad=text))
    uri = editor.open(tmp_path / "project" / "bad.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST201", "NST101"])
    titles = [one.title for one in await editor.actions(uri, found)]
    fixes = titles[: titles.index("Confirm `scaled`")]
    assert {one[:8] for one in fixes} == {"NST201: ", "NST101: "}
    assert "NST101: Pass `SCALE` as an argument (unsafe)" in fixes
    by_place = [f"Disable {code} for this {where}" for where in ("line", "file") for code in codes(found)]
    assert titles[-4:] == by_place


async def test_rows_without_findings_offer_nothing(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(NEOVIM, root)
    uri = editor.open(root / "bad.py")
    await editor.until(uri, lambda found: codes(found) == ["NST101"])
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(uri),
        types.Range(types.Position(0, 0), types.Position(3, 0)),
        types.CodeActionContext([]),
    )
    assert not await editor.client.text_document_code_action_async(params)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_fix_all_makes_what_is_safe(start: Start, tmp_path: Path, profile: Profile):
    text = DISCARDED.replace("x * 2", "x * SCALE").replace("import torch\n", "import torch\n\nSCALE = torch.ones(3)\n")
    root = write(tmp_path / "project", discarded=text)
    editor = await start(profile, root)
    uri = editor.open(root / "discarded.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST101", "NST603", "NST603", "NST902"])
    (action,) = await editor.actions(uri, found, ["source.fixAll.nonstrict"])
    await editor.apply(action)
    # What is unsafe is left for people to decide.
    after = BOUND.replace("x * 2", "x * SCALE").replace("import torch\n", "import torch\n\nSCALE = torch.ones(3)\n")
    assert editor.documents[uri].text == after
    assert codes(await editor.until(uri, lambda found: len(found) == 1)) == ["NST101"]
    assert not await editor.actions(uri, await editor.diagnostics(uri), ["source.fixAll"])


async def test_what_is_not_to_be_fixed_is_not(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", discarded=DISCARDED)
    (root / "nonstrict.toml").write_text('unfixable = ["NST6", "NST902"]\n', encoding="utf-8")
    editor = await start(CODE, root)
    uri = editor.open(root / "discarded.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST603", "NST603", "NST902"])
    offered = await editor.actions(uri, found)
    assert {one.title for one in offered if not one.command} == {
        f"Disable {code} for this {where}" for code in ("NST603",) for where in ("line", "file")
    }
    assert not await editor.actions(uri, found, ["source.fixAll"])


async def test_a_fix_of_a_crlf_document(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    # A name of its own hides the one to be imported: the fix adds a line.
    text = f"{CALLER}\n\nSCALE = 2\n".replace("\n", "\r\n")
    (root / "caller.py").write_bytes(text.encode())
    editor = await start(CODE, root)
    model, caller = editor.open(root / "model.py"), editor.open(root / "caller.py")
    await editor.apply(await fix_of(editor, model, "NST101", "Pass `SCALE`"))
    assert "import model\r\nfrom model import scaled\r\n" in editor.documents[caller].text
    assert editor.documents[caller].text.count("\n") == editor.documents[caller].text.count("\r\n")


async def test_typing_while_fixes_are_asked_for(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", discarded=DISCARDED)
    editor = await start(CODE, root)
    uri = editor.open(root / "discarded.py")
    found = await editor.until(uri, lambda found: "NST603" in codes(found))
    texts = {editor.documents[uri].version: DISCARDED}
    for number in range(20):
        asked = asyncio.ensure_future(editor.actions(uri, found, ["source.fixAll"] if number % 2 else None))
        await asyncio.sleep(0)
        editor.change(uri, "#\n" + editor.documents[uri].text)
        texts[editor.documents[uri].version] = editor.documents[uri].text
        offered = (await asyncio.gather(asked, return_exceptions=True))[0]
        if isinstance(offered, BaseException):
            assert isinstance(offered, JsonRpcException)
            assert offered.code == MODIFIED
            continue
        for action in offered:
            if action.edit:
                # The edit is one of the text that it says it is for, whichever that was.
                ((version, edits),) = edits_of(editor, action.edit).values()
                assert version
                text = applied(texts[version], edits, editor.encoding)
                assert text.lstrip("#\n") in (BOUND, STILL_IDLE)
    editor.change(uri, DISCARDED)
    await editor.until(uri, lambda found: codes(found) == ["NST603", "NST603", "NST902"])


FIRST = DISCARDED.partition("torch._dynamo")[0]
SECOND = "torch._dynamo.nonstrict_trace(scaled)\ntorch._dynamo.nonstrict_trace(shifted)"
THIRD = "y = 1  # nonstrict: ignore[NST101]"


async def test_a_notebook_is_fixed_as_a_whole_or_a_cell_of_it(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    notebook = Notebook(
        editor,
        tmp_path / "project" / "work.ipynb",
        [(CODE_CELL, FIRST), (CODE_CELL, SECOND), (CODE_CELL, THIRD)],
    )
    _, second, third = notebook.cells
    found = await editor.until(second, lambda found: codes(found) == ["NST603", "NST603"])
    await editor.until(third, lambda found: codes(found) == ["NST902"])
    (action,) = await editor.actions(second, found, ["notebook.source.fixAll"])
    assert action.kind == "notebook.source.fixAll.nonstrict"
    assert action.edit
    edits = edits_of(editor, action.edit)
    assert set(edits) == {second, third}
    assert applied(SECOND, edits[second][1], "utf-16") == (
        "scaled = torch._dynamo.nonstrict_trace(scaled)\nshifted = torch._dynamo.nonstrict_trace(shifted)"
    )
    assert applied(THIRD, edits[third][1], "utf-16") == "y = 1"
    # A cell by itself, as "fix all" asks for one cell after the other.
    (action,) = await editor.actions(second, found, ["source.fixAll"])
    assert action.edit
    assert set(edits_of(editor, action.edit)) == {second}


async def test_a_fix_across_cells(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", bad=BAD))
    head, marker, rest = BAD.partition("@torch._dynamo")
    middle, compiled, last = (marker + rest).partition("@torch.compile")
    notebook = Notebook(
        editor,
        tmp_path / "project" / "work.ipynb",
        [(CODE_CELL, head.strip()), (CODE_CELL, middle.strip()), (CODE_CELL, (compiled + last).strip())],
    )
    _, second, third = notebook.cells
    action = await resolved(editor, await fix_of(editor, second, "NST101", "Pass `SCALE`"))
    assert action.edit
    edits = edits_of(editor, action.edit)
    assert set(edits) == {second, third}
    assert "def scaled(x, SCALE):" in applied(notebook.texts[second], edits[second][1], "utf-16")
    assert "return scaled(x, SCALE)" in applied(notebook.texts[third], edits[third][1], "utf-16")
    assert not await editor.actions(
        (tmp_path / "project" / "bad.py").as_uri(), await editor.diagnostics(second), ["notebook.source"]
    )
