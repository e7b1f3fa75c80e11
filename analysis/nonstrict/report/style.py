"""Colours of a terminal, or none, and places as formats write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonstrict.findings import Location, Severity

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "bold": "1",
    "blue": "1;34",
    "dim": "2",
    "removed": "31",
    "added": "32",
}


class Style:
    """Paints text when `color` is set."""

    __slots__ = ("_color",)

    def __init__(self, color: bool) -> None:
        """Choose."""
        self._color = color

    def paint(self, name: str, text: str) -> str:
        """`text` in a named style: `error`, `warning`, `note`, `bold`, `blue`, `dim`, `removed` or `added`."""
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m" if self._color and text else text

    def severity(self, severity: Severity, text: str) -> str:
        """`text` in the colour of a severity."""
        return self.paint(severity.label, text)


def one_line(text: str) -> str:
    """Text without line breaks and control characters, for formats that give a finding one line."""
    return "".join(character if character.isprintable() else " " for character in text)


def in_cell(where: Location) -> str:
    """The place within a cell, to stand before a message; "" for what lies in no cell."""
    return "" if where.cell is None else f"cell {where.cell}:{where.row}:{where.column}: "


def shown_position(path: str, row: int, column: int, cell: int | None) -> str:
    """`path:row:column`, with the cell of a notebook."""
    path = one_line(path)
    return f"{path}:{row}:{column}" if cell is None else f"{path}:cell {cell}:{row}:{column}"
