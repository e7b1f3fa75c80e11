"""`explain`: the page of a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from nonstrict_mcp.answers import Rule

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def explain(
        rule: Annotated[str, Field(max_length=64, description="a code or a name: NST101, global-tensor-capture")],
    ) -> Rule:
        """Explain a rule: what it finds, why it matters, what to write instead, with examples."""
        from nonstrict.rules.registry import RULES

        wanted = rule.strip().lower()
        found = next((one for one in RULES.values() if wanted in (one.code.lower(), one.name)), None)
        if found is None:
            raise ToolError(f"There is no rule `{rule}`. There are {', '.join(RULES)}.")
        return Rule(
            code=found.code,
            name=found.name,
            severity=found.severity.label,
            summary=found.summary,
            documentation=found.documentation,
            url=found.url,
        )
