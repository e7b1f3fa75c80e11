"""`explain_text`: what an error or a log of torch means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.types import ToolAnnotations
from pydantic import Field

from nonstrict_mcp.answers import Explained

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace

_LONGEST = 600.0
#: In UTF-8, less than an argument of a process may have.
_MOST = 30_000


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def explain_text(
        text: Annotated[
            str,
            Field(
                min_length=1,
                max_length=_MOST,
                description="what torch printed: an error with its traceback, lines of TORCH_LOGS, an id (GB0059)",
            ),
        ],
    ) -> Explained:
        """Explain an error or a log of torch: what it means, what to do, where it comes from, what is found there."""
        folder, _ = workspace.places([])
        # The end of a line makes it a text, and no name of a file.
        done = await commands.run(["explain", "--output-format=json", "--", f"{text}\n"], folder, _LONGEST)
        return Explained(messages=done.answer["messages"], near=done.answer["near"], failures=done.failures)
