"""The server as agents start it: a process, to which the SDK's own client speaks."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager

    Connect = Callable[..., AbstractAsyncContextManager[Client]]

ROOT = Path(__file__).resolve().parents[2]
#: As the console script: nothing is imported from the folder that the server is started in.
START = "import sys; sys.path.remove(''); from nonstrict.cli.main import command; command()"
BAD = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE


@torch._dynamo.nonstrict_trace
def doubled(x):
    return x * 2


@torch.compile(backend="aot_eager")
def step(x):
    return scaled(x) + doubled(x)


def main():
    global SCALE
    print(step(torch.ones(3)))
    SCALE = torch.full((3,), 2.0)
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "bad.py").write_text(BAD, encoding="utf-8")
    return folder


@pytest.fixture
def connect(workspace: Path) -> Connect:
    @asynccontextmanager
    async def connected(*arguments: str) -> AsyncGenerator[Client]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "analysis"), str(ROOT / "server")))}
        server = StdioServerParameters(
            command=sys.executable, args=["-c", START, "mcp", *arguments], env=environment, cwd=str(workspace)
        )
        async with Client(server) as client:
            yield client

    return connected


def said(result: Any) -> str:
    """The text of an answer."""
    return "\n".join(part.text for part in result.content)
