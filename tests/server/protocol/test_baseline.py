"""The command that writes a baseline: what it holds is no longer shown, and what is new is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from nonstrict.settings.model import DEFAULT_BASELINE
from tests.server.protocol.editor import codes
from tests.server.protocol.profiles import CODE, PROFILES, Profile
from tests.server.protocol.projects import BAD, HELPER, MODEL, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio


async def write_baseline(editor: Editor, *arguments: str) -> list[str]:
    params = types.ExecuteCommandParams("nonstrict.writeBaseline", list(arguments))
    return list(await editor.client.workspace_execute_command_async(params) or ())


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_what_is_known_is_not_shown(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", bad=BAD, model=MODEL, helper=HELPER)
    editor = await start(profile, root)
    bad, helper = editor.open(root / "bad.py"), editor.open(root / "helper.py")
    await editor.until(helper, lambda found: codes(found) == ["NST201", "NST301"])
    await editor.until(bad, lambda found: codes(found) == ["NST101"])
    assert await write_baseline(editor, bad) == [str(root / DEFAULT_BASELINE)]
    assert any("Wrote 5 findings" in message.message for message in editor.client.messages)
    for uri in (bad, helper):
        assert await editor.until(uri, lambda found: not found) == []
    # A line that is moved is known, one that is written anew is not.
    editor.change(bad, "# moved\n" + BAD)
    assert await editor.until(bad, lambda found: not found) == []
    editor.change(bad, BAD.replace("x * SCALE", "x - SCALE"))
    assert codes(await editor.until(bad, lambda found: len(found) == 1)) == ["NST101"]
    (root / DEFAULT_BASELINE).unlink()
    editor.written(root / DEFAULT_BASELINE, kind=types.FileChangeType.Deleted)
    assert codes(await editor.until(helper, lambda found: len(found) == 2)) == ["NST201", "NST301"]


async def test_a_file_that_is_no_baseline_is_left_alone(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", bad=BAD)
    (root / DEFAULT_BASELINE).write_text("{}", encoding="utf-8")
    editor = await start(CODE, root)
    uri = editor.open(root / "bad.py")
    with pytest.raises(JsonRpcException, match="is not a baseline"):
        await write_baseline(editor, uri)
    assert (root / DEFAULT_BASELINE).read_text(encoding="utf-8") == "{}"
    assert codes(await editor.diagnostics(uri)) == ["NST101"]


async def test_all_folders(start: Start, tmp_path: Path):
    roots = [write(tmp_path / name, bad=BAD) for name in ("left", "right")]
    editor = await start(CODE, *roots)
    assert await write_baseline(editor) == [str(root / DEFAULT_BASELINE) for root in roots]
