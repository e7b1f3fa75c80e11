"""`regions`: what is compiled, into how many graphs, and why something was not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.types import ToolAnnotations

from nonstrict_mcp.answers import Regions
from nonstrict_mcp.tools import Limit, Paths  # noqa: TC001 - read while a server is made

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace

_LONGEST = 600.0


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def regions(paths: Paths = [], limit: Limit = 200) -> Regions:  # noqa: B006 - never changed
        """List what torch.compile is applied to: graphs, graph breaks, options, and what was not looked at."""
        folder, places = workspace.places(paths)
        done = await commands.run(["regions", "--output-format=json", "--", *places], folder, _LONGEST)
        listed = done.answer[:limit]
        return Regions(regions=listed, left_out=len(done.answer) - len(listed), failures=done.failures)
