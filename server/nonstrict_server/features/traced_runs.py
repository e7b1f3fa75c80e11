"""The commands that run a test or a script with recording, and end that: what torch made of it is shown then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict_server.parameters import text_of
from nonstrict_server.protocol import InvalidParamsError
from nonstrict_server.recording import Traced

if TYPE_CHECKING:
    from nonstrict_server.server import Server

TRACE = "nonstrict.trace"
CANCEL_TRACE = "nonstrict.cancelTrace"


async def trace(ls: Server, arguments: list[Any]) -> str:
    """Run a file, or the test of it that the second argument selects (`::test_step`); what was kept, in a line.

    Raises:
        InvalidParamsError: there is no address, or the selector is none.
        RequestFailedError: it cannot be run.
    """
    uri, selector = text_of(arguments, 0, "the address of a document"), text_of(arguments, 1, "the selector of a test")
    if not uri or (selector and not selector.startswith("::")):
        raise InvalidParamsError("the command needs the address of a document, and `::name` for a test of it")
    return await ls.recorder.record(Traced(ls.documents.place_of(uri).path, selector))


async def cancel_trace(ls: Server, _: list[Any]) -> None:
    """End what is running."""
    ls.recorder.cancel()
