"""The options that say which configuration counts, and the settings that follow from them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

from nonstrict.settings.choosing import refuse_no_file, settings_below, settings_over
from nonstrict.settings.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from nonstrict.check.files import NestedSettings
    from nonstrict.settings.model import Settings


class ArgumentGroup(Protocol):
    """What takes options: a parser of `argparse`, or a group of its help."""

    def add_argument(self, *name_or_flags: str, **settings: Any) -> object:
        """Declare an option."""
        ...


def add_configuration_arguments(parser: ArgumentGroup) -> None:
    """Declare `--config` and `--isolated`."""
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE | 'KEY = VALUE'",
        help="a configuration file to use instead of the nearest one, or one key in TOML on top; may be repeated",
    )
    parser.add_argument("--isolated", action="store_true", help="ignore all configuration files")


def add_version_arguments(parser: ArgumentGroup) -> None:
    """Declare `--torch-version` and `--target-python`."""
    parser.add_argument(
        "--torch-version", metavar="VERSION", help="version of torch to check for (default: the installed one)"
    )
    parser.add_argument(
        "--target-python",
        metavar="VERSION",
        help="lowest supported Python version (default: `requires-python` of the project)",
    )


def main_settings(paths: Sequence[str], options: argparse.Namespace) -> Settings:
    """The settings of a run over `paths`: of the nearest configuration at or above what they have in common.

    Raises:
        ConfigurationError: the configuration, or an option about it, cannot be used.
    """
    files = [item for item in options.config if not is_assignment(item)]
    if len(files) > 1:
        raise ConfigurationError("--config names two files. Let one `extend` the other.")
    for file in files:
        refuse_no_file(file, "--config takes a file or `KEY = VALUE`")
    if files and options.isolated:
        raise ConfigurationError("--isolated and --config FILE exclude each other. Drop one of them.")
    return settings_over(paths, files[0] if files else None, isolated=options.isolated)


def nested_settings(options: argparse.Namespace, on_top: Callable[[Settings], Settings]) -> NestedSettings | None:
    """What asks for the settings of directories below, with those of the command line `on_top`; None if none count."""
    if options.isolated or not all(is_assignment(item) for item in options.config):
        return None
    return settings_below(on_top)


def is_assignment(item: str) -> bool:
    """Whether a value of `--config` is `key = value` and not a file."""
    return "=" in item and not os.path.exists(item)
