"""Starts the server on standard input and output, or on a TCP port, and ends it."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING, Any

from nonstrict_server.server import Server
from nonstrict_server.transport import (
    SocketWriter,
    StreamWriter,
    own_standard_streams,
    read_connection,
    read_in_thread,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

#: Two threads take turns while one of them analyses: a keystroke must not wait for the default of 5 ms, twice.
_SWITCH_INTERVAL = 0.0001


def serve_standard_streams(*, trusted: bool | None) -> int:
    """Serve the client at standard input and output; the exit status. `trusted`: see `Server`."""
    _prepare()
    reading, writing = own_standard_streams()

    async def serve(server: Server) -> None:
        ended = _end_of(server)
        server.protocol.set_writer(StreamWriter(writing))
        loop = asyncio.get_running_loop()
        read_in_thread(reading, loop, server.protocol.receive, lambda: server.stop(_status_without_exit(server)))
        await ended

    return _run(Server(trusted=trusted), serve)


def serve_socket(host: str, port: int, *, trusted: bool | None) -> int:
    """Wait for one client at a TCP port, and serve it; the exit status. Port 0 is any free one.

    `trusted`: see `Server`.

    Raises:
        OSError: the port cannot be used.
    """
    _prepare()

    async def serve(server: Server) -> None:
        ended = _end_of(server)
        connected = False

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connected
            if connected:
                writer.close()
                return
            connected = True
            server.protocol.set_writer(SocketWriter(writer))
            await read_connection(reader, server.protocol.receive)
            server.stop(_status_without_exit(server))

        listener = await asyncio.start_server(accept, host, port)
        address = listener.sockets[0].getsockname()
        sys.stderr.write(f"nonstrict: listening on {address[0]}:{address[1]}\n")
        sys.stderr.flush()
        await ended
        listener.close()

    return _run(Server(trusted=trusted), serve)


def _prepare() -> None:
    sys.setswitchinterval(_SWITCH_INTERVAL)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    # pygls formats every message for its log, and warns of what is no news.
    logging.getLogger("pygls").setLevel(logging.ERROR)


def _run(server: Server, serve: Callable[[Server], Coroutine[Any, Any, None]]) -> int:
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(serve(server))
    except KeyboardInterrupt:
        server.stop(130)
    finally:
        server.close()
    return server.status or 0


def _end_of(server: Server) -> asyncio.Future[None]:
    """A future that is done when the server was told to end."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop() -> None:
        if not ended.done():
            ended.set_result(None)

    server.on_stop = stop
    return ended


def _status_without_exit(server: Server) -> int:
    """The exit status where the client went away without `exit`: an error, unless it had asked to shut down."""
    return 0 if server.protocol.is_shut_down else 1
