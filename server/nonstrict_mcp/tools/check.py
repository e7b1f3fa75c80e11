"""`check`: the findings of files, nothing of which is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.types import ToolAnnotations

from nonstrict_mcp.answers import Findings
from nonstrict_mcp.tools import Limit, Paths, Selectors  # noqa: TC001 - read while a server is made

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from nonstrict_mcp.commands import Commands
    from nonstrict_mcp.workspace import Workspace

#: How long a check may take, in seconds.
_LONGEST = 600.0


def declare(server: MCPServer, workspace: Workspace, commands: Commands) -> None:
    """Declare the tool."""

    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def check(
        paths: Paths = [],  # noqa: B006 - never changed
        select: Selectors = [],  # noqa: B006
        ignore: Selectors = [],  # noqa: B006
        limit: Limit = 200,
    ) -> Findings:
        """Find what torch.compile breaks, recompiles, freezes, loses or refuses in Python files. Runs none of them."""
        folder, places = workspace.places(paths)
        options = [f"--select={','.join(select)}"] if select else []
        options += [f"--ignore={','.join(ignore)}"] if ignore else []
        done = await commands.run(["check", "--output-format=json", *options, "--", *places], folder, _LONGEST)
        listed = done.answer[:limit]
        return Findings(findings=listed, left_out=len(done.answer) - len(listed), failures=done.failures)
