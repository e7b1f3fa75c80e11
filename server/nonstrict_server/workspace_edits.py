"""Edits of the analysis as edits of the client: in several files, open and closed ones, and in cells of notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.text.source import UnreadableSource, read_source
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.scheduler import SupersededError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nonstrict.findings import LocatedEdit
    from nonstrict.text.source import Source
    from nonstrict_server.engine import Engine
    from nonstrict_server.server import Server


#: The annotation of edits that the client shows before it makes them.
_ASKED = "nonstrict"


class Question(NamedTuple):
    """What edits are shown under before they are made, and what to look for in them; no label is no question."""

    label: str = ""
    description: str = ""


_NO_QUESTION = Question()


def can_make(ls: Server, edits: Iterable[LocatedEdit]) -> bool:
    """Whether a client can make some edits.

    Not in a notebook that is not open, whose cells have no address; nor in a document whose text is analysed only when
    it is saved, and has changed since.
    """
    files = {(edit.location.path, edit.location.cell is not None) for edit in edits}
    return all(ls.is_analysed(path) and (ls.documents.is_open(path) or not in_cell) for path, in_cell in files)


def sources_of(ls: Server, engine: Engine, edits: Iterable[LocatedEdit]) -> dict[str, Source]:
    """The texts that some edits count in; in the thread of the analysis.

    Raises:
        SupersededError: a file that is not open has changed, and nobody told.
    """
    found: dict[str, Source] = {}
    for path in {edit.location.path for edit in edits}:
        source = engine.source(path)
        if source is None or not (ls.documents.is_open(path) or _is_on_disk(source)):
            engine.touched([path], [])
            raise SupersededError
        found[path] = source
    return found


def _is_on_disk(source: Source) -> bool:
    try:
        return read_source(source.path).text == source.text
    except UnreadableSource:
        return False


def versions_of(ls: Server, edits: Iterable[LocatedEdit], versions: Mapping[str, int | None]) -> dict[str, int | None]:
    """The addresses that some edits are made in, with the versions that were analysed: None for what is not open.

    Raises:
        SupersededError: a document has changed since it had the given version.
    """
    addresses = {ls.documents.uri_of(edit.location.path, edit.location.cell) for edit in edits}
    if any(ls.documents.version_of(uri) != versions.get(uri) for uri in addresses):
        raise SupersededError
    return {uri: versions.get(uri) for uri in addresses}


def workspace_edit(
    ls: Server,
    edits: Sequence[LocatedEdit],
    sources: Mapping[str, Source],
    versions: Mapping[str, int | None],
    question: Question = _NO_QUESTION,
) -> lsp.WorkspaceEdit:
    """Some edits as one of the client, which shows them under a `question` first if there is one and it can.

    Raises:
        SupersededError: as `versions_of`.
    """
    versions_of(ls, edits, versions)
    changes: dict[str, list[lsp.TextEdit]] = {}
    for edit in edits:
        where = edit.location
        uri = ls.documents.uri_of(where.path, where.cell)
        changes.setdefault(uri, []).append(_text_edit(ls, edit, sources[where.path]))
    if not ls.abilities.versioned_edits:
        return lsp.WorkspaceEdit(changes=changes)
    asks = bool(question.label) and ls.abilities.asks_before_edits
    asked = lsp.ChangeAnnotation(question.label, needs_confirmation=True, description=question.description or None)
    return lsp.WorkspaceEdit(
        change_annotations={_ASKED: asked} if asks else None,
        document_changes=[
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)),
                [lsp.AnnotatedTextEdit(_ASKED, one.range, one.new_text) for one in made] if asks else list(made),
            )
            for uri, made in changes.items()
        ],
    )


def _text_edit(ls: Server, edit: LocatedEdit, source: Source) -> lsp.TextEdit:
    where = range_of(places_of(edit.location, source, ls.documents.encoding))
    return lsp.TextEdit(where, edit.text.replace("\n", "\r\n") if "\r\n" in source.text else edit.text)
