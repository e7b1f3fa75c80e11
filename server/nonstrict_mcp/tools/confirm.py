"""`confirm`: experiments, in the sandbox and with the interpreter that the command would take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context  # noqa: TC002 - read while a server is made
from mcp.types import ToolAnnotations
from pydantic import Field

from nonstrict_mcp.answers import Confirmed
from nonstrict_mcp.tools import Limit  # noqa: TC001

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace

#: How long all experiments of a file may take, in seconds.
_LONGEST = 3600.0


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False))
    async def confirm(
        target: Annotated[str, Field(max_length=4200, description="FILE, or FILE::FUNCTION")],
        context: Context,
        seconds: Annotated[float, Field(gt=0, le=600, description="limit of one run of a program")] = 60.0,
        limit: Limit = 200,
    ) -> Confirmed:
        """Compile a function in a sandbox beside plain Python, and say which findings come true, with evidence."""
        folder, place = workspace.function(target, whole=True)
        arguments = ["confirm", "--output-format=json", f"--timeout={seconds}", "--", place]

        async def tell(elapsed: float, said: str) -> None:
            await context.report_progress(elapsed, message=said or "experiments are being prepared")

        done = await commands.run(arguments, folder, _LONGEST, tell)
        listed = done.answer["findings"][:limit]
        left_out = len(done.answer["findings"]) - len(listed)
        told = {**done.answer, "findings": listed, "left_out": left_out, "failures": done.failures}
        return Confirmed.model_validate(told)
