"""From a finding up to the compiled region: the call hierarchy, and hints behind calls that lead into other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.protocol.profiles import EMACS, PROFILES, Profile
from tests.server.protocol.projects import HELPER, MODEL, write
from tests.server.protocol.test_confirming import execute
from tests.server.units import range_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

RANDOM = "random.random()"
BLOCKS = """\
import torch

try:
    from nowhere import helper
except ImportError:
    def helper(x):
        print("helping")
        return x


@torch._dynamo.nonstrict_trace
def scaled(x):
    return helper(x)
"""
WHOLE = types.Range(types.Position(0, 0), types.Position(100, 0))


async def prepared(editor: Editor, uri: str, words: str) -> list[types.CallHierarchyItem]:
    start = range_of(editor.documents[uri].text, words, editor.encoding).start
    params = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(uri), start)
    return list(await editor.client.text_document_prepare_call_hierarchy_async(params) or ())


async def callers(editor: Editor, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
    params = types.CallHierarchyIncomingCallsParams(item)
    return list(await editor.client.call_hierarchy_incoming_calls_async(params) or ())


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_calls_lead_from_the_finding_to_the_region(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    helper, model = editor.open(root / "helper.py"), editor.open(root / "model.py")
    await editor.until(helper, bool)
    (item,) = await prepared(editor, helper, RANDOM)
    way = [(item.name, item.uri, "")]
    while calls := await callers(editor, item):
        (call,) = calls
        item = call.from_
        (where,) = call.from_ranges
        assert item.range.start <= where.start <= where.end <= item.range.end
        way.append((item.name, item.uri, words_at(MODEL, where, editor.encoding)))
    assert way == [("shifted", helper, ""), ("scaled", model, "shifted(x)"), ("region", model, "scaled(x)")]
    assert "compiled region" in str(item.detail)


def words_at(text: str, where: types.Range, encoding: str) -> str:
    """The words that stand at a range."""
    return next(
        words for words in ("shifted(x)", "scaled(x)\n") if range_of(text, words, encoding).start == where.start
    ).strip()


async def test_there_is_no_hierarchy_where_nothing_is_found(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(EMACS, root)
    helper = editor.open(root / "helper.py")
    await editor.until(helper, bool)
    assert await prepared(editor, helper, "torch.zeros") == []
    (item,) = await prepared(editor, helper, RANDOM)
    editor.change(helper, HELPER.replace(RANDOM, "1"))
    await editor.until(helper, lambda found: len(found) == 1)
    assert await callers(editor, item) == []


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_a_call_that_leads_to_findings_of_another_file_has_a_hint(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    model, helper = editor.open(root / "model.py"), editor.open(root / "helper.py")
    await editor.until(helper, bool)
    params = types.InlayHintParams(types.TextDocumentIdentifier(model), WHOLE)
    hints = await editor.client.text_document_inlay_hint_async(params) or ()
    (hint,) = [one for one in hints if not isinstance(one.label, str)]
    assert hint.position == range_of(MODEL, "shifted(x)", editor.encoding).end
    (part,) = hint.label
    assert isinstance(part, types.InlayHintLabelPart)
    assert part.value == "NST301, NST201 in helper.py"
    assert part.location
    assert part.location.uri == helper
    assert part.location.range == range_of(HELPER, RANDOM, editor.encoding)
    await editor.configure({"inlayHints": {"enable": False}})
    while hints:
        hints = await editor.client.text_document_inlay_hint_async(params) or ()


async def test_a_client_without_a_list_is_led_to_the_worst_finding(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL, helper=HELPER)
    editor = await start(PROFILES[1], root)
    model, helper = editor.open(root / "model.py"), editor.open(root / "helper.py")
    await editor.until(helper, bool)
    found = await execute(editor, "nonstrict.showFindings", [model, "region"])
    assert found[0]["text"] == "NST101"
    assert {one["uri"] for one in found} == {model, helper}
    (shown,) = editor.client.shown_documents
    assert shown.uri == found[0]["uri"]
    assert shown.selection
    assert shown.selection.start == range_of(MODEL, "SCALE + BIAS", editor.encoding).start


async def test_definitions_in_every_kind_of_block_are_found(start: Start, tmp_path: Path):
    text = BLOCKS
    root = write(tmp_path / "project", blocks=text)
    editor = await start(PROFILES[0], root)
    uri = editor.open(root / "blocks.py")
    await editor.until(uri, bool)
    (item,) = await prepared(editor, uri, "print")
    assert item.name == "helper"
    (call,) = await callers(editor, item)
    assert call.from_.name == "scaled"
