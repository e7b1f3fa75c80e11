"""Servers as processes, and editors that talk to them."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Protocol

import pytest_asyncio
from lsprotocol.types import MessageType
from pytest_lsp.checks import LspSpecificationWarning

from tests.server.oracle import environment
from tests.server.processes import all_gone, descendants, process
from tests.server.protocol.editor import Editor, EditorClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    import pytest

    from tests.server.protocol.profiles import Profile


class Start(Protocol):
    """Starts a server and an editor on folders."""

    async def __call__(
        self,
        profile: Profile,
        *roots: Path,
        settings: Mapping[str, Any] | None = None,
        transport: str = "stdio",
        arguments: Sequence[str] = (),
    ) -> Editor: ...


async def port_of(server: asyncio.subprocess.Process) -> int:
    """The port that a server says it listens at."""
    assert server.stderr
    line = await asyncio.wait_for(server.stderr.readline(), 30)
    assert line.startswith(b"nonstrict: listening on 127.0.0.1:"), line
    return int(line.rpartition(b":")[2])


@pytest_asyncio.fixture
async def start(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> AsyncIterator[Start]:
    """Starts servers; at the end each of them shuts down, complained of nothing and left no process behind."""
    running: list[tuple[Editor, asyncio.subprocess.Process]] = []

    async def begin(profile, *roots, settings=None, transport="stdio", arguments=()):
        client = EditorClient()
        command = [sys.executable, "-m", "nonstrict", "server", *arguments]
        if transport == "stdio":
            await client.start_io(*command, cwd=tmp_path, env=environment())
            server = client._server
            if client._stderr_forwarder:
                client._stderr_forwarder.cancel()
        else:
            command += ["--tcp", "0"]
            server = await asyncio.create_subprocess_exec(
                *command, cwd=tmp_path, env=environment(), stderr=asyncio.subprocess.PIPE
            )
            await client.start_tcp("127.0.0.1", await port_of(server))
        assert server
        client.listen(server)
        editor = Editor(client, profile)
        running.append((editor, server))
        await asyncio.wait_for(editor.start(roots, settings), 30)
        return editor

    try:
        yield begin
        for editor, server in running:
            if editor.begun:
                await end(editor, server)
        outside = [warning.message for warning in recwarn if issubclass(warning.category, LspSpecificationWarning)]
        assert not outside, "the server sent what the client did not say it knows"
    finally:
        for editor, server in running:
            if server.returncode is None:
                server.kill()
                await server.wait()
            await editor.client.stop()


async def end(editor: Editor, server: asyncio.subprocess.Process) -> None:
    """Shut a session down and look at what it left."""
    family = [process(server.pid), *descendants(server.pid)]
    client = editor.client
    await asyncio.wait_for(client.shutdown_async(None), 20)
    client.exit(None)
    assert await asyncio.wait_for(server.wait(), 20) == 0
    assert all_gone(family), [one.command for one in family if one.alive]
    assert client.error is None
    said = [*client.messages, *client.log_messages]
    assert not [message.message for message in said if message.type == MessageType.Error]
    assert "Traceback" not in await client.complaints()
