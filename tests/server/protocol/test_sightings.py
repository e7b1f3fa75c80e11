"""What real runs did, in an editor that is open while they are kept: beside the findings, and as notes of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from nonstrict.confirm.runs.store import DIRECTORY
from tests.confirm.runs.logs import MODEL, log_of_model
from tests.server.oracle import environment
from tests.server.protocol.profiles import CODE, PROFILES, Profile
from tests.server.protocol.projects import write
from tests.server.protocol.test_features import hover

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

#: Lines and codes of what the rules say, and of what a run adds to it.
STATIC = [(6, "NST701"), (18, "NST701")]
WITH_RUN = [(6, "NST701"), (12, "NST804"), (13, "NST701"), (18, "NST701")]


def run(root: Path) -> Path:
    """A run of the project ends now, and what it compiled is imported; the record."""
    path, now = str(root / "model.py"), time.time()
    log_of_model(root.parent / "traces", path, start_time=now)
    command = [sys.executable, "-m", "nonstrict", "import", str(root.parent / "traces")]
    subprocess.run(command, cwd=root, env=environment(), check=True, capture_output=True)
    (record,) = (root / DIRECTORY).iterdir()
    return record


def rows(found: list[types.Diagnostic]) -> list[tuple[int, str]]:
    return sorted((one.range.start.line + 1, str(one.code)) for one in found)


def told(found: list[types.Diagnostic], row: int) -> str:
    """The last line of what is said in a row."""
    (one,) = [one for one in found if one.range.start.line + 1 == row]
    assert isinstance(one.message, str)
    return one.message.splitlines()[-1]


async def lenses(editor: Editor, uri: str) -> list[str]:
    asked = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_code_lens_async(asked)
    return [one.command.title for one in found or () if one.command is not None]


async def hints(editor: Editor, uri: str) -> list[tuple[int, str, str]]:
    """The hints of a document: the row, what is said, and what is said when somebody points at it."""
    whole = types.Range(types.Position(0, 0), types.Position(1000, 0))
    asked = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
    found = await editor.client.text_document_inlay_hint_async(asked)
    return [(one.position.line + 1, str(one.label), str(one.tooltip)) for one in found or ()]


async def titles(editor: Editor, uri: str, found: list[types.Diagnostic], row: int) -> list[str]:
    here = [one for one in found if one.range.start.line + 1 == row]
    return [action.title for action in await editor.actions(uri, here)]


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_a_run_is_told_as_soon_as_it_is_kept(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL)
    (root / "nonstrict.toml").write_text("")
    editor = await start(profile, root)
    uri = editor.open(root / "model.py")
    before = await editor.until(uri, lambda found: rows(found) == STATIC)
    offered = await titles(editor, uri, before, 6)
    assert not any("observed" in title for title in await lenses(editor, uri))

    record = run(root)
    editor.written(record, kind=types.FileChangeType.Created)
    found = await editor.until(uri, lambda found: rows(found) == WITH_RUN)
    assert told(found, 6) == (
        "observed just now: Unsupported Tensor.item() call with capture_scalar_outputs=False (GB0124); "
        "the function fell back to eager"
    )
    assert told(found, 12) == "observed just now, 3 recompilations, 14 s"
    assert told(found, 13) == "observed just now"
    assert told(found, 18) == "not observed: a run just now compiled `calm`, and torch did not do this"
    notes = {one.range.start.line + 1: one for one in found if one.severity == types.DiagnosticSeverity.Information}
    assert set(notes) == {12, 13}
    assert not any(one.tags for one in notes.values())
    assert "help: Set `torch._dynamo.config.capture_scalar_outputs = True`" in str(notes[13].message)
    # Advice and fixes are those of the finding.
    assert await titles(editor, uri, found, 6) == offered

    said = await lenses(editor, uri)
    assert "last run just now: 4 graphs · 1 break · 3 recompilations · 14 s compiling" in said
    assert "last run just now: no graph · 1 break · 0.5 s compiling · falls back to eager" in said
    hinted = {(row, label): tip for row, label, tip in await hints(editor, uri)}
    assert hinted[12, "recompiled 3 times"].startswith("observed just now, 3 recompilations, 14 s: ")
    assert hinted[13, "graph break (observed)"].startswith("observed just now: ")
    assert "predicted and observed just now: Unsupported Tensor.item()" in hinted[6, "graph break 1/1"]
    assert "predicted, not observed: a run just now compiled `calm`" in hinted[18, "graph break 1/1"]
    asked = types.ExecuteCommandParams("nonstrict.showRun", [uri, "unforetold"])
    listed: Any = await editor.client.workspace_execute_command_async(asked)
    assert [node["text"] for node in listed] == ["NST804", "NST701"]
    assert "observed just now, 3 recompilations, 14 s" in listed[0]["detail"]
    page = await hover(editor, uri, "unforetold")
    assert "\nin a run just now: 1 graph, 1 break, 3 recompilations, compiled in 14 s" in page
    assert "\n   - observed just now, 3 recompilations, 14 s" in page

    record.unlink()
    editor.written(record, kind=types.FileChangeType.Deleted)
    after = await editor.until(uri, lambda found: rows(found) == STATIC)
    assert not any("observed" in str(one.message) for one in after)


async def test_what_was_edited_is_grey_and_then_gone(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    (root / "nonstrict.toml").write_text("")
    record = run(root)
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, lambda found: rows(found) == WITH_RUN)
    # Nothing is saved: the text in the editor counts. What only moved is as it was.
    editor.change(uri, "# moved\n" + MODEL)
    found = await editor.until(uri, lambda found: rows(found) == [(row + 1, code) for row, code in WITH_RUN])
    assert told(found, 13) == "observed just now, 3 recompilations, 14 s"
    editor.change(uri, MODEL.replace("    return y.cos()", "    y = y + 1\n    return y.cos()"))
    moved = [(6, "NST701"), (12, "NST804"), (14, "NST701"), (19, "NST701")]
    found = await editor.until(uri, lambda found: rows(found) == moved)
    assert told(found, 12) == "observed just now, 3 recompilations, 14 s, before the code was edited"
    tags = {one.range.start.line + 1: one.tags and tuple(one.tags) for one in found}
    grey = (types.DiagnosticTag.Unnecessary,)
    assert tags == {6: None, 12: grey, 14: grey, 19: None}
    assert not any("3 recompilations" in title for title in await lenses(editor, uri))

    # The line is gone, and of an edited function nothing is told after a week.
    editor.change(uri, MODEL.replace("y = x * n", "y = x + n"))
    await editor.until(uri, lambda found: rows(found) == [(6, "NST701"), (13, "NST701"), (18, "NST701")])
    document = json.loads(record.read_text())
    record.write_text(json.dumps({**document, "when": document["when"] - 8 * 24 * 3600}))
    (record.parent / "touched").touch()
    editor.written(record)
    found = await editor.until(uri, lambda found: rows(found) == STATIC)
    assert told(found, 6).startswith("observed 8 d ago: ")


async def test_clients_that_pull_are_told_to(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    (root / "nonstrict.toml").write_text("")
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, lambda found: rows(found) == STATIC)
    await asyncio.sleep(1)
    asked = editor.client.diagnostic_refresh_count
    editor.written(run(root).parent.parent, kind=types.FileChangeType.Created)
    assert await editor.comes_true(lambda: editor.client.diagnostic_refresh_count > asked, 10)


async def test_clients_are_asked_to_watch_runs(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", model=MODEL))
    assert await editor.comes_true(lambda: "workspace/didChangeWatchedFiles" in editor.client.registered)
    (asked,) = editor.client.registered["workspace/didChangeWatchedFiles"]
    globs = {one["globPattern"] for one in asked.register_options["watchers"]}
    # The first run comes with its folder, of which editors may see nothing else.
    assert globs >= {"**/.nonstrict", "**/.nonstrict/runs", "**/.nonstrict/runs/*.json"}


async def test_a_record_that_cannot_be_read_costs_nothing(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    (root / "nonstrict.toml").write_text("")
    run(root).write_text("{")
    editor = await start(CODE, root)
    found = await editor.until(editor.open(root / "model.py"), lambda found: rows(found) == STATIC)
    assert not any("observed" in str(one.message) for one in found)
