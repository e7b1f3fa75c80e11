"""The open documents and notebooks, and the way between their addresses and the paths of the analysis."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.uris import from_fs_path, to_fs_path

from nonstrict.text.source import SourceKind, source_kind
from nonstrict_server.buffers import Buffer
from nonstrict_server.protocol import InvalidParamsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What documents without a file are called, by the language that the client says.
_SUFFIXES = {"python": ".py", "markdown": ".md", "restructuredtext": ".rst", "jupyter": ".ipynb"}


def file_of(uri: str) -> str | None:
    """The file that an address names; None if it is that of something else.

    Raises:
        InvalidParamsError: it is no address.
    """
    try:
        urlsplit(uri)
        path = to_fs_path(uri)
    except ValueError:
        raise InvalidParamsError(f"`{uri[:200]}` is not the address of a document") from None
    return os.path.normpath(path) if path else None


class Place(NamedTuple):
    """A file of the analysis; in a notebook `cell` is the position of the cell among all cells, from 1."""

    path: str
    cell: int | None = None


class Notebook:
    """An open notebook: the addresses of its cells in order, which of them hold Python, and its metadata."""

    def __init__(self, path: str, cells: Sequence[lsp.NotebookCell], metadata: object) -> None:
        self.path = path
        self.cells = list(cells)
        self.metadata = metadata


class Documents:
    """What is open. The event loop changes it; the thread of the analysis only looks things up."""

    def __init__(self, encoding: str, home: str) -> None:
        self.encoding = encoding
        self.home = home
        self._buffers: dict[str, Buffer] = {}
        self._languages: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._in_notebook: dict[str, str] = {}

    # -- addresses ----------------------------------------------------------------------------------------------------

    def place_of(self, uri: str) -> Place:
        """The file, and the cell, that an address means."""
        notebook = self._notebooks.get(self._in_notebook.get(uri, ""))
        if notebook is None:
            return Place(self._paths.get(uri) or self._path(uri, ""))
        numbers = (number for number, cell in enumerate(notebook.cells, 1) if cell.document == uri)
        return Place(notebook.path, next(numbers, None))

    def uri_of(self, path: str, cell: int | None = None) -> str:
        """The address of a file or cell, as the client writes it if it is open."""
        address = self._addresses.get(path)
        if address is None:
            return from_fs_path(path) or path
        notebook = self._notebooks.get(address)
        if notebook is not None and cell is not None and 0 < cell <= len(notebook.cells):
            return notebook.cells[cell - 1].document
        return address

    def documents_of(self, path: str) -> list[tuple[str, int | None]]:
        """The addresses under which a file is open: its own, or one for each cell that holds Python."""
        address = self._addresses.get(path)
        if address is None:
            return []
        notebook = self._notebooks.get(address)
        if notebook is None:
            return [(address, None)]
        return [(cell.document, number) for number, cell in enumerate(notebook.cells, 1) if self._is_python(cell)]

    def is_open(self, path: str) -> bool:
        """Whether a file is open as a document or notebook."""
        return path in self._addresses

    def open_paths(self) -> list[str]:
        """The files that are open."""
        return list(self._addresses)

    def version_of(self, uri: str) -> int | None:
        """The version of an open document."""
        buffer = self._buffers.get(uri)
        return buffer.version if buffer is not None else None

    def versions(self) -> dict[str, int]:
        """The versions of all open documents."""
        return {uri: buffer.version for uri, buffer in self._buffers.items()}

    def text_of(self, path: str) -> str | None:
        """The text of an open file; of a notebook, the JSON of its file."""
        address = self._addresses.get(path)
        if address is None:
            return None
        notebook = self._notebooks.get(address)
        return self._buffers[address].text if notebook is None else self._json(notebook)

    # -- documents ----------------------------------------------------------------------------------------------------

    def open(self, document: lsp.TextDocumentItem) -> str:
        """Take a document; its path.

        What JupyterLab opens under the name of a notebook is the Python text of all its cells.
        """
        path = self._path(document.uri, document.language_id)
        if document.language_id == "python" and source_kind(path) is not SourceKind.PYTHON:
            path += ".py"
        self._buffers[document.uri] = Buffer(document.text, document.version, self.encoding)
        self._paths[document.uri] = path
        self._addresses[path] = document.uri
        return path

    def change(self, params: lsp.DidChangeTextDocumentParams) -> str | None:
        """Apply changes; the path of the document, None if it is not open."""
        uri = params.text_document.uri
        buffer = self._buffers.get(uri)
        if buffer is None:
            return None
        buffer.apply(params.content_changes, params.text_document.version)
        return self._paths.get(uri)

    def close(self, uri: str) -> str | None:
        """Forget a document; its path, None if it was not open."""
        self._buffers.pop(uri, None)
        path = self._paths.pop(uri, None)
        if path is not None and self._addresses.get(path) == uri:
            del self._addresses[path]
        return path

    # -- notebooks ----------------------------------------------------------------------------------------------------

    def open_notebook(self, params: lsp.DidOpenNotebookDocumentParams) -> str:
        """Take a notebook and its cells; its path."""
        notebook = params.notebook_document
        path = self._path(notebook.uri, "jupyter")
        for cell in params.cell_text_documents:
            self._open_cell(cell, notebook.uri)
        self._notebooks[notebook.uri] = Notebook(path, notebook.cells, notebook.metadata)
        self._paths[notebook.uri] = path
        self._addresses[path] = notebook.uri
        return path

    def change_notebook(self, params: lsp.DidChangeNotebookDocumentParams) -> str | None:
        """Apply changes of cells and their texts; the path of the notebook, None if it is not open."""
        uri = params.notebook_document.uri
        notebook = self._notebooks.get(uri)
        if notebook is None:
            return None
        if params.change.metadata is not None:
            notebook.metadata = params.change.metadata
        changes = params.change.cells
        if changes is None:
            return notebook.path
        if changes.structure is not None:
            array = changes.structure.array
            notebook.cells[array.start : array.start + array.delete_count] = array.cells or ()
            for opened in changes.structure.did_open or ():
                self._open_cell(opened, uri)
            for closed in changes.structure.did_close or ():
                self._forget_cell(closed.uri)
        for data in changes.data or ():
            notebook.cells = [data if cell.document == data.document else cell for cell in notebook.cells]
        for text in changes.text_content or ():
            buffer = self._buffers.get(text.document.uri)
            if buffer is not None:
                buffer.apply(text.changes, text.document.version)
        return notebook.path

    def close_notebook(self, uri: str) -> str | None:
        """Forget a notebook and its cells; its path, None if it was not open."""
        notebook = self._notebooks.pop(uri, None)
        if notebook is None:
            return None
        for cell in [cell for cell, owner in self._in_notebook.items() if owner == uri]:
            self._forget_cell(cell)
        self._paths.pop(uri, None)
        self._addresses.pop(notebook.path, None)
        return notebook.path

    def _open_cell(self, cell: lsp.TextDocumentItem, notebook: str) -> None:
        self._buffers[cell.uri] = Buffer(cell.text, cell.version, self.encoding)
        self._languages[cell.uri] = cell.language_id
        self._in_notebook[cell.uri] = notebook

    def _forget_cell(self, uri: str) -> None:
        self._buffers.pop(uri, None)
        self._languages.pop(uri, None)
        self._in_notebook.pop(uri, None)

    def _is_python(self, cell: lsp.NotebookCell) -> bool:
        return cell.kind == lsp.NotebookCellKind.Code and self._languages.get(cell.document) == "python"

    def _json(self, notebook: Notebook) -> str:
        cells = [
            {"cell_type": "code" if self._is_python(cell) else "raw", "source": text}
            for cell, text in self._cell_texts(notebook)
        ]
        return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})

    def _cell_texts(self, notebook: Notebook) -> Iterator[tuple[lsp.NotebookCell, str]]:
        for cell in notebook.cells:
            buffer = self._buffers.get(cell.document)
            yield cell, buffer.text if buffer is not None else ""

    def _path(self, uri: str, language: str) -> str:
        path = file_of(uri)
        if path:
            return path
        # A document that was never saved is taken to lie in the first folder. What else is not a file, such
        # as an earlier revision of one, must not be taken for the file of that name.
        parts = urlsplit(uri)
        name = os.path.basename(unquote(parts.path)) or "untitled"
        name = name if parts.scheme == "untitled" else f"{parts.scheme}-{name}"
        suffix = _SUFFIXES.get(language, ".py")
        return os.path.join(self.home, name if name.endswith(tuple(_SUFFIXES.values())) else name + suffix)
