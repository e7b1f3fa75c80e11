"""The folders that an agent may name files in."""

from __future__ import annotations

import os
from typing import NamedTuple

from mcp.server.mcpserver.exceptions import ToolError

#: Paths longer than this are no paths.
_LONGEST = 4096


class Place(NamedTuple):
    """An absolute path, and the root that it lies in."""

    path: str
    root: str


class Workspace:
    """Some roots: no path leads out of them, through links either."""

    def __init__(self, roots: list[str]) -> None:
        """Take the folders as they are now, without links."""
        self._roots = [os.path.realpath(root) for root in roots]

    def place(self, text: str) -> Place:
        """Where a path is; a relative one belongs to the first root that has it.

        Raises:
            ToolError: there is no such path, or it leads out of the roots.
        """
        if not text or "\0" in text or len(text) > _LONGEST:
            raise ToolError("A path is empty, too long, or holds a NUL.")
        for root in self._roots:
            real = os.path.realpath(os.path.join(root, text))
            inside = next((one for one in self._roots if _lies_in(real, one)), None)
            if inside is None:
                continue
            if os.path.isdir(real) or os.path.isfile(real):
                return Place(real, inside)
        known = ", ".join(self._roots)
        raise ToolError(f"`{text}` is not a file or folder in the workspace ({known}).")

    def places(self, texts: list[str]) -> tuple[str, list[str]]:
        """The root that commands are run in, and the absolute paths; without any, the first root.

        Raises:
            ToolError: as `place`.
        """
        found = [self.place(text) for text in texts] or [Place(self._roots[0], self._roots[0])]
        return found[0].root, [one.path for one in found]

    def function(self, text: str, *, whole: bool = False) -> tuple[str, str]:
        """The root that commands are run in, and `FILE::FUNCTION` with an absolute path; `whole` allows a file alone.

        Raises:
            ToolError: as `place`, or no function is named, or what is named is a folder.
        """
        path, separator, name = text.partition("::")
        if not whole and not (separator and name.strip()):
            raise ToolError(f"`{text}` names no function. Write FILE::FUNCTION or FILE::Class.method.")
        place = self.place(path)
        if not os.path.isfile(place.path):
            raise ToolError(f"`{path}` is a folder. Name a file.")
        return place.root, f"{place.path}{separator}{name}"


def _lies_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
