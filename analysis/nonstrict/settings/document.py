"""A table of a TOML file, with the way back to the lines that its keys stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.settings.errors import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.findings import Diagnostic


class Document(NamedTuple):
    """The `content` of a table of the file `path`; `table` is its path in the file, () for the whole file."""

    path: str
    text: str
    content: Mapping[str, object]
    table: tuple[str, ...] = ()

    def mistake(self, key: str, message: str, advice: str = "", part: str = "") -> Diagnostic:
        """NST903 on a key, or on `part` of its value."""
        from nonstrict.settings.toml import place_of

        return invalid(self.path, place_of(self.text, self.table, key, part), message, advice)
