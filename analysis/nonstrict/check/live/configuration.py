"""The settings of a workspace folder: its configuration file, and on top what the client's settings say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.settings.choosing import Remembered, settings_below
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import nearest_settings, settings_from_assignment
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def nested_settings(overrides: Mapping[str, object], *, trusted: bool) -> Remembered:
    """The settings of directories below a folder, each from its own configuration file, with the client's on top.

    Those of a folder that is not `trusted` name no interpreter. What is wrong with the client's is told of the folder.
    """
    return Remembered(settings_below(lambda found: _overridden(found, overrides, trusted=trusted, lenient=True)))
