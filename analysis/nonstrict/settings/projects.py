"""The projects of a run: that of its settings, and those in folders below that have a configuration of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.settings.model import Settings


class Projects(NamedTuple):
    """The settings of a run, and by the paths of files those of sub-projects."""

    main: Settings
    own: Mapping[str, Settings] = {}

    def of(self, path: str) -> Settings:
        """The settings of a file."""
        return self.own.get(path, self.main)

    @property
    def every(self) -> tuple[Settings, ...]:
        """The settings of all, each once, those of the run first."""
        return tuple({id(one): one for one in (self.main, *self.own.values())}.values())

    def absolute(self) -> Projects:
        """The same by absolute paths."""
        return self._replace(own={os.path.abspath(path): one for path, one in self.own.items()})
