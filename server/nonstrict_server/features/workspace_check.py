"""The check of the whole workspace: all files are examined, and their findings shown until the session ends."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from nonstrict.report.summary import plural
from nonstrict_server.engine import Engine
from nonstrict_server.features import diagnostics
from nonstrict_server.protocol import InvalidParamsError

if TYPE_CHECKING:
    from nonstrict_server.server import Server

CHECK_WORKSPACE = "nonstrict.checkWorkspace"


async def check_workspace(ls: Server, arguments: list[Any]) -> dict[str, int]:
    """Examine all files, and show what is found in them, from now on also as they change.

    Returns how many `findings` there are in how many `files`, of how many that were `checked`. The user is told, unless
    the only argument is true.

    Raises:
        InvalidParamsError: the argument is neither true nor false.
    """
    quiet = arguments[0] if arguments and arguments[0] is not None else False
    if not isinstance(quiet, bool):
        raise InvalidParamsError("argument 1 has to be true or false")
    before, ls.workspace_checked = ls.workspace_checked, True
    diagnostics.register_with_client(ls)
    try:
        told = await _checked(ls)
    except asyncio.CancelledError:
        ls.workspace_checked = before
        raise
    if not quiet:
        ls.inform(_sentence(**told))
    return told


async def _checked(ls: Server) -> dict[str, int]:
    if not ls.abilities.registers_watchers:
        # Nobody told what became of the files.
        await ls.ask(Engine.restart)
    for root in await ls.ask(lambda engine: [folder.root for folder in engine.roots.folders()]):
        # One file after the other: whoever types meanwhile is not kept waiting.
        while await ls.ask(partial(Engine.examine_one, root=root)):
            pass
    checked = await ls.ask(lambda engine: len({path for one in engine.roots.folders() for path in one.files}))
    found: dict[str, int] = {}
    for path in await ls.ask(Engine.files_with_findings):
        number = len(await ls.ask(partial(Engine.diagnostics, path=path)))
        if number:
            found[path] = number
    ls.changed(frozenset(found))
    return {"findings": sum(found.values()), "files": len(found), "checked": checked}


def _sentence(findings: int, files: int, checked: int) -> str:
    """`3 findings in 2 of 40 files.`, `No findings in 40 files.`."""
    where = plural(checked, "file")
    return f"{plural(findings, 'finding')} in {files:,} of {where}." if findings else f"No findings in {where}."
