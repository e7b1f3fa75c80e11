"""Actions on findings: suppress one where it is, or its rule in the whole file; remove a suppression that is idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types as lsp

from nonstrict_server.conversion import converted
from nonstrict_server.positions import places_of, range_of, units_of
from nonstrict_server.scheduler import SupersededError
from nonstrict_server.suppressing import Edit, remove_suppression, suppress_in_file, suppress_on_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

_UNUSED = "NST902"
#: What is asked for by "fix all" and by `editor.codeActionsOnSave`.
FIX_ALL = "source.fixAll.nonstrict"
_TITLES = {
    "remove": "Remove unused suppression",
    "line": "Disable for this line",
    "file": "Disable for this file",
}


class _Offer(NamedTuple):
    """An action that can be taken: `kind` is a key of `_TITLES`."""

    kind: str
    diagnostic: Diagnostic
    edit: Edit


def register(server: Server) -> None:
    """Offer nothing before the client has said what it can: see `announce`."""
    server.feature(lsp.CODE_ACTION_RESOLVE)(resolve)


def announce(server: Server) -> None:
    """Say, while the client initialises, which actions there are."""
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]
    options = lsp.CodeActionOptions(kinds, resolve_provider=server.abilities.resolves_edits)
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)(code_actions)


async def code_actions(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """The actions on the findings of a range."""
    only = {str(getattr(kind, "value", kind)) for kind in params.context.only or ()}
    uri = params.text_document.uri
    place, version = ls.documents.place_of(uri), ls.documents.version_of(uri)
    if not ls.is_analysed(place.path):
        return []
    if any(f"{FIX_ALL}.".startswith(f"{kind}.") for kind in only):
        return await _fix_all(ls, uri, place)
    if only and not only & {"", "quickfix"}:
        return []
    rows = (params.range.start.line + 1, params.range.end.line + 1)
    offers, source = await ls.scheduler.ask(
        lambda: _offers(ls, place, rows), lambda: ls.documents.version_of(uri) != version
    )
    if source is None:
        return []
    return [_action(ls, offer, source, uri, params.context.diagnostics) for offer in offers]


async def _fix_all(ls: Server, uri: str, place: Place) -> list[lsp.CodeAction]:
    """What can be fixed without looking: suppressions that suppress nothing are removed."""
    if not ls.settings_of(place.path).fix_all:
        return []
    edits, source = await ls.scheduler.ask(lambda: _removals(ls, place))
    if not edits or source is None:
        return []
    return [lsp.CodeAction("nonstrict: Fix all", FIX_ALL, edit=_workspace_edit(ls, edits, source, uri))]


def _removals(ls: Server, place: Place) -> tuple[list[Edit], Source | None]:
    """The edits that remove the unused suppressions of a document; in the thread of the analysis."""
    source = ls.engine.source(place.path)
    if source is None:
        return [], None
    unused = [one for one in ls.engine.diagnostics(place.path) if one.code == _UNUSED]
    here = [one for one in unused if one.location.cell == place.cell]
    edits = sorted({remove_suppression(source, one.location, one.message) for one in here}, key=lambda one: one[:4])
    return [edit for number, edit in enumerate(edits) if not number or edits[number - 1][2:4] <= edit[:2]], source


async def resolve(ls: Server, action: lsp.CodeAction) -> lsp.CodeAction:
    """Fill in the edit of an action."""
    data = cast("dict[str, Any]", action.data)
    uri: str = data["uri"]
    if ls.documents.version_of(uri) != data["version"]:
        raise SupersededError
    edit, place = Edit(*data["edit"]), ls.documents.place_of(uri)
    source = await ls.ask(lambda engine: engine.source(place.path))
    if source is not None:
        action.edit = _workspace_edit(ls, [edit], source, uri)
    return action


def _offers(ls: Server, place: Place, rows: tuple[int, int]) -> tuple[list[_Offer], Source | None]:
    """What is offered for some rows of a document; in the thread of the analysis."""
    source = ls.engine.source(place.path)
    if source is None:
        return [], None
    touched = [
        one
        for one in ls.engine.diagnostics(place.path)
        if one.location.cell == place.cell and one.location.row <= rows[1] and one.location.end_row >= rows[0]
    ]
    found = [
        _Offer("remove", one, remove_suppression(source, one.location, one.message))
        for one in touched
        if one.code == _UNUSED
    ]
    suppressible = {(one.code, one.location): one for one in touched if not one.code.startswith("NST9")}
    for kind, suppress in (("line", suppress_on_line), ("file", suppress_in_file)):
        known: set[object] = set()
        for one in suppressible.values():
            edit = suppress(source, one.location, one.code)
            if edit is not None and (one.code, edit) not in known:
                known.add((one.code, edit))
                found.append(_Offer(kind, one, edit))
    return found, source


def _action(ls: Server, offer: _Offer, source: Source, uri: str, shown: Sequence[lsp.Diagnostic]) -> lsp.CodeAction:
    diagnostic = offer.diagnostic
    action = lsp.CodeAction(
        title=f"nonstrict ({diagnostic.code}): {_TITLES[offer.kind]}",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[_as_shown(ls, diagnostic, source, shown)],
        is_preferred=True if offer.kind == "remove" else None,
    )
    # The edit of another cell belongs to the document of that cell.
    target = uri if offer.edit.cell == diagnostic.location.cell else ls.documents.uri_of(source.path, offer.edit.cell)
    if ls.abilities.resolves_edits:
        action.data = {"uri": target, "version": ls.documents.version_of(target), "edit": list(offer.edit)}
    else:
        action.edit = _workspace_edit(ls, [offer.edit], source, target)
    return action


def _as_shown(ls: Server, diagnostic: Diagnostic, source: Source, shown: Sequence[lsp.Diagnostic]) -> lsp.Diagnostic:
    """The diagnostic of the client that this is, so that it can tell which one an action settles."""
    places = places_of(diagnostic.location, source, ls.documents.encoding)
    where = range_of(places)
    same = (one for one in shown if one.code == diagnostic.code and one.range == where)
    return next(same, None) or converted(diagnostic, places)


def _workspace_edit(ls: Server, edits: Sequence[Edit], source: Source, uri: str) -> lsp.WorkspaceEdit:
    changes = [_text_edit(ls, edit, source) for edit in edits]
    if not ls.abilities.versioned_edits:
        return lsp.WorkspaceEdit(changes={uri: changes})
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri, ls.documents.version_of(uri))
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, list(changes))])


def _text_edit(ls: Server, edit: Edit, source: Source) -> lsp.TextEdit:
    encoding = ls.documents.encoding
    start = units_of(source.line_text(edit.row, edit.cell), edit.column - 1, encoding)
    end = units_of(source.line_text(edit.end_row, edit.cell), edit.end_column - 1, encoding)
    where = lsp.Range(lsp.Position(edit.row - 1, start), lsp.Position(edit.end_row - 1, end))
    return lsp.TextEdit(where, edit.text.replace("\n", "\r\n") if "\r\n" in source.text else edit.text)
