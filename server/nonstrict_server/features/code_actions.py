"""Actions on findings: mend one, all of its rule, or all that is safe; confirm it, see its graph, suppress it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types as lsp

from nonstrict.check.live.verdicts import marker_of
from nonstrict.findings import Applicability, LocatedEdit, Location
from nonstrict_server.conversion import converted
from nonstrict_server.features.commands import CONFIRM_FUNCTION, SHOW_GRAPH
from nonstrict_server.features.confirming_fixes import CONFIRM_FIXED, arguments_for
from nonstrict_server.offers import Offer, Run, Sweep, of_rule, offers, safe_ones
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.protocol import InvalidParamsError
from nonstrict_server.scheduler import SupersededError
from nonstrict_server.workspace_edits import Question, can_make, sources_of, versions_of, workspace_edit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.check.live.fixed import Choose
    from nonstrict.findings import Diagnostic
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.engine import Engine
    from nonstrict_server.server import Server

#: What is asked for by "fix all" and by `editor.codeActionsOnSave`; of notebooks, by `notebook.codeActionsOnSave`.
FIX_ALL = "source.fixAll.nonstrict"
FIX_NOTEBOOK = "notebook.source.fixAll.nonstrict"
#: Among the quick fixes, and for clients to tell apart from what mends something.
SUPPRESS = "quickfix.suppress.nonstrict"
_QUICK_FIX = lsp.CodeActionKind.QuickFix.value
_COMMANDS = {"confirm": CONFIRM_FUNCTION, "graph": SHOW_GRAPH}


class _Ready(NamedTuple):
    """An offer, its edits, and the texts that they count in."""

    offer: Offer
    edits: tuple[LocatedEdit, ...]
    sources: dict[str, Source]


class _Told(NamedTuple):
    """What an action that is to be resolved says: either the edits, or what to sweep, and what is asked before."""

    uri: str
    versions: dict[str, int | None]
    sweep: Sweep | None
    edits: tuple[LocatedEdit, ...]
    question: Question


def register(server: Server) -> None:
    """Offer nothing before the client has said what it can: see `announce`."""
    server.feature(lsp.CODE_ACTION_RESOLVE)(resolve)


def announce(server: Server) -> None:
    """Say, while the client initialises, which actions there are."""
    kinds = [_QUICK_FIX, SUPPRESS, FIX_ALL, FIX_NOTEBOOK]
    options = lsp.CodeActionOptions(kinds, resolve_provider=server.abilities.resolves_edits)
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)(code_actions)


async def code_actions(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """The actions on the findings of a range."""
    only = {str(getattr(kind, "value", kind)) for kind in params.context.only or ()}
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    if not ls.is_analysed(place.path):
        return []
    swept: list[lsp.CodeAction] = []
    if _asks_for(FIX_NOTEBOOK, only) and place.cell is not None:
        swept += await _fix_all(ls, uri, place._replace(cell=None), FIX_NOTEBOOK)
    if _asks_for(FIX_ALL, only):
        swept += await _fix_all(ls, uri, place, FIX_ALL)
    if only and not any(_is_wanted(kind, only) for kind in (_QUICK_FIX, SUPPRESS)):
        return swept
    return [*swept, *await _quick_fixes(ls, place, params, only)]


async def _quick_fixes(ls: Server, place: Place, params: lsp.CodeActionParams, only: set[str]) -> list[lsp.CodeAction]:
    uri = params.text_document.uri
    rows = (params.range.start.line + 1, params.range.end.line + 1)
    versions = ls.documents.versions()
    is_outdated = _is_outdated(ls, uri, versions)
    found, source = await ls.ask(lambda engine: _offered(ls, engine, place, rows, is_outdated), is_outdated)
    if source is None:
        return []
    wanted = [one for one in found if _is_wanted(_kind_of(one.offer), only)]
    return [_action(ls, one, uri, versions, _shown(ls, one, source, params.context.diagnostics)) for one in wanted]


async def resolve(ls: Server, action: lsp.CodeAction) -> lsp.CodeAction:
    """Fill in the edit of an action; one that is whole stays as it is.

    Raises:
        InvalidParamsError: the action is not one of ours.
        SupersededError: a text that it changes is another one now.
    """
    if action.data is None:
        return action
    told = _told(action.data)
    uri, versions = told.uri, ls.documents.versions()
    place, is_outdated = ls.documents.place_of(uri), _is_outdated(ls, uri, versions)
    if any(versions.get(one) != version for one, version in told.versions.items()):
        raise SupersededError

    def ready(engine: Engine) -> tuple[Sequence[LocatedEdit], dict[str, Source]]:
        edits = told.edits if told.sweep is None else _swept(ls, engine, place, told.sweep, is_outdated)
        return edits, sources_of(ls, engine, edits)

    edits, sources = await ls.ask(ready, is_outdated)
    action.edit = workspace_edit(ls, edits, sources, versions, told.question)
    return action


async def _fix_all(ls: Server, uri: str, place: Place, kind: str) -> list[lsp.CodeAction]:
    """What can be fixed without looking."""
    if not ls.settings_of(place.path).fix_all:
        return []
    versions = ls.documents.versions()
    is_outdated = _is_outdated(ls, uri, versions)

    def ready(engine: Engine) -> tuple[Sequence[LocatedEdit], dict[str, Source]]:
        edits = _fixed(engine, place, safe_ones(place), is_outdated)
        return edits, sources_of(ls, engine, edits)

    edits, sources = await ls.ask(ready, is_outdated)
    if not edits:
        return []
    return [lsp.CodeAction("nonstrict: Fix all", kind, edit=workspace_edit(ls, edits, sources, versions))]


# -- in the thread of the analysis ------------------------------------------------------------------------------------


def _offered(
    ls: Server, engine: Engine, place: Place, rows: tuple[int, int], is_outdated: Callable[[], bool]
) -> tuple[list[_Ready], Source | None]:
    """What is offered for some rows; the edits of a sweep only for clients that will not ask for them."""
    found: list[_Ready] = []
    for offer in offers(engine, place, rows, lambda edits: can_make(ls, edits), is_outdated):
        if offer.again is not None and not _can_confirm(ls, offer.again):
            continue
        if offer.run is not None and not _can_run(ls, offer.run):
            continue
        edits = offer.edits
        if ls.abilities.resolves_edits or offer.run is not None:
            found.append(_Ready(offer, edits, {}))
            continue
        if offer.sweep is not None:
            edits = _swept(ls, engine, place, offer.sweep, is_outdated)
        if edits:
            found.append(_Ready(offer, edits, sources_of(ls, engine, edits)))
    return found, engine.source(place.path)


def _can_confirm(ls: Server, finding: Diagnostic) -> bool:
    """Whether a client can show a fix before it makes it, and the function may be run after it."""
    return ls.abilities.asks_before_edits and not ls.confirmers.hindrance(marker_of(finding).path)


def _can_run(ls: Server, run: Run) -> bool:
    """Whether an experiment may be run and is not running, and the client shows what comes of it."""
    if ls.confirmers.hindrance(run.path):
        return False
    if run.what == "graph":
        return ls.abilities.opens_contents and ls.abilities.shows_documents
    running = ls.confirmers.running.get(run.path)
    return running is None or running.function not in {"", run.function}


def _swept(
    ls: Server, engine: Engine, place: Place, sweep: Sweep, is_outdated: Callable[[], bool]
) -> tuple[LocatedEdit, ...]:
    return _fixed(engine, place, of_rule(sweep, lambda edits: can_make(ls, edits)), is_outdated)


def _fixed(engine: Engine, place: Place, choose: Choose, is_outdated: Callable[[], bool]) -> tuple[LocatedEdit, ...]:
    def checkpoint() -> None:
        if is_outdated():
            raise SupersededError

    return engine.fixed(place.path, choose, checkpoint)


# -- for the client ---------------------------------------------------------------------------------------------------


def _action(
    ls: Server, ready: _Ready, uri: str, versions: dict[str, int], shown: list[lsp.Diagnostic]
) -> lsp.CodeAction:
    offer, edits, sources = ready
    action = lsp.CodeAction(
        title=offer.title,
        kind=_kind_of(offer),
        diagnostics=shown,
        is_preferred=True if offer.preferred else None,
    )
    if offer.run is not None:
        arguments = [ls.documents.uri_of(offer.run.path), offer.run.function]
        action.command = lsp.Command(offer.title, _COMMANDS[offer.run.what], arguments=arguments)
        return action
    if offer.again is not None:
        action.command = lsp.Command("Confirm", CONFIRM_FIXED, arguments=arguments_for(ls, offer.again))
    question = _question(offer)
    if not ls.abilities.resolves_edits:
        action.edit = workspace_edit(ls, edits, sources, versions, question)
    elif offer.sweep is not None:
        swept = {"uri": uri, "versions": {uri: versions.get(uri)}, "sweep": list(offer.sweep)}
        action.data = {**swept, "question": list(question)}
    else:
        listed = [[list(edit.location), edit.text] for edit in edits]
        told = {"uri": uri, "versions": versions_of(ls, edits, versions), "edits": listed}
        action.data = {**told, "question": list(question)}
    return action


def _kind_of(offer: Offer) -> str:
    return SUPPRESS if offer.suppresses else _QUICK_FIX


def _question(offer: Offer) -> Question:
    """What is asked before the edits are made: of unsafe ones, and of those that are confirmed afterwards."""
    if offer.again is not None:
        return Question(f"Fix {offer.again.code} and confirm `{offer.again.function}`", offer.warning)
    return Question(offer.title, offer.warning) if offer.warning else Question()


def _shown(ls: Server, ready: _Ready, source: Source, shown: Sequence[lsp.Diagnostic]) -> list[lsp.Diagnostic]:
    return [_as_shown(ls, one, source, shown) for one in ready.offer.diagnostics]


def _as_shown(ls: Server, diagnostic: Diagnostic, source: Source, shown: Sequence[lsp.Diagnostic]) -> lsp.Diagnostic:
    """The diagnostic of the client that this is, so that it can tell which one an action settles."""
    places = places_of(diagnostic.location, source, ls.documents.encoding)
    where = range_of(places)
    same = (one for one in shown if one.code == diagnostic.code and one.range == where)
    return next(same, None) or converted(diagnostic, places)


def _told(data: object) -> _Told:
    try:
        mine = cast("dict[str, Any]", data)
        sweep = mine.get("sweep")
        edits = cast("list[tuple[list[Any], str]]", [] if sweep is not None else mine["edits"])
        return _Told(
            uri=str(mine["uri"]),
            versions=dict(mine["versions"]),
            sweep=Sweep(str(sweep[0]), Applicability(sweep[1])) if sweep is not None else None,
            edits=tuple(LocatedEdit(_location(where), str(text)) for where, text in edits),
            question=Question(*map(str, mine.get("question", ()))),
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise InvalidParamsError("the action is not one of nonstrict") from None


def _location(fields: list[Any]) -> Location:
    path, row, column, end_row, end_column, cell = fields
    cell = int(cell) if cell is not None else None
    if min(int(row), int(column), int(end_row), int(end_column)) < 1:
        raise ValueError(fields)
    return Location(str(path), int(row), int(column), int(end_row), int(end_column), cell)


def _is_outdated(ls: Server, uri: str, versions: dict[str, int]) -> Callable[[], bool]:
    return lambda: ls.documents.version_of(uri) != versions.get(uri)


def _is_wanted(kind: str, only: set[str]) -> bool:
    """Whether a quick fix of a kind is asked for: without any kind, or with the empty one, all are."""
    return not only or "" in only or _asks_for(kind, only)


def _asks_for(kind: str, only: Iterable[str]) -> bool:
    """Whether an action of a kind is among those that are asked for, by their own names or those of groups."""
    return any(f"{kind}.".startswith(f"{one}.") for one in only)
