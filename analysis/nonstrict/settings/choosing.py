"""Which settings a run over some paths has, for commands and for programs alike."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import Settings, default_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


def settings_over(paths: Sequence[str], file: str | None = None, *, isolated: bool = False) -> Settings:
    """The settings of a file that was named, else of the nearest at or above what the paths have in common.

    Those that are `isolated` are the defaults. Without a file of their own, settings are for the working directory.

    Raises:
        ConfigurationError: the configuration cannot be used.
    """
    if isolated:
        return default_settings(os.getcwd())
    if file is not None:
        from nonstrict.settings.load import settings_from_file

        return settings_from_file(file)._replace(root=os.getcwd())
    from nonstrict.settings.load import nearest_settings

    return nearest_settings(common_directory(paths)) or default_settings(os.getcwd())


def refuse_no_file(file: str, taker: str) -> None:
    """Refuse what is named as a configuration file and can be none; `taker` begins the sentence, with what it takes.

    Raises:
        ConfigurationError: it is empty, or a directory.
    """
    if not file or os.path.isdir(file):
        raise ConfigurationError(f"{taker}, not {f'the directory {file}' if file else 'nothing'}.")


def settings_below(on_top: Callable[[Settings], Settings]) -> Callable[[str, Collection[str]], Settings | None]:
    """What asks for the settings of directories below the paths of a run, with others `on_top`."""

    def below(directory: str, names: Collection[str]) -> Settings | None:
        from nonstrict.settings.load import settings_in

        settings = settings_in(directory, names)
        return on_top(settings) if settings is not None else None

    return below


class Remembered:
    """The settings of directories below, as `settings_below` asks for them, and what they were when they were valid.

    `errors` are those of the directories whose settings were not valid when they were last asked for.
    """

    def __init__(self, below: Callable[[str, Collection[str]], Settings | None]) -> None:
        """Nothing was read yet."""
        self._below = below
        self._valid: dict[str, Settings | None] = {}
        self.errors: dict[str, ConfigurationError] = {}

    def strict(self, directory: str, names: Collection[str]) -> Settings | None:
        """What one of the named files of a directory says.

        Raises:
            ConfigurationError: it is not valid.
        """
        try:
            found = self._valid[directory] = self._below(directory, names)
        except ConfigurationError as error:
            self.errors[directory] = error
            raise
        self.errors.pop(directory, None)
        return found

    def lenient(self, directory: str, names: Collection[str]) -> Settings | None:
        """The same; of a file that is not valid, what it said when it was."""
        try:
            return self.strict(directory, names)
        except ConfigurationError:
            return self._valid.get(directory)


def common_directory(paths: Sequence[str]) -> str:
    """The deepest absolute directory that holds all paths; the working directory if there is none."""
    absolute = [os.path.abspath(path) for path in paths if path != "-"]
    if not absolute:
        return os.getcwd()
    try:
        common = os.path.commonpath(absolute)
    except ValueError:  # different drives
        return os.getcwd()
    return common if os.path.isdir(common) else os.path.dirname(common)
