"""Diagnostics of files as JSON for the client, with an identity by content; what is unchanged is converted once."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types as lsp

from nonstrict.report.sightings import sentence
from nonstrict_server.conversion import converted
from nonstrict_server.positions import Places, places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cattrs import Converter

    from nonstrict.findings import Diagnostic, Location
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Documents

_NO_PLACE: Places = (0, 0, 0, 0)


class Report(NamedTuple):
    """The diagnostics of one document: an identity that says whether they changed, and the items of a JSON array."""

    identity: str
    items: str


EMPTY = Report("0", "")


class Reports:
    """Makes reports, in the position encoding of the client and with what it can show."""

    def __init__(self, documents: Documents, converter: Converter, *, related: bool) -> None:
        self._documents = documents
        self._converter = converter
        self._related = related
        self._known: dict[tuple[str, int | None], dict[Any, str]] = {}

    def of(
        self,
        path: str,
        cell: int | None,
        diagnostics: Sequence[Diagnostic],
        source_of: Callable[[str], Source | None],
    ) -> Report:
        """The report of some diagnostics of a file or cell."""
        before = self._known.get((path, cell), {})
        now: dict[Any, str] = {}
        for diagnostic in diagnostics:
            places = self._places(diagnostic.location, source_of)
            related = (
                tuple(self._address(one.location, source_of) for one in diagnostic.related) if self._related else ()
            )
            key = (diagnostic, places, related, sentence(diagnostic))  # how long ago something was is told
            text = before.get(key)
            now[key] = text if text is not None else self._encoded(diagnostic, places, related)
        if now:
            self._known[path, cell] = now
        else:
            self._known.pop((path, cell), None)
            return EMPTY
        items = ",".join(now.values())
        return Report(blake2b(items.encode(), digest_size=12).hexdigest(), items)

    def forget(self, path: str) -> None:
        """Nobody looks at a file any more."""
        for key in [key for key in self._known if key[0] == path]:
            del self._known[key]

    def _encoded(self, diagnostic: Diagnostic, places: Places, related: Sequence[tuple[str, Places]]) -> str:
        shown = converted(self._unplaced(diagnostic), places, related)
        return json.dumps(self._converter.unstructure(shown, lsp.Diagnostic))

    def _unplaced(self, diagnostic: Diagnostic) -> Diagnostic:
        """A diagnostic in a notebook that is not open says where it is in words: it has no place in the JSON."""
        where = diagnostic.location
        if where.cell is None or self._documents.is_open(where.path):
            return diagnostic
        return diagnostic._replace(message=f"cell {where.cell}, line {where.row}: {diagnostic.message}")

    def _places(self, location: Location, source_of: Callable[[str], Source | None]) -> Places:
        if location.cell is not None and not self._documents.is_open(location.path):
            return _NO_PLACE
        return places_of(location, source_of(location.path), self._documents.encoding)

    def _address(self, location: Location, source_of: Callable[[str], Source | None]) -> tuple[str, Places]:
        return self._documents.uri_of(location.path, location.cell), self._places(location, source_of)
