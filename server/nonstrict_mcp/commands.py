"""Runs commands of nonstrict in processes of their own, which end when nobody waits for them any more.

A tool does what the command does, with its sandbox and its rules of trust; what becomes of the process, the server
survives.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from mcp.server.mcpserver.exceptions import ToolError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from anyio.abc import ByteReceiveStream, Process

    #: Hears how many seconds a command has been running, and what it said last.
    Listener = Callable[[float, str], Awaitable[None]]

#: Nothing is imported from the folder that a command runs in.
_START = (
    "import sys; sys.path[:1] = [one for one in sys.path[:1] if one]; from nonstrict.cli.main import command; command()"
)
#: The most that a command may say, in bytes.
_MOST = 64 << 20
#: How long a command may take to clear up, in seconds.
_GRACE = 10.0
_INTERVAL = 1.0
#: Commands at once: each may use several processors.
_AT_ONCE = 2


class Outcome(NamedTuple):
    """What a command answered, and sentences about what could not be done."""

    answer: Any
    failures: list[str]


class Commands:
    """Runs commands, a few at a time."""

    def __init__(self) -> None:
        """Nothing is running yet."""
        self._limit = anyio.Semaphore(_AT_ONCE)

    async def run(
        self, arguments: Sequence[str], folder: str, seconds: float, listener: Listener | None = None
    ) -> Outcome:
        """What a command writes as JSON.

        Raises:
            ToolError: it could not do its job, or not in time.
        """
        async with self._limit:
            status, out, said = await _finished(arguments, folder, seconds, listener)
        failures = [line.removeprefix("nonstrict: ") for line in said.splitlines() if line.strip()]
        try:
            answer = json.loads(out)
        except ValueError:
            raise ToolError("\n".join(failures[:20]) or f"nonstrict ended with exit status {status}.") from None
        return Outcome(answer, failures if status not in (0, 1) else [])


async def _finished(
    arguments: Sequence[str], folder: str, seconds: float, listener: Listener | None
) -> tuple[int, bytes, str]:
    process = await anyio.open_process(
        [sys.executable, "-c", _START, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    out, said = bytearray(), bytearray()
    try:
        with anyio.fail_after(seconds):
            async with anyio.create_task_group() as group:
                if listener is not None:
                    group.start_soon(_tell, listener, said)
                await _read(process, out, said)
                group.cancel_scope.cancel()
            status = await process.wait()
    except TimeoutError:
        raise ToolError(f"nonstrict did not end within {seconds:.0f} s, and was stopped.") from None
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return status, bytes(out), said.decode("utf-8", "replace")


async def _read(process: Process, out: bytearray, said: bytearray) -> None:
    async with anyio.create_task_group() as group:
        for stream, kept in ((process.stdout, out), (process.stderr, said)):
            if stream is not None:
                group.start_soon(_collect, stream, kept)


async def _collect(stream: ByteReceiveStream, kept: bytearray) -> None:
    async for chunk in stream:
        kept += chunk
        if len(kept) > _MOST:
            raise ToolError("The answer is too long. Name fewer files.")


async def _tell(listener: Listener, said: bytearray) -> None:
    """Tell about every second that a command still runs."""
    started = time.monotonic()
    while True:
        await anyio.sleep(_INTERVAL)
        lines = said.decode("utf-8", "replace").splitlines()
        await listener(time.monotonic() - started, lines[-1].removeprefix("nonstrict: ")[:300] if lines else "")


async def _end(process: Process) -> None:
    """See a process ended with all that it started: asked first, as Ctrl-C does."""
    if process.returncode is None:
        _signal(process, signal.SIGINT)
        with anyio.move_on_after(_GRACE):
            await process.wait()
        if process.returncode is None:
            _signal(process, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    await process.aclose()


def _signal(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()
