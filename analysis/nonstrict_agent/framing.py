"""JSON objects as lines of bytes: cut out of a stream as they arrive, whatever the stream's pieces are."""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import Any

#: The most one line may weigh, in bytes, unless the reader says otherwise.
LONGEST_LINE = 80 << 20
#: How much is read from a stream at once, in bytes.
PIECE = 1 << 18


class FramingError(Exception):
    """The stream holds something else than JSON objects, one a line."""


class Lines:
    """Collects the pieces of one stream and gives out its whole lines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._rest = bytearray()
        self._longest = longest

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """The objects whose lines this piece completes.

        Raises:
            FramingError: a line is longer than allowed, or no JSON object.
        """
        seen = len(self._rest)
        self._rest += piece
        end = self._rest.rfind(b"\n", seen)
        if end < 0:
            lines: list[bytes] = []
        else:
            lines = bytes(self._rest[:end]).split(b"\n")
            del self._rest[: end + 1]
        if any(len(line) > self._longest for line in (*lines, self._rest)):
            raise FramingError(f"a message is longer than {self._longest} bytes")
        return [parse(line) for line in lines if line]


def parse(line: bytes) -> dict[str, Any]:
    """The object that one line, or a whole datagram, stands for.

    Raises:
        FramingError: it is none.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise FramingError("a message is no JSON") from error
    if not isinstance(value, dict):
        raise FramingError("a message is no JSON object")
    return value


def line_of(message: dict[str, Any]) -> bytes:
    """A message as one line; never holds a line end of its own, since JSON escapes them."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to a descriptor that blocks.

    Raises:
        OSError: the other end is closed.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def selectable(descriptor: int) -> int | socket.socket:
    """What a selector can watch for a pipe's bytes: the pipe itself, but on Windows a socket fed by a thread."""
    return pumped(descriptor) if os.name == "nt" else descriptor


def pumped(descriptor: int) -> socket.socket:
    """A socket on which the bytes of a pipe arrive, and its end; a thread carries them and closes the pipe."""
    ours, theirs = socket.socketpair()

    def carry() -> None:
        with theirs:
            try:
                while piece := os.read(descriptor, PIECE):
                    theirs.sendall(piece)
            except OSError:
                pass
            finally:
                os.close(descriptor)

    threading.Thread(target=carry, daemon=True).start()
    return ours
