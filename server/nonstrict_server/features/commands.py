"""The commands: check everything, run experiments, see what torch makes of a function, write scripts and baselines."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types as lsp

from nonstrict import __version__
from nonstrict.report.sightings import compared
from nonstrict.settings.errors import ConfigurationError
from nonstrict_server.engine import Engine
from nonstrict_server.features import contents
from nonstrict_server.features.confirming_fixes import CONFIRM_FIXED, confirm_fixed
from nonstrict_server.features.region_map import finding_node
from nonstrict_server.features.traced_runs import CANCEL_TRACE, TRACE, cancel_trace, trace
from nonstrict_server.features.workspace_check import CHECK_WORKSPACE, check_workspace
from nonstrict_server.functions import function_at
from nonstrict_server.parameters import position_of, text_of
from nonstrict_server.protocol import InvalidParamsError, RequestFailedError
from nonstrict_server.regions import rank, reached_from

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nonstrict.findings import Diagnostic
    from nonstrict_server.server import Server

CONFIRM_FUNCTION = "nonstrict.confirmFunction"
CONFIRM_FILE = "nonstrict.confirmFile"
SHOW_FINDINGS = "nonstrict.showFindings"
SHOW_RUN = "nonstrict.showRun"
CANCEL = "nonstrict.cancel"
SHOW_GRAPH = "nonstrict.showGraph"
SHOW_CODE = "nonstrict.showCode"
WRITE_REPRO = "nonstrict.writeRepro"
WRITE_BASELINE = "nonstrict.writeBaseline"
RESTART = "nonstrict.restart"
DEBUG_INFORMATION = "nonstrict.debugInformation"


def register(server: Server) -> None:
    """Offer the commands. They take the address of a document, and a marked function: its name or a position in it."""
    for name, command in _COMMANDS.items():
        server.command(name)(command)
    server.feature(lsp.WORKSPACE_EXECUTE_COMMAND)(execute)
    server.on_saved.append(lambda path: _saved(server, path))


async def execute(ls: Server, params: lsp.ExecuteCommandParams) -> Any:
    """Run a command; of failures the user is told, as few clients show what a command is answered.

    Raises:
        InvalidParamsError: there is no such command, or its arguments are others.
        RequestFailedError: it cannot be run.
    """
    command = _COMMANDS.get(params.command)
    if command is None:
        raise InvalidParamsError(f"there is no command `{params.command}`")
    try:
        return await command(ls, list(params.arguments or ()))
    except RequestFailedError as error:
        ls.complain(str(error))
        raise


async def confirm_function(ls: Server, arguments: list[Any]) -> int:
    """Run the experiments of one marked function; how many findings they are about."""
    return await ls.confirmers.confirm(_path(ls, arguments), await _function(ls, arguments))


async def confirm_file(ls: Server, arguments: list[Any]) -> int:
    """Run the experiments of a file; how many findings they are about."""
    return await ls.confirmers.confirm(_path(ls, arguments))


async def show_findings(ls: Server, arguments: list[Any]) -> list[dict[str, Any]]:
    """What is found in a function, in what it calls too if it is compiled, the worst first: nodes as of the regions.

    Clients that have no list for them are led to the first.
    """
    path, function = _path(ls, arguments), await _function(ls, arguments)
    return await _listed(ls, lambda: [finding_node(ls, one) for one in _worst_first(ls, path, function)])


async def show_run(ls: Server, arguments: list[Any]) -> list[dict[str, Any]]:
    """What the latest run made of a function and of what it calls: what broke its graphs, what failed; likewise."""
    path, function = _path(ls, arguments), await _function(ls, arguments)

    def nodes() -> list[dict[str, Any]]:
        found = (one for one in _worst_first(ls, path, function) if one.sighting is not None)
        return [{**finding_node(ls, one), "detail": f"{one.message} · {compared(one)}"} for one in found]

    return await _listed(ls, nodes)


async def _listed(ls: Server, made: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Nodes that are made in the thread of the analysis; clients that have no list for them are led to the first."""
    nodes = await ls.scheduler.ask(made)
    if nodes and not ls.abilities.maps_regions and ls.abilities.shows_documents:
        where = nodes[0]["range"]
        selection = lsp.Range(lsp.Position(**where["start"]), lsp.Position(**where["end"]))
        ls.window_show_document(lsp.ShowDocumentParams(uri=nodes[0]["uri"], take_focus=True, selection=selection))
    return nodes


def _worst_first(ls: Server, path: str, function: str) -> list[Diagnostic]:
    """What is found in a function and in what it calls; in the thread of the analysis."""
    return sorted(reached_from(ls.engine, path, function), key=rank)


async def cancel(ls: Server, arguments: list[Any]) -> None:
    """Stop the experiments of a file, or all."""
    ls.confirmers.cancel(_path(ls, arguments) if arguments else None)


async def show_graph(ls: Server, arguments: list[Any]) -> str:
    """The graphs that torch makes of a function, as text; clients that can open a document of it."""
    return await _shown(ls, arguments, "graph")


async def show_code(ls: Server, arguments: list[Any]) -> str:
    """The code that Inductor generates of a function, likewise."""
    return await _shown(ls, arguments, "code")


async def _shown(ls: Server, arguments: list[Any], kind: str) -> str:
    function = await _function(ls, arguments)
    showing = await contents.made(ls, kind, _path(ls, arguments), function)
    contents.open_in_client(ls, kind, _address(arguments), function)
    return showing.text


async def write_repro(ls: Server, arguments: list[Any]) -> list[str]:
    """Write a script for each finding that comes true, into a directory (third argument) or beside the file."""
    path = _path(ls, arguments)
    directory = text_of(arguments, 2, "a directory") or os.path.dirname(path)
    return await ls.confirmers.write_repros(path, await _function(ls, arguments), directory)


async def write_baseline(ls: Server, arguments: list[Any]) -> list[str]:
    """Have the findings of a document's folder, or of all folders, known and no longer shown; the files written."""
    written: list[str] = []
    for root in await ls.ask(lambda engine: _roots(ls, engine, arguments)):
        # One file after the other: whoever types meanwhile is not kept waiting.
        while await ls.ask(partial(Engine.examine_one, root=root)):
            pass
        try:
            made = await ls.ask(partial(Engine.write_baselines, root=root))
        except (ConfigurationError, OSError) as error:
            raise RequestFailedError(f"the baseline was not written: {error}") from None
        for baseline in made:
            written.append(baseline.path)
            count = len(baseline.entries)
            ls.inform(f"Wrote {count:,} finding{'s' * (count != 1)} to {os.path.relpath(baseline.path, root)}.")
    ls.changed(None)
    return written


def _roots(ls: Server, engine: Engine, arguments: list[Any]) -> list[str]:
    """In the thread of the analysis."""
    if _address(arguments):
        return [engine.roots.root_of(_path(ls, arguments))]
    return sorted(folder.root for folder in engine.roots.folders())


async def restart(ls: Server, arguments: list[Any]) -> None:
    """Start the agents anew, and read everything again."""
    ls.confirmers.restart()
    ls.change("restart", lambda engine: engine.restart())
    ls.changed(None)


async def debug_information(ls: Server, arguments: list[Any]) -> str:
    """What a report of a bug should say."""
    folders = await ls.scheduler.ask(lambda: [_folder_line(ls, folder) for folder in ls.engine.roots.folders()])
    lines = [
        f"nonstrict {__version__}, Python {platform.python_version()} at {sys.executable}, {platform.platform()}",
        f"client: {ls.abilities}",
        f"encoding: {ls.documents.encoding}; trusted: {ls.trusted}; open: {len(ls.documents.open_paths())}",
        f"experiments: {ls.confirmers.state or 'none'}; running: {dict(ls.confirmers.running)}",
        *(f"settings of {place or 'other files'}: {settings}" for place, settings in ls.settings.items()),
        *folders,
    ]
    return "\n".join(lines)


def _folder_line(ls: Server, folder: Any) -> str:
    """In the thread of the analysis."""
    source = folder.settings.source or "no configuration file"
    left, found = len(folder.pending()), len(folder.files_with_findings())
    return f"folder {folder.root}: {source}; {left} files to examine, {found} with findings"


def _saved(ls: Server, path: str) -> None:
    """Run the experiments of a file that was saved, if the user wants that."""
    if not ls.trusted or ls.settings_of(path).confirm != "onSave":
        return

    async def confirm() -> None:
        try:
            if await ls.ask(lambda engine: engine.findings_of(path, "")):
                await ls.confirmers.confirm(path, quiet=True)
        except RequestFailedError as error:
            ls.note(str(error))

    task = asyncio.ensure_future(confirm())
    _saving.add(task)
    task.add_done_callback(_saving.discard)


#: The loop itself holds its tasks by weak references only.
_saving: set[Any] = set()


def _path(ls: Server, arguments: list[Any]) -> str:
    uri = _address(arguments)
    if not uri:
        raise InvalidParamsError("the command needs the address of a document")
    return ls.documents.place_of(uri).path


async def _function(ls: Server, arguments: list[Any]) -> str:
    """The function that is named, or the one around a position.

    Raises:
        InvalidParamsError: neither is given.
        RequestFailedError: there is no marked function at that position.
    """
    if len(arguments) < 2 or not isinstance(arguments[1], dict):
        return text_of(arguments, 1, "the name of a function, or a position")
    place = ls.documents.place_of(_address(arguments))
    position = position_of(cast("object", arguments[1]))
    name = await ls.scheduler.ask(lambda: function_at(ls, place, position))
    if not name:
        raise RequestFailedError("there is no marked function here: put the cursor into one, or use the line above it")
    return name


def _address(arguments: list[Any]) -> str:
    """The address of a document, empty if it is not there."""
    return text_of(arguments, 0, "the address of a document")


_COMMANDS: dict[str, Callable[[Server, list[Any]], Awaitable[Any]]] = {
    CHECK_WORKSPACE: check_workspace,
    CONFIRM_FUNCTION: confirm_function,
    CONFIRM_FILE: confirm_file,
    SHOW_FINDINGS: show_findings,
    SHOW_RUN: show_run,
    CONFIRM_FIXED: confirm_fixed,
    CANCEL: cancel,
    TRACE: trace,
    CANCEL_TRACE: cancel_trace,
    SHOW_GRAPH: show_graph,
    SHOW_CODE: show_code,
    WRITE_REPRO: write_repro,
    WRITE_BASELINE: write_baseline,
    RESTART: restart,
    DEBUG_INFORMATION: debug_information,
}
