"""Notebooks: cells are documents of their own, findings stand in the cell they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.protocol.editor import codes
from tests.server.protocol.profiles import CODE, PROFILES, Profile
from tests.server.protocol.projects import CLEAN, write
from tests.server.units import range_of, words_at

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.protocol.conftest import Start
    from tests.server.protocol.editor import Editor

pytestmark = pytest.mark.asyncio
FIRST = "import torch\n\nSCALE = torch.ones(3)"
SECOND = '@torch._dynamo.nonstrict_trace\ndef scaled(x):\n    "\U0001f600"; return x * SCALE'
MARKUP, CODE_CELL = types.NotebookCellKind.Markup, types.NotebookCellKind.Code


class Notebook:
    """An open notebook."""

    def __init__(self, editor: Editor, path: Path, cells: list[tuple[types.NotebookCellKind, str]]) -> None:
        self.editor, self.uri, self.version = editor, path.as_uri(), 1
        self.cells = [f"vscode-notebook-cell:{path}#W{number}" for number in range(len(cells))]
        self.texts = dict(zip(self.cells, (text for _, text in cells), strict=True))
        kinds = [kind for kind, _ in cells]
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    self.uri,
                    "jupyter-notebook",
                    1,
                    [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, self.cells, strict=True)],
                ),
                [self.item(uri) for kind, uri in zip(kinds, self.cells, strict=True) if kind == CODE_CELL],
            )
        )

    def item(self, uri: str) -> types.TextDocumentItem:
        """A cell as the protocol opens it."""
        return types.TextDocumentItem(uri, "python", self.version, self.texts[uri])

    def change(self, cells: types.NotebookDocumentCellChanges) -> None:
        """Tell of a change of cells."""
        self.version += 1
        self.editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(self.version, self.uri),
                types.NotebookDocumentChangeEvent(cells=cells),
            )
        )

    def type(self, uri: str, text: str) -> None:
        """Replace the text of a cell."""
        self.texts[uri] = text
        document = types.VersionedTextDocumentIdentifier(self.version + 1, uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        content = types.NotebookDocumentCellContentChanges(document, [whole])
        self.change(types.NotebookDocumentCellChanges(text_content=[content]))

    def put(self, at: int, uri: str, text: str) -> None:
        """Insert a code cell."""
        self.cells.insert(at, uri)
        self.texts[uri] = text
        array = types.NotebookCellArrayChange(at, 0, [types.NotebookCell(CODE_CELL, uri)])
        structure = types.NotebookDocumentCellChangeStructure(array, [self.item(uri)], [])
        self.change(types.NotebookDocumentCellChanges(structure=structure))

    def take(self, at: int) -> None:
        """Delete a cell."""
        uri = self.cells.pop(at)
        closed = [types.TextDocumentIdentifier(uri)]
        structure = types.NotebookDocumentCellChangeStructure(types.NotebookCellArrayChange(at, 1), [], closed)
        self.change(types.NotebookDocumentCellChanges(structure=structure))


async def test_findings_stand_in_their_cells(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", clean=CLEAN))
    notebook = Notebook(
        editor,
        tmp_path / "project" / "work.ipynb",
        [(MARKUP, "# Title"), (CODE_CELL, FIRST), (CODE_CELL, SECOND)],
    )
    _, first, second = notebook.cells
    assert await editor.diagnostics(first) == []
    (found,) = await editor.diagnostics(second)
    assert found.code == "NST101"
    assert found.range == range_of(SECOND, "SCALE", "utf-16")
    assert found.related_information
    assert found.related_information[0].location.uri == second

    notebook.type(first, FIRST.replace("torch.ones(3)", "3.0"))
    assert "NST101" not in codes(await editor.diagnostics(second))
    notebook.type(first, FIRST)
    assert codes(await editor.diagnostics(second)) == ["NST101"]

    # A magic line is no Python, and no mistake.
    notebook.type(first, "%matplotlib inline\n" + FIRST)
    assert await editor.diagnostics(first) == []
    assert codes(await editor.diagnostics(second)) == ["NST101"]


async def test_cells_come_and_go(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", clean=CLEAN))
    notebook = Notebook(editor, tmp_path / "project" / "work.ipynb", [(CODE_CELL, FIRST), (CODE_CELL, SECOND)])
    second = notebook.cells[1]
    assert codes(await editor.diagnostics(second)) == ["NST101"]
    new = "vscode-notebook-cell:" + str(tmp_path / "project" / "work.ipynb") + "#new"
    notebook.put(2, new, SECOND.replace("scaled", "printed").replace("return", "print(x); return"))
    assert codes(await editor.diagnostics(new)) == ["NST201", "NST101"]
    assert codes(await editor.diagnostics(second)) == ["NST101"]
    notebook.take(0)
    assert "NST101" not in codes(await editor.diagnostics(second))


async def test_a_finding_is_disabled_in_its_cell(start: Start, tmp_path: Path):
    editor = await start(CODE, write(tmp_path / "project", clean=CLEAN))
    notebook = Notebook(editor, tmp_path / "project" / "work.ipynb", [(CODE_CELL, FIRST), (CODE_CELL, SECOND)])
    second = notebook.cells[1]
    found = await editor.diagnostics(second)
    offered = await editor.actions(second, found)
    (action,) = [one for one in offered if "isable" in one.title and "line" in one.title]
    if action.edit is None:
        action = await editor.client.code_action_resolve_async(action)
    assert action.edit
    changes = action.edit.document_changes or ()
    touched = {change.text_document.uri for change in changes if isinstance(change, types.TextDocumentEdit)}
    assert (touched or set(action.edit.changes or {})) == {second}
    notebook.type(second, SECOND + "  # nonstrict: ignore[NST101]")
    assert await editor.diagnostics(second) == []


@pytest.mark.parametrize("profile", PROFILES, ids=str)
async def test_the_text_of_all_cells_is_python(start: Start, tmp_path: Path, profile: Profile):
    """As JupyterLab opens a notebook, whose file holds something else."""
    root = write(tmp_path / "project", clean=CLEAN)
    (root / "work.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    editor = await start(profile, root)
    uri = editor.open((root / "work.ipynb").as_uri(), FIRST + "\n\n\n" + SECOND)
    (found,) = await editor.until(uri, bool)
    assert found.code == "NST101"
    text = editor.documents[uri].text
    assert words_at(text, found.range, editor.encoding) == "SCALE"
    assert found.range.start.line == text.count("\n")
    editor.change(uri, FIRST)
    await editor.until(uri, lambda found: not found)
    editor.close(uri)
