"""The settings of a workspace folder: its configuration file, and on top what the client's settings say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.settings.load import nearest_settings, settings_from_assignment
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.settings.model import Settings


def folder_settings(root: str, overrides: Mapping[str, object], *, trusted: bool) -> Settings:
    """The settings that hold for a folder; those of a folder that is not trusted name no interpreter.

    Raises:
        ConfigurationError: the configuration file or an override is not valid.
    """
    settings = nearest_settings(root) or default_settings(root)
    for key, value in overrides.items():
        settings = settings_from_assignment(settings, f"{key} = {json.dumps(value)}")
    return settings if trusted else settings._replace(python=None)
