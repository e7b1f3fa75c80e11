"""The one exception of configuration: a file or an option that cannot be used."""

from __future__ import annotations

from typing import NamedTuple

from nonstrict.findings import INVALID_CONFIGURATION, Diagnostic, Location, Severity


class ConfigurationError(Exception):
    """A configuration that cannot be used; `diagnostics` are NST903 on the TOML, empty for the command line."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        """Say what is wrong and what to do about it."""
        super().__init__(message)
        self.diagnostics = diagnostics


class Place(NamedTuple):
    """A range of one line; row and column count from 1."""

    row: int = 1
    column: int = 1
    width: int = 1


def invalid(path: str, place: Place, message: str, advice: str = "") -> Diagnostic:
    """NST903 on a place of a configuration file."""
    location = Location(path, place.row, place.column, place.row, place.column + place.width)
    return Diagnostic(INVALID_CONFIGURATION, "invalid-configuration", Severity.ERROR, location, message, help=advice)
