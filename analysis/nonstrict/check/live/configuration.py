"""The settings of a workspace folder: its configuration file, and on top what the client's settings say.

Rules that they name and that do not exist are refused here, before anything is made of the settings.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.check.selection import refuse_unknown
from nonstrict.rules.registry import RULES
from nonstrict.settings.choosing import Remembered, settings_below
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.load import nearest_settings, settings_from_assignment
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.settings.model import Settings


def folder_settings(root: str, overrides: Mapping[str, object], *, trusted: bool, lenient: bool = False) -> Settings:
    """The settings that hold for a folder; those of a folder that is not trusted name no interpreter.

    With `lenient` a file that is not valid is left out as a whole, and so is each override that is not.

    Raises:
        ConfigurationError: the configuration file or an override is not valid.
    """
    try:
        settings = _approved(nearest_settings(root) or default_settings(root))
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
            on_top = settings_from_assignment(settings, f"{key} = {json.dumps(value)}")
            # What is below is known to be valid: a mistake is the client's, and not in the file.
            refuse_unknown(on_top._replace(source=None), RULES)
            settings = on_top
        except ConfigurationError:
            if not lenient:
                raise
    return settings if trusted else settings._replace(python=None)


def _approved(settings: Settings) -> Settings:
    """Settings of a file, all of whose selectors select rules.

    Raises:
        ConfigurationError: one selects none.
    """
    refuse_unknown(settings, RULES)
    return settings


def nested_settings(overrides: Mapping[str, object], *, trusted: bool) -> Remembered:
    """The settings of directories below a folder, each from its own configuration file, with the client's on top.

    Those of a folder that is not `trusted` name no interpreter. What is wrong with the client's is told of the folder.
    """

    def on_top(found: Settings) -> Settings:
        return _overridden(_approved(found), overrides, trusted=trusted, lenient=True)

    return Remembered(settings_below(on_top))
