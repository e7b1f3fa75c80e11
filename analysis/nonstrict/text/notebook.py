"""Jupyter notebooks: the code cells joined into one module, with what only IPython understands masked."""

from __future__ import annotations

import json
import re
from typing import TypeGuard

from nonstrict.text.decode import normalised, without_surrogates
from nonstrict.text.lexer import statement_end
from nonstrict.text.repair import parse
from nonstrict.text.source import Cell, Origin, Source, SourceKind, UnreadableSource

# Cell magics whose body is Python in the same namespace (IPython's documentation, "Built-in magic commands").
_PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "pypy", "debug"})
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_LINE_MAGIC = re.compile(r"([ \t]*)(?:%[\w%]|!|\?|/\w|,\w|;\w)")
_ASSIGNED_MAGIC = re.compile(r"[ \t]*[\w.,\[\] '\"\t]+?=\s*(?=[!%]\w?)(?!=)")
_HELP = re.compile(r"([ \t]*)[%\w.*]+\?{1,2}\s*$")


def notebook_source(path: str, text: str) -> Source:
    """The source of a notebook's JSON text. Raises `UnreadableSource` when it is not a notebook."""
    cells = _code_cells(path, text)
    plain: list[str] = []
    code: list[str] = []
    origins: list[Origin] = []
    places: list[Cell] = []
    for number, cell_text in cells:
        lines = cell_text.split("\n")
        places.append(Cell(len(plain) + 1, len(lines), number))
        origins += [Origin(row, number) for row in range(1, len(lines) + 1)]
        plain += lines
        code += masked_cell(cell_text).split("\n")
    ending = "\n" if plain else ""
    origins += origins[-1:]
    return Source(
        path,
        SourceKind.NOTEBOOK,
        "\n".join(plain) + ending,
        "\n".join(code) + ending,
        (),
        tuple(origins) or None,
        tuple(places),
    )


def masked_cell(text: str) -> str:
    """The text of a cell with magics, shell and help lines replaced by blanks, so that the rest can be Python.

    Lines and columns stay where they are. A cell that is Python as it stands is not touched.
    """
    magic = _CELL_MAGIC.match(text)
    if magic and magic.group(1) not in _PYTHON_CELL_MAGICS:
        return "\n".join(" " * len(line) for line in text.split("\n"))
    if not magic and (not re.search(r"[%!?]|^[ \t]*[/,;]", text, re.MULTILINE) or parse(text) is not None):
        return text
    return _masked_lines(text)


def _masked_lines(text: str) -> str:
    """Mask the magics among the logical lines of a cell."""
    pieces: list[str] = []
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        masked = _masked_line(line)
        if masked == line:
            end = statement_end(text, position)
            pieces.append(text[position:end])
        else:
            while text[position:end].rstrip().endswith("\\") and end < len(text):
                following = text.find("\n", end + 1)
                following = len(text) if following < 0 else following
                masked += "\n" + " " * (following - end - 1)
                position, end = end + 1, following
            end = min(end + 1, len(text))
            pieces.append(masked + "\n" if text[end - 1] == "\n" else masked)
        position = end
    return "".join(pieces)


def _masked_line(line: str) -> str:
    """A line without its magic: nothing at the margin, a `0` within a block, `_` where its result is assigned."""
    found = _LINE_MAGIC.match(line) or _HELP.match(line)
    if found:
        indent = found.group(1)
        return (indent + ("0" if indent else " ")).ljust(len(line))
    assigned = _ASSIGNED_MAGIC.match(line)
    if assigned:
        # `_` is the last output in IPython: a value nobody knows, as is that of the command.
        return (line[: assigned.end()] + "_").ljust(len(line))
    return line


def _code_cells(path: str, text: str) -> list[tuple[int, str]]:
    """The positions (from 1, among all cells) and texts of the code cells."""
    try:
        notebook: object = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(path, f"not a notebook: its JSON does not parse ({error})") from error
    cells = _cells_of(notebook)
    if cells is None:
        raise UnreadableSource(path, "not a notebook: it holds no list of cells")
    if not _is_python(notebook):
        return []
    found: list[tuple[int, str]] = []
    for number, cell in enumerate(cells, 1):
        if _is_table(cell) and cell.get("cell_type") == "code":
            # Format 3 called the text of a code cell its input.
            found.append((number, _joined(cell.get("source", cell.get("input", "")))))
    return found


def _cells_of(notebook: object) -> list[object] | None:
    if not _is_table(notebook):
        return None
    if not notebook:
        return []
    cells = notebook.get("cells")
    worksheets = notebook.get("worksheets")
    if cells is None and _is_list(worksheets):
        return [cell for sheet in worksheets if _is_table(sheet) for cell in _listed(sheet.get("cells"))]
    return cells if _is_list(cells) else None


def _is_python(notebook: object) -> bool:
    """Whether the kernel is a Python one; a notebook that does not say is taken to be."""
    metadata = notebook.get("metadata") if _is_table(notebook) else None
    if not _is_table(metadata):
        return True
    for table, key in (("kernelspec", "language"), ("language_info", "name")):
        entry = metadata.get(table)
        language = entry.get(key) if _is_table(entry) else None
        if isinstance(language, str) and language:
            return language.lower().startswith(("python", "ipython"))
    return True


def _joined(source: object) -> str:
    text = "".join(part for part in source if isinstance(part, str)) if _is_list(source) else source
    return without_surrogates(normalised(text)).removesuffix("\n") if isinstance(text, str) else ""


def _listed(value: object) -> list[object]:
    return value if _is_list(value) else []


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
