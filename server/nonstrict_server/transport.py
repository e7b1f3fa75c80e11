"""Messages over standard input and output, or over one TCP connection: frames in, frames out.

pygls reads standard input line by line through a pool of threads that handlers share. Here one thread reads whole
messages, so that a message costs one hop and no handler can starve the reader.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = re.compile(rb"content-length:\s*(\d+)\s*\r\n", re.IGNORECASE)


class StreamWriter:
    """Writes to a pipe that the client reads."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write a whole message. Raises `BrokenPipeError` if nobody reads any more."""
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        """Close the pipe."""
        self._stream.close()


class SocketWriter:
    """Writes to a connection of the event loop."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Hand a whole message to the loop."""
        self._stream.write(data)

    def close(self) -> None:
        """Close the connection when all is sent."""
        self._stream.close()


def own_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: what anything else prints goes to standard error."""
    sys.stdout.flush()
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


def read_in_thread(
    stream: BinaryIO,
    loop: asyncio.AbstractEventLoop,
    receive: Callable[[bytes], None],
    ended: Callable[[], None],
) -> None:
    """Call `receive` on the loop with each message of a stream, and `ended` behind the last one."""

    def read() -> None:
        try:
            while (body := _next_message(stream)) is not None:
                loop.call_soon_threadsafe(receive, body)
            loop.call_soon_threadsafe(ended)
        except RuntimeError:
            # The loop has ended before the client did.
            return

    threading.Thread(target=read, name="reader", daemon=True).start()


async def read_connection(reader: asyncio.StreamReader, receive: Callable[[bytes], None]) -> None:
    """Call `receive` with each message of a connection, until it is closed."""
    while True:
        try:
            header = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(header)
            if length is not None:
                receive(await reader.readexactly(int(length[1])))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return


def _next_message(stream: BinaryIO) -> bytes | None:
    """The body of the next message, None at the end of the stream."""
    length = 0
    try:
        while line := stream.readline():
            found = _LENGTH.match(line)
            if found is not None:
                length = int(found[1])
            elif not line.strip() and length:
                body = stream.read(length)
                return body if len(body) == length else None
    except (OSError, ValueError):
        return None
    return None
