"""A line of two megabytes is answered as others are, and is forgotten when it is gone."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.processes import resident
from tests.server.protocol.profiles import PROFILES, Profile
from tests.server.protocol.projects import BAD, write
from tests.server.units import range_of, words_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio
SIZE = 2_000_000
#: Numbers, of each of which a tree has a node, and characters of several units.
NUMBERS = f"DATA = [{', '.join(str(number) for number in range(260_000))}]\n"
CHARACTERS = "\U0001d494é" * (SIZE // 2)
#: Seconds for an answer on a busy machine: alone it takes three, most of them in Python's parser.
PATIENCE = 20


def megabytes(editor: Editor) -> float:
    """What the server holds in memory."""
    server = editor.client._server
    assert server
    return resident(server.pid) / 2**20


async def settled(editor: Editor, seconds: float = 3) -> float:
    """What it holds when nothing happens."""
    await asyncio.sleep(seconds)
    return megabytes(editor)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
@pytest.mark.parametrize("ends", ["edited", "closed"])
@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_its_memory_is_given_back(start: Start, tmp_path: Path, profile: Profile, ends: str):
    assert len(NUMBERS) > 0.9 * SIZE
    editor = await start(profile, write(tmp_path / "project", bad=BAD, other=BAD))
    uri, other = editor.open(tmp_path / "project" / "bad.py"), editor.open(tmp_path / "project" / "other.py")
    await editor.until(uri, lambda found: len(found) == 1)
    await editor.until(other, lambda found: len(found) == 1)
    before = await settled(editor)
    begin = time.monotonic()
    editor.change(uri, BAD.replace("SCALE = ", f"{NUMBERS}SCALE = "))
    (found,) = await editor.until(uri, lambda found: bool(found) and found[0].range.start.line == 8)
    assert time.monotonic() - begin < PATIENCE
    assert words_at(editor.documents[uri].text, found.range, editor.encoding) == "SCALE"
    during = megabytes(editor)
    assert during > before + 100
    if ends == "edited":
        editor.change(uri, BAD)
        await editor.until(uri, lambda found: bool(found) and found[0].range.start.line == 7)
    else:
        editor.close(uri)
    after = await settled(editor)
    assert after < before + 0.2 * (during - before), (before, during, after)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_places_at_its_end_are_found(start: Start, tmp_path: Path, profile: Profile):
    text = BAD.replace("return x * SCALE", f'"{CHARACTERS}"; return x * SCALE')
    editor = await start(profile, write(tmp_path / "project", bad=BAD))
    uri = editor.open(tmp_path / "project" / "bad.py", text)
    (found,) = await editor.until(uri, lambda found: len(found) == 1)
    scale = range_of(text, "SCALE\n\n\n@torch.compile", editor.encoding).start
    assert found.range == types.Range(scale, types.Position(scale.line, scale.character + len("SCALE")))
    begin = time.monotonic()
    position = types.Position(scale.line, scale.character + 1)
    params = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(uri), position)
    (item,) = list(await editor.client.text_document_prepare_call_hierarchy_async(params) or ())
    assert item.name == "scaled"
    params.position = types.Position(scale.line, scale.character - 1)
    assert not await editor.client.text_document_prepare_call_hierarchy_async(params)
    # Typed at the very end of it.
    editor.change(uri, text.replace("x * SCALE\n", "x * SCALE + SCALE\n"))
    await editor.until(uri, lambda found: len(found) == 2)
    assert time.monotonic() - begin < PATIENCE
