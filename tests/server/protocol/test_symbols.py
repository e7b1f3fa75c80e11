"""Marked functions and compiled regions in the outline of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.protocol.profiles import CODE, NEOVIM, PROFILES, Profile
from tests.server.protocol.projects import write
from tests.server.protocol.test_notebooks import CODE_CELL, FIRST, MARKUP, Notebook
from tests.server.units import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio

MODEL = """\
import torch

SCALE = torch.ones(3)


class Größe(torch.nn.Module):
    def helper(self, x):
        return x

    async def forward(self, x):
        "\U0001d494"; x = x + 1; print(x)

        @torch._dynamo.nonstrict_trace
        @torch.no_grad()
        def innen(y):
            return y * SCALE

        return innen(self.helper(x))


if SCALE is not None:

    @torch.compile
    def \\
            folded(x):
        return x + 1


def one(x): return torch.compile(lambda y: y.sum().item())(x)


def plain(x):
    return x
"""
TRAIN = """\
import torch
from model import Größe

compiled = torch.compile(Größe())
unknown = torch.compile(globals()["x"])
"""


async def symbols(editor: Editor, uri: str) -> list[types.DocumentSymbol]:
    params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_symbol_async(params)
    assert all(isinstance(one, types.DocumentSymbol) for one in found or ())
    return [one for one in found or () if isinstance(one, types.DocumentSymbol)]


def listed(found: Iterable[types.DocumentSymbol], depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Depth, name and detail of each symbol, from the top to the bottom; what the protocol says of ranges holds."""
    for one in found:
        assert one.range.start <= one.selection_range.start <= one.selection_range.end <= one.range.end
        yield depth, one.name, str(one.detail)
        yield from listed(one.children or (), depth + 1)


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_functions_are_told_with_what_lenses_say(start: Start, tmp_path: Path, profile: Profile):
    root = write(tmp_path / "project", model=MODEL.replace("async def", "def"), train=TRAIN)
    editor = await start(profile, root)
    model, train = editor.open(root / "model.py"), editor.open(root / "train.py")
    await editor.until(model, bool)
    found = await symbols(editor, model)
    assert list(listed(found)) == [
        (0, "Größe.forward", "torch.compile · 1 to 2 graphs · 1 break · 1 error"),
        (1, "Größe.forward.<locals>.innen", "nonstrict_trace · 1 finding"),
        (0, "folded", "torch.compile · at most 1 graph"),
        (0, "one.<locals>.<lambda>", "torch.compile · 1 graph · 1 break · 1 warning"),
    ]
    params = types.CodeLensParams(types.TextDocumentIdentifier(model))
    lenses = await editor.client.text_document_code_lens_async(params) or ()
    said = {one.command.title for one in lenses if one.command}
    assert {detail.partition(" · ")[2] for _, _, detail in listed(found)} <= said
    # The region is in the other file; there, the call stands for it.
    assert list(listed(await symbols(editor, train))) == [
        (0, "Größe.forward", "torch.compile · 1 to 2 graphs · 1 break · 1 error"),
        (0, "not analyzed", "torch.compile · it is not known what `globals()['x']` is"),
    ]


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_ranges_hold_the_whole_function_and_its_name(start: Start, tmp_path: Path, profile: Profile):
    text = MODEL.replace("async def", "def")
    root = write(tmp_path / "project", model=text, train=TRAIN)
    editor = await start(profile, root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, bool)
    forward, folded, unnamed = await symbols(editor, uri)
    (inner,) = forward.children or []
    assert [one.kind for one in (forward, inner, folded)] == [types.SymbolKind.Method, *[types.SymbolKind.Function] * 2]
    whole = text[text.index("@torch._dynamo") : text.index("\n\n        return innen")]
    assert inner.range == range_of(text, whole, editor.encoding)
    assert inner.selection_range == range_of(text, "innen", editor.encoding)
    whole = text[text.index("def forward") : text.index("\n\n\nif SCALE")]
    assert forward.range == range_of(text, whole, editor.encoding)
    assert forward.selection_range == range_of(text, "forward", editor.encoding)
    # A name on a line of its own is not looked for.
    assert folded.range.start == range_of(text, "@torch.compile\n", editor.encoding).start
    assert folded.selection_range.start == folded.selection_range.end
    assert unnamed.range == range_of(text, "lambda y: y.sum().item()", editor.encoding)


async def test_symbols_follow_edits_and_settings(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL)
    editor = await start(CODE, root)
    uri = editor.open(root / "model.py")
    registered = editor.client.registered.setdefault(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, [])
    assert editor.capabilities.document_symbol_provider is None
    assert await editor.comes_true(lambda: len(registered) == 1)
    assert next(name for _, name, _ in listed(await symbols(editor, uri))) == "Größe.forward.<locals>.innen"
    editor.change(uri, MODEL[: MODEL.index("    async def")])
    assert await symbols(editor, uri) == []
    editor.change(uri, "\n" + MODEL)
    assert len(await symbols(editor, uri)) == 3
    await editor.configure({"documentSymbols": {"enable": False}})
    assert await editor.comes_true(lambda: not editor.client.registered[types.TEXT_DOCUMENT_DOCUMENT_SYMBOL])
    assert await symbols(editor, uri) == []
    await editor.configure({"documentSymbols": {"enable": True}})
    assert await editor.comes_true(lambda: bool(editor.client.registered[types.TEXT_DOCUMENT_DOCUMENT_SYMBOL]))
    assert len(await symbols(editor, uri)) == 3


def _without_hierarchies() -> types.ClientCapabilities:
    found = NEOVIM.capabilities()
    assert found.text_document
    found.text_document.document_symbol = types.DocumentSymbolClientCapabilities()
    return found


async def test_clients_without_hierarchies_get_a_list(start: Start, tmp_path: Path):
    root = write(tmp_path / "project", model=MODEL.replace("async def", "def"), train=TRAIN)
    editor = await start(NEOVIM._replace(capabilities=_without_hierarchies), root)
    uri = editor.open(root / "model.py")
    await editor.until(uri, bool)
    params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_symbol_async(params)
    names = ["Größe.forward", "Größe.forward.<locals>.innen", "folded", "one.<locals>.<lambda>"]
    told = [one for one in found or () if isinstance(one, types.SymbolInformation)]
    assert [one.name for one in told] == names
    assert [one.container_name for one in told] == [None, names[0], None, None]
    assert {one.location.uri for one in told} == {uri}


async def test_each_cell_has_its_own(start: Start, tmp_path: Path):
    root = write(tmp_path / "project")
    editor = await start(CODE, root)
    cells = [
        "# only words",
        FIRST,
        "@torch._dynamo.nonstrict_trace\ndef scaled(x):\n    return x * SCALE\n# the end",
        "# a comment\n",
        "class M(torch.nn.Module):\n    def forward(self, x): return scaled(x)\ncompiled = torch.compile(M())",
    ]
    kinds = [MARKUP, *[CODE_CELL] * 4]
    notebook = Notebook(editor, root / "work.ipynb", list(zip(kinds, cells, strict=True)))
    _, first, second, third, fourth = notebook.cells
    assert len(await editor.diagnostics(second)) == 1
    assert await symbols(editor, first) == await symbols(editor, third) == []
    (scaled,) = await symbols(editor, second)
    assert (scaled.name, scaled.detail) == ("scaled", "nonstrict_trace · 1 finding")
    assert scaled.range == range_of(cells[2], cells[2].removesuffix("\n# the end"), "utf-16")
    (forward,) = await symbols(editor, fourth)
    assert (forward.name, forward.detail) == ("M.forward", "torch.compile · 1 graph · 1 error")
    assert forward.selection_range == range_of(cells[4], "forward", "utf-16")
