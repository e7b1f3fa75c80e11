"""Open documents and notebooks: their paths, their addresses, and notebooks as the analysis reads them."""

from __future__ import annotations

import json

from lsprotocol import types as lsp

from nonstrict_server.documents import Documents, Place

NOTEBOOK = "file:///w/n.ipynb"


def item(uri: str, text: str, language: str = "python") -> lsp.TextDocumentItem:
    return lsp.TextDocumentItem(uri, language, 1, text)


def cell(name: str, kind: lsp.NotebookCellKind = lsp.NotebookCellKind.Code) -> lsp.NotebookCell:
    return lsp.NotebookCell(kind, f"cell:{name}")


def with_notebook() -> Documents:
    documents = Documents("utf-16", "/w")
    notebook = lsp.NotebookDocument(
        NOTEBOOK, "jupyter-notebook", 1, [cell("text", lsp.NotebookCellKind.Markup), cell("a"), cell("sql"), cell("b")]
    )
    texts = [item("cell:a", "a = 1"), item("cell:sql", "select", "sql"), item("cell:b", "b = a")]
    documents.open_notebook(lsp.DidOpenNotebookDocumentParams(notebook, texts))
    return documents


def sources(documents: Documents) -> list[tuple[str, str]]:
    read = json.loads(documents.text_of("/w/n.ipynb") or "")
    return [(one["cell_type"], one["source"]) for one in read["cells"]]


def test_addresses_are_those_of_the_client():
    documents = Documents("utf-16", "/w")
    uri = "file:///w/a%2Db%20c.py"
    assert documents.open(item(uri, "x\n")) == "/w/a-b c.py"
    assert documents.uri_of("/w/a-b c.py") == uri
    assert documents.place_of("file:///w/a-b%20c.py") == Place("/w/a-b c.py")
    assert documents.close(uri) == "/w/a-b c.py"
    assert documents.uri_of("/w/a-b c.py") == "file:///w/a-b%20c.py"
    assert documents.text_of("/w/a-b c.py") is None


def test_documents_without_a_file():
    documents = Documents("utf-16", "/w")
    assert documents.open(item("untitled:Untitled-1", "x\n")) == "/w/Untitled-1.py"
    assert documents.open(item("untitled:Untitled-2", "x\n", "markdown")) == "/w/Untitled-2.md"
    # An earlier revision of a file is not the file.
    assert documents.open(item("git:/w/a.py?ref=HEAD", "x\n")) == "/w/git-a.py"
    assert documents.uri_of("/w/Untitled-1.py") == "untitled:Untitled-1"


def test_a_notebook_is_the_json_of_its_file():
    documents = with_notebook()
    assert sources(documents) == [("raw", ""), ("code", "a = 1"), ("raw", "select"), ("code", "b = a")]
    assert documents.documents_of("/w/n.ipynb") == [("cell:a", 2), ("cell:b", 4)]
    assert documents.place_of("cell:b") == Place("/w/n.ipynb", 4)
    assert documents.uri_of("/w/n.ipynb", 2) == "cell:a"
    assert documents.uri_of("/w/n.ipynb") == NOTEBOOK


def changed(documents: Documents, cells: lsp.NotebookDocumentCellChanges) -> None:
    notebook = lsp.VersionedNotebookDocumentIdentifier(2, NOTEBOOK)
    change = lsp.NotebookDocumentChangeEvent(cells=cells)
    assert documents.change_notebook(lsp.DidChangeNotebookDocumentParams(notebook, change)) == "/w/n.ipynb"


def test_cells_are_moved_added_removed_and_edited():
    documents = with_notebook()
    structure = lsp.NotebookDocumentCellChangeStructure(
        lsp.NotebookCellArrayChange(0, 3, [cell("c"), cell("a")]),
        did_open=[item("cell:c", "c = 3")],
        did_close=[lsp.TextDocumentIdentifier("cell:sql")],
    )
    where = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
    text = lsp.NotebookDocumentCellContentChanges(
        lsp.VersionedTextDocumentIdentifier(2, "cell:c"), [lsp.TextDocumentContentChangePartial(where, "d")]
    )
    changed(documents, lsp.NotebookDocumentCellChanges(structure=structure, text_content=[text]))
    assert sources(documents) == [("code", "d = 3"), ("code", "a = 1"), ("code", "b = a")]
    assert documents.version_of("cell:c") == 2
    assert documents.version_of("cell:sql") is None
    changed(documents, lsp.NotebookDocumentCellChanges(data=[cell("a", lsp.NotebookCellKind.Markup)]))
    assert [kind for kind, _ in sources(documents)] == ["code", "raw", "code"]


def test_a_closed_notebook_leaves_nothing():
    documents = with_notebook()
    assert documents.close_notebook(NOTEBOOK) == "/w/n.ipynb"
    assert documents.open_paths() == []
    assert documents.version_of("cell:a") is None
    assert documents.close_notebook(NOTEBOOK) is None
