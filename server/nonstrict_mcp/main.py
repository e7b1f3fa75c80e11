"""Makes the server of some roots, and serves an agent at standard input and output."""

from __future__ import annotations

import anyio
from mcp.server.mcpserver import MCPServer

from nonstrict import __version__
from nonstrict_mcp.commands import Commands
from nonstrict_mcp.tools import audit, check, confirm, explain, explain_text, regions
from nonstrict_mcp.workspace import Workspace

_INSTRUCTIONS = (
    "Static analysis of torch.compile. `check` finds, `explain` shows the page of a rule, `explain_text` says what an "
    "error or a log of torch means, `regions` lists what is compiled, `audit` says whether a function may be marked, "
    "`confirm` runs experiments in a sandbox. Paths are those of files and folders in the workspace."
)


def serve(roots: list[str], *, experiments: bool) -> int:
    """Serve until standard input ends; the exit status. Without `experiments` no code of the workspace is run."""
    anyio.run(server_of(roots, experiments=experiments).run_stdio_async)
    return 0


def server_of(roots: list[str], *, experiments: bool) -> MCPServer:
    """The server, with its tools."""
    server = MCPServer("nonstrict", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    workspace, commands = Workspace(roots), Commands()
    for tool in (check, audit, regions, explain, explain_text, *([confirm] if experiments else [])):
        tool.declare(server, workspace, commands)
    return server
