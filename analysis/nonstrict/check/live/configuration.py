"""The settings of a workspace folder: its configuration file, and on top what the client's settings say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import nearest_settings, settings_from_assignment, settings_in
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from nonstrict.settings.model import Settings


def folder_settings(root: str, overrides: Mapping[str, object], *, trusted: bool, lenient: bool = False) -> Settings:
    """The settings that hold for a folder; those of a folder that is not trusted name no interpreter.

    With `lenient` whatever is not valid is left out.

    Raises:
        ConfigurationError: the configuration file or an override is not valid.
    """
    try:
        settings = nearest_settings(root) or default_settings(root)
    except ConfigurationError:
        if not lenient:
            raise
        settings = default_settings(root)
    return _overridden(settings, overrides, trusted=trusted, lenient=lenient)


def _overridden(settings: Settings, overrides: Mapping[str, object], *, trusted: bool, lenient: bool) -> Settings:
    """Settings with those of the client on top.

    Raises:
        ConfigurationError: an override is not valid.
    """
    for key, value in overrides.items():
        try:
            settings = settings_from_assignment(settings, f"{key} = {json.dumps(value)}")
        except ConfigurationError:
            if not lenient:
                raise
    return settings if trusted else settings._replace(python=None)


class Nested:
    """The settings of directories below a folder, each from its own configuration file, with the client's on top.

    Those of a folder that is not `trusted` name no interpreter.
    """

    def __init__(self, overrides: Mapping[str, object], *, trusted: bool) -> None:
        """Nothing was read yet."""
        self._overrides = overrides
        self._trusted = trusted
        self._valid: dict[str, Settings | None] = {}

    def strict(self, directory: str, names: Collection[str]) -> Settings | None:
        """What one of the named files of a directory says.

        Raises:
            ConfigurationError: it is not valid.
        """
        found = settings_in(directory, names)
        if found is not None:
            # What is wrong with the client's settings is told once, of the folder.
            found = _overridden(found, self._overrides, trusted=self._trusted, lenient=True)
        self._valid[directory] = found
        return found

    def lenient(self, directory: str, names: Collection[str]) -> Settings | None:
        """The same; of a file that is not valid, what it said when it was."""
        try:
            return self.strict(directory, names)
        except ConfigurationError:
            return self._valid.get(directory)
