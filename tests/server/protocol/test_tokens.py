"""Captured names as semantic tokens, for users who want them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from lsprotocol import types

from tests.server.protocol.profiles import CODE, NEOVIM, PROFILES, Profile
from tests.server.protocol.projects import write
from tests.server.protocol.test_notebooks import CODE_CELL, FIRST, SECOND, Notebook
from tests.server.units import range_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

METHOD = "textDocument/semanticTokens"
WANTED = {"semanticTokens": {"enable": True}}
TEXT = """\
import torch


class Config:
    size = [1.0]


CONFIG = Config()
GRÖẞE = torch.ones(3)


def grow():
    CONFIG.size[0] += 1


@torch._dynamo.nonstrict_trace
def scaled(x):
    "\U0001d494 é"; x = x * GRÖẞE; x = x + (CONFIG
        .size[0])
    print(x)
    return x
"""


class Token(NamedTuple):
    """A token, decoded: where it is, its type and its modifiers by their names."""

    range: types.Range
    type: str
    modifiers: frozenset[str]


def decoded(editor: Editor, data: Sequence[int]) -> list[Token]:
    """The tokens of an answer, by the legend that the server announced or registered."""
    options = editor.capabilities.semantic_tokens_provider
    if options is None:
        (registration,) = editor.client.registered[METHOD]
        legend = registration.register_options["legend"]
        kinds, modifiers = legend["tokenTypes"], legend["tokenModifiers"]
    else:
        kinds, modifiers = options.legend.token_types, options.legend.token_modifiers
    found: list[Token] = []
    line = start = 0
    for index in range(0, len(data), 5):
        down, right, length, kind, bits = data[index : index + 5]
        line, start = line + down, right if down else start + right
        where = types.Range(types.Position(line, start), types.Position(line, start + length))
        words = frozenset(word for number, word in enumerate(modifiers) if bits >> number & 1)
        found.append(Token(where, kinds[kind], words))
    return found


async def tokens(editor: Editor, uri: str, lines: tuple[int, int] | None = None) -> list[Token] | None:
    """The tokens of a document or of some of its lines; None where the server has none to show."""
    document = types.TextDocumentIdentifier(uri)
    if lines is None:
        found = await editor.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document))
    else:
        within = types.Range(types.Position(lines[0], 0), types.Position(lines[1], 0))
        params = types.SemanticTokensRangeParams(document, within)
        found = await editor.client.text_document_semantic_tokens_range_async(params)
    return None if found is None else decoded(editor, found.data)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_captured_names_are_told(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=TEXT)
    editor = await start(profile, root, settings=WANTED)
    uri = editor.open(root / "model.py")
    found = await editor.until(uri, lambda found: len(found) == 3)
    if profile.registers:
        assert await editor.comes_true(lambda: bool(editor.client.registered.get(METHOD)))
    frozen = frozenset({"captured", "frozen"})
    captured = [
        Token(range_of(TEXT, "GRÖẞE; x", editor.encoding), "variable", frozen),
        Token(range_of(TEXT, "CONFIG\n", editor.encoding), "variable", frozen),
        Token(range_of(TEXT, "size[0])", editor.encoding), "property", frozen),
    ]
    names = ["GRÖẞE", "CONFIG", "size"]
    for one, name in zip(captured, names, strict=True):
        one.range.end = types.Position(one.range.start.line, one.range.start.character)
        one.range.end.character += range_of(name, name, editor.encoding).end.character
    assert {one.code for one in found} == {"NST101", "NST104", "NST201"}
    assert await tokens(editor, uri) == captured
    line = captured[0].range.start.line
    assert await tokens(editor, uri, (line + 1, line + 2)) == captured[2:]
    assert await tokens(editor, uri, (0, line - 1)) is None
    editor.change(uri, TEXT.replace("* GRÖẞE", "* 2").replace("\n        .size[0])", ")"))
    await editor.until(uri, lambda found: "NST101" not in {one.code for one in found})
    assert all("size" not in str(one) for one in await tokens(editor, uri) or ())


@pytest.mark.parametrize("profile", [CODE, NEOVIM], ids=str)
async def test_tokens_are_there_only_while_they_are_wanted(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=TEXT)
    editor = await start(profile, root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, bool)
    assert (editor.capabilities.semantic_tokens_provider is None) == profile.registers
    assert not editor.client.registered.get(METHOD)
    assert await tokens(editor, uri) is None
    assert "tokens" not in editor.client.refreshed
    await editor.configure(WANTED)
    assert await editor.comes_true(lambda: editor.client.refreshed.get("tokens", 0) > 0)
    assert bool(editor.client.registered.get(METHOD)) == profile.registers
    assert len(await tokens(editor, uri) or ()) == 3
    told = editor.client.refreshed["tokens"]
    await editor.configure({})
    assert await editor.comes_true(lambda: editor.client.refreshed["tokens"] > told)
    assert not editor.client.registered.get(METHOD)
    assert await tokens(editor, uri) is None


async def test_each_cell_has_its_own(start: Start, tmp_path: Path):
    root = write(tmp_path / "project")
    editor = await start(CODE, root, settings=WANTED)
    notebook = Notebook(editor, root / "work.ipynb", [(CODE_CELL, FIRST), (CODE_CELL, SECOND)])
    first, second = notebook.cells
    assert len(await editor.diagnostics(second)) == 1
    assert await editor.comes_true(lambda: bool(editor.client.registered.get(METHOD)))
    assert await tokens(editor, first) is None
    (token,) = await tokens(editor, second) or []
    assert token.range == range_of(SECOND, "SCALE", "utf-16")
