"""`audit`: whether a function may be marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.types import ToolAnnotations
from pydantic import Field

from nonstrict_mcp.answers import Audited

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace

_LONGEST = 600.0


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def audit(
        function: Annotated[str, Field(max_length=4200, description="FILE::FUNCTION or FILE::Class.method")],
        marker: Annotated[
            str, Field(pattern=r"^[a-z_]{1,40}$", description="such as nonstrict_trace or allow_in_graph")
        ] = "nonstrict_trace",
    ) -> Audited:
        """Say whether a function may be marked for tracing without being looked into, and what is in the way."""
        folder, target = workspace.function(function)
        done = await commands.run(
            ["audit", "--output-format=json", f"--marker={marker}", "--", target], folder, _LONGEST
        )
        return Audited.model_validate({**done.answer, "failures": done.failures})
