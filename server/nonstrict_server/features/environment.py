"""What a document is checked and confirmed with, for clients that show it: request `nonstrict/environment`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.check.environment import environment_of
from nonstrict_server.parameters import address_of, field_of
from nonstrict_server.protocol import RequestFailedError

if TYPE_CHECKING:
    from nonstrict_server.server import Server

METHOD = "nonstrict/environment"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(environment)


async def environment(ls: Server, params: Any) -> dict[str, Any]:
    """The `torch` of a document's folder, the `device` and the `python` of experiments, and a `hindrance` to any.

    Null is no torch, an empty device is not known yet, an empty hindrance is none. `trusted` is whether the workspace
    is; `hasTorch` is false if the interpreter surely has no torch, or is not there; `notice` says why it is not the one
    of the folder. The parameters hold the `uri` of the document; without one it is any folder.

    Raises:
        InvalidParamsError: `uri` is no address.
        RequestFailedError: the configuration of the folder is not valid.
    """
    named = field_of(params, "uri") not in (None, "")
    path = ls.documents.place_of(address_of(params)).path if named else ls.documents.home
    return await ls.scheduler.ask(lambda: _environment(ls, path))


def _environment(ls: Server, path: str) -> dict[str, Any]:
    """In the thread of the analysis."""
    folder = ls.engine.roots.folder_of(path) or ls.engine.roots.folder_of(ls.documents.home)
    if folder is None:
        raise RequestFailedError("the configuration of the folder is not valid")
    torch = environment_of(folder.projects.of(path)).torch_version
    python = ls.confirmers.interpreter_of(path)
    device = ls.confirmers.device_of(folder.root, path) or ("cpu" if (torch or "").endswith("+cpu") else "")
    if python is not None and not python.is_there:
        device = ""
    return {
        "root": folder.root,
        "torch": torch,
        "device": device,
        "python": python.path if python is not None else "",
        "hasTorch": python is None or python.has_torch,
        "notice": python.notice if python is not None else "",
        "trusted": ls.trusted,
        "hindrance": ls.confirmers.hindrance(path),
    }
