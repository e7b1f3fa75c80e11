"""Paths as every clone has them: seen from the root of the project, and from the folders of installed packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

#: No path holds it: what begins with it was absolute.
_MARK = "\0"


class Places:
    """Where the root of a project and its installed packages lie on this machine; absolute folders."""

    def __init__(self, root: str, site_packages: Sequence[str] = ()) -> None:
        """Nothing is looked at."""
        self._root = root
        self._folders = tuple(site_packages)
        self._below = os.path.join(root, "")

    def shared(self, path: str) -> str:
        """A path as it is kept: those that are relative to the working directory as they are."""
        if not os.path.isabs(path):
            return path
        for number, folder in enumerate(self._folders):
            if path == folder or path.startswith(folder + os.sep):
                return f"{_MARK}{number}{path[len(folder) :]}"
        if path.startswith(self._below) and path == os.path.normpath(path):
            return f"{_MARK}/{path[len(self._below) :]}"
        return f"{_MARK}/{os.path.relpath(path, self._root)}"

    def here(self, path: str) -> str:
        """The path on this machine of what `shared` gave."""
        if not path.startswith(_MARK):
            return path
        number, _, rest = path[1:].partition("/")
        if number:
            index = int(number)
            folder = self._folders[index] if index < len(self._folders) else os.devnull
            return os.path.join(folder, rest) if rest else folder
        return os.path.normpath(os.path.join(self._root, rest))

    def portable(self, value: object) -> object:
        """A value of settings with all absolute paths in it as they are kept."""
        if isinstance(value, str):
            return self.shared(value) if os.path.isabs(value) else value
        if isinstance(value, (tuple, list)):
            return [self.portable(one) for one in cast("Sequence[object]", value)]
        if isinstance(value, dict):
            return {key: self.portable(one) for key, one in cast("dict[str, object]", value).items()}
        return repr(value)
