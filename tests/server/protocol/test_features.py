"""Code actions, hover, lenses, hints, definitions: on the words that a user points at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.protocol.editor import codes, path_of
from tests.server.protocol.profiles import CODE, EMACS, NEOVIM, PROFILES, Profile
from tests.server.protocol.projects import BAD, HELPER, MODEL, expected, write
from tests.server.units import range_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio


async def hover(editor: Editor, uri: str, words: str) -> str:
    """What is said of words; empty if nothing is."""
    place = range_of(editor.documents[uri].text, words, editor.encoding).start
    params = types.HoverParams(types.TextDocumentIdentifier(uri), place)
    found = await editor.client.text_document_hover_async(params)
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


@pytest.mark.parametrize("profile", PROFILES, ids=str)
@pytest.mark.parametrize("where", ["line", "file"])
async def test_a_finding_is_disabled(start: Start, tmp_path: Path, profile: Profile, where: str):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    helper = editor.open(root / "helper.py")
    editor.open(root / "model.py")
    found = await editor.until(helper, lambda found: codes(found) == ["NST201", "NST301"])
    (about,) = [one for one in found if one.code == "NST301"]
    offered = await editor.actions(helper, [about])
    assert all((action.kind or "").startswith("quickfix") for action in offered if action.diagnostics)
    (action,) = [one for one in offered if one.title == f"Disable NST301 for this {where}"]
    assert (action.kind, action.is_preferred) == ("quickfix.suppress.nonstrict", None)
    await editor.apply(action)
    await editor.until(helper, lambda found: codes(found) == ["NST201"])
    text = editor.documents[helper].text
    assert ("file-ignore[NST301]" if where == "file" else "ignore[NST301]") in text
    # A fresh check agrees: the suppression is one, and is not unused.
    editor.save(helper)
    assert [one.code for one in expected(root, root / "helper.py", profile.encoding)] == ["NST201"]


async def test_two_findings_of_a_line_are_disabled_one_after_the_other(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", mine=BAD.replace("return x * SCALE", "print(x); return x * SCALE"))
    editor = await start(NEOVIM, root)
    uri = editor.open(root / "mine.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST201", "NST101"])
    for left in (["NST101"], []):
        offered = await editor.actions(uri, found[:1])
        code = str(found[0].code)
        (action,) = [one for one in offered if "isable" in one.title and "line" in one.title and code in one.title]
        await editor.apply(action)
        found = await editor.until(uri, lambda found, left=left: codes(found) == left)
    assert editor.documents[uri].text.count("nonstrict: ignore[") == 1


IDLE = "x = 1  # nonstrict: ignore[NST101]\ny = 2  # kept  # nonstrict: ignore[NST201]  reason\nz = 3\n"


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_fix_all_removes_what_suppresses_nothing(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", idle=IDLE)
    editor = await start(profile, root)
    uri = editor.open(root / "idle.py")
    found = await editor.until(uri, lambda found: codes(found) == ["NST902", "NST902"])
    for asked in ("source.fixAll", "source.fixAll.nonstrict"):
        (action,) = await editor.actions(uri, found, [asked])
        assert action.kind == "source.fixAll.nonstrict"
    assert not await editor.actions(uri, found, ["source.organizeImports"])
    await editor.apply(action)
    assert editor.documents[uri].text == "x = 1\ny = 2  # kept\nz = 3\n"
    await editor.configure({"fixAll": False})
    editor.change(uri, IDLE)
    found = await editor.until(uri, lambda found: len(found) == 2)
    offered = await editor.actions(uri, found, ["source.fixAll"])
    # Asked for its settings, the editor answers a little later.
    for _ in range(100):
        if not offered:
            break
        await asyncio.sleep(0.05)
        offered = await editor.actions(uri, found, ["source.fixAll"])
    assert not offered


async def test_only_what_was_asked_for_is_offered(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    found = await editor.diagnostics(uri)
    assert await editor.actions(uri, found, only=["refactor"]) == []
    assert await editor.actions(uri, found, only=["quickfix"])
    assert await editor.actions(uri, found, only=["source.organizeImports"]) == []
    everything = await editor.actions(uri, found)
    assert not [action for action in everything if str(action.kind).startswith("source")]


async def test_a_marker_tells_of_its_function(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(CODE, root)
    model = editor.open(root / "model.py")
    said = await hover(editor, model, "nonstrict_trace")
    assert "scaled" in said
    assert "SCALE" in said
    assert "NST301" in said
    assert await hover(editor, model, "import torch") == ""


async def test_a_suppression_shows_the_page_of_its_rule(start: Start, tmp_path: Path):
    text = BAD.replace("* SCALE\n", "* SCALE  # nonstrict: ignore[NST101, io-side-effect]\n", 1)
    root = write(tmp_path / "project", bad=text)
    for profile in (CODE, EMACS):
        editor = await start(profile, root)
        uri = editor.open(root / "bad.py")
        assert "global-tensor-capture" in await hover(editor, uri, "NST101")
        assert "NST201" in await hover(editor, uri, "io-side-effect")
        assert await hover(editor, uri, "x * SCALE") == ""


async def test_lenses_count_the_findings_of_a_function(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    await editor.diagnostics(uri)
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))

    async def titles() -> list[tuple[int, str]]:
        lenses = await editor.client.text_document_code_lens_async(params) or ()
        resolved = [one if one.command else await editor.client.code_lens_resolve_async(one) for one in lenses]
        assert all(one.command for one in resolved)
        return [(one.range.start.line, one.command.title) for one in resolved if one.command]

    line = MODEL.splitlines().index("@torch._dynamo.nonstrict_trace")
    assert any(line <= at <= line + 1 and "4 findings" in title for at, title in await titles()), await titles()
    editor.change(uri, MODEL.replace(" * SCALE", ""))
    await editor.diagnostics(uri)
    assert any("3 findings" in title for _, title in await titles()), await titles()
    await editor.configure({"codeLens": {"enable": False}})
    end = [await titles()]
    while end[-1] and len(end) < 200:
        end.append(await titles())
    assert end[-1] == []


async def test_a_captured_name_leads_to_where_it_is_made(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(NEOVIM, root)
    uri = editor.open(root / "model.py")
    text = editor.documents[uri].text
    place = range_of(text, "+ BIAS", editor.encoding).end
    place.character -= 1
    params = types.DefinitionParams(types.TextDocumentIdentifier(uri), place)
    found = await editor.client.text_document_definition_async(params)
    found = found if isinstance(found, list | tuple) else [found]
    (target,) = [one for one in found if one]
    assert isinstance(target, types.Location)
    assert path_of(target.uri) == root / "helper.py"
    assert target.range.start.line == HELPER.splitlines().index("BIAS = torch.zeros(3)")


WRITTEN = """\
import torch

COUNT = torch.zeros(())


def tick():
    global COUNT
    COUNT = COUNT + 1


def helper(x):
    return x + COUNT


@torch._dynamo.nonstrict_trace
def one(x):
    return helper(x)


@torch._dynamo.nonstrict_trace
def two(x):
    return helper(x)
"""


async def test_the_references_of_a_captured_name_are_what_writes_it(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=WRITTEN)
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    (diagnostic,) = await editor.diagnostics(uri)
    told = [one.message for one in diagnostic.related_information or ()]
    assert "also reached from `two`, marked here" in told
    context = types.ReferenceContext(include_declaration=True)
    document = types.TextDocumentIdentifier(uri)
    params = types.ReferenceParams(context, document, diagnostic.range.start)
    found = await editor.client.text_document_references_async(params)
    assert [WRITTEN.splitlines()[one.range.start.line].strip() for one in found or ()] == ["COUNT = COUNT + 1"]
