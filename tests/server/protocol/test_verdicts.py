"""Verdicts beside the code: told with their evidence, and told as stale where the code is another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.server.protocol.editor import text_edits
from tests.server.protocol.profiles import CODE, EXTENSION
from tests.server.protocol.projects import write
from tests.server.protocol.test_confirming import MINE, OTHER, PATIENCE, REGION, confirm, decided, execute, lenses
from tests.server.protocol.test_showing import ask

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = [pytest.mark.asyncio, pytest.mark.torch]


async def verdicts(editor: Editor, uri: str) -> list[dict[str, Any]]:
    return await ask(editor, "nonstrict/verdicts", uri=uri)


async def test_what_was_confirmed_is_told_until_the_code_is_another(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=MINE, fine=MINE.replace("x * SCALE", "x * 2.0"))
    editor = await start(EXTENSION, root)
    uri, fine = editor.open(root / "bad.py"), editor.open(root / "fine.py")
    (finding,) = await editor.diagnostics(uri)
    assert finding.data == {"name": "global-tensor-capture", "function": "scaled", "marker": "nonstrict"}
    assert await verdicts(editor, uri) == []
    refreshed = editor.client.refreshed.get("verdicts", 0)
    await confirm(editor, uri)
    (confirmed,) = await editor.until(uri, decided, PATIENCE)
    assert await editor.comes_true(lambda: editor.client.refreshed.get("verdicts", 0) > refreshed)
    assert dict(confirmed.data or {})["verdict"] == "confirmed"
    (told,) = await verdicts(editor, uri)
    start_, end = finding.range.start, finding.range.end
    assert told.pop("range") == {
        "start": {"line": start_.line, "character": start_.character},
        "end": {"line": end.line, "character": end.character},
    }
    evidence = told.pop("text")
    assert evidence
    assert evidence.rstrip("…") in confirmed.message
    assert told == {"code": "NST101", "status": "confirmed", "stale": False}
    assert await verdicts(editor, fine) == []

    # Of another text, the verdict is told where the finding is now, and counts for nothing.
    editor.change(uri, "# moved\n" + OTHER)
    (moved,) = await verdicts(editor, uri)
    assert (moved["stale"], moved["status"], moved["text"]) == (True, "confirmed", evidence)
    (finding,) = await editor.diagnostics(uri)
    assert moved["range"]["start"]["line"] == finding.range.start.line
    assert "confirmed" not in finding.message
    assert "verdict" not in dict(finding.data or {})
    assert not any("confirmed" in lens.title for lens in await lenses(editor, uri))

    # Undone, it holds again; without its finding there is none.
    editor.change(uri, MINE)
    assert [one["stale"] for one in await verdicts(editor, uri)] == [False]
    editor.change(uri, MINE.replace("x * SCALE", "x * 2.0"))
    assert await verdicts(editor, uri) == []
    editor.change(uri, OTHER)
    assert [one["stale"] for one in await verdicts(editor, uri)] == [True]
    await confirm(editor, uri)
    await editor.until(uri, decided, PATIENCE)
    assert [one["stale"] for one in await verdicts(editor, uri)] == [False]


async def test_a_confirmed_finding_is_fixed_and_confirmed_again(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=MINE)
    editor = await start(EXTENSION, root)
    uri = editor.open(root / "bad.py")
    found = await editor.diagnostics(uri)
    assert not [one for one in await editor.actions(uri, found) if "then confirm" in one.title]
    await confirm(editor, uri)
    found = await editor.until(uri, decided, PATIENCE)
    (action,) = [one for one in await editor.actions(uri, found) if one.title.endswith(", then confirm")]
    (plain,) = [one for one in await editor.actions(uri, found) if one.title == action.title[: -len(", then confirm")]]
    plain = await editor.client.code_action_resolve_async(plain)
    action = await editor.client.code_action_resolve_async(action)
    assert action.edit
    assert action.edit.change_annotations
    ((name, annotation),) = action.edit.change_annotations.items()
    assert (annotation.label, annotation.needs_confirmation) == ("Fix NST101 and confirm `scaled`", True)
    (change,) = list(action.edit.document_changes or ())
    assert isinstance(change, types.TextDocumentEdit)
    assert {one.annotation_id for one in change.edits if isinstance(one, types.AnnotatedTextEdit)} == {name}
    assert plain.edit
    assert [one.label for one in (plain.edit.change_annotations or {}).values()] == [plain.title]
    (other,) = list(plain.edit.document_changes or ())
    assert isinstance(other, types.TextDocumentEdit)
    assert text_edits(change) == text_edits(other)
    # The command of a text in which nothing was fixed tells that, and runs experiments.
    assert action.command
    editor.change(uri, OTHER)
    arguments = list(action.command.arguments or ())
    told = await asyncio.wait_for(execute(editor, action.command.command, arguments), PATIENCE)
    assert told == "NST101 in `scaled`: confirmed → confirmed"
    assert decided(await editor.diagnostics(uri))
    editor.change(uri, MINE)
    editor.edit(plain.edit)
    told = await asyncio.wait_for(execute(editor, action.command.command, arguments), PATIENCE)
    assert told == "NST101 in `scaled`: confirmed → no finding left"
    assert editor.client.messages[-1].message == f"nonstrict: {told}"


async def test_each_verdict_of_a_document_is_told(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", region=REGION)
    editor = await start(CODE, root)
    uri = editor.open(root / "region.py")
    await editor.diagnostics(uri)
    await confirm(editor, uri)
    found = await editor.until(uri, lambda found: len(found) == 2 and decided(found), PATIENCE)
    told = await verdicts(editor, uri)
    assert [one["range"]["start"]["line"] for one in told] == [one.range.start.line for one in found]
    said, observed = (one["text"] for one in told)
    assert said.startswith("torch breaks the graph there: ")
    assert observed.startswith("observed, not predicted by a rule: ")
    assert len(observed) == 100
    # A client that draws none hears of none.
    assert "verdicts" not in editor.client.refreshed
