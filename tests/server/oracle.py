"""What `nonstrict check` says: the findings that every face has to show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from lsprotocol.types import DiagnosticSeverity, Position, Range

from tests.server.units import lines_of, width

SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "note": DiagnosticSeverity.Information,
}


class Shown(NamedTuple):
    """A finding as an editor gets it; the range is in the units that were negotiated."""

    code: str
    start: tuple[int, int]
    end: tuple[int, int]


class Expected(NamedTuple):
    """A finding of `nonstrict check`: rows and columns from 1, columns in code points."""

    code: str
    severity: str
    path: Path
    cell: int | None
    start: tuple[int, int]
    end: tuple[int, int]
    message: str
    related: tuple[tuple[Path, int], ...]

    def range(self, text: str, encoding: str) -> Range:
        """Where it stands in the text of its document."""
        lines = lines_of(text)

        def position(row: int, column: int) -> Position:
            return Position(row - 1, width(lines[row - 1][: column - 1], encoding))

        return Range(position(*self.start), position(*self.end))

    def shown(self, text: str, encoding: str) -> Shown:
        """The same as an editor gets it."""
        place = self.range(text, encoding)
        return Shown(self.code, (place.start.line, place.start.character), (place.end.line, place.end.character))


def environment(**extra: str) -> dict[str, str]:
    """The environment of a server or a command: without what the caller's would add to the settings."""
    hidden = ("NONSTRICT_", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(hidden)}, **extra}


def checked(root: Path, *arguments: str, stdin: str = "") -> list[Expected]:
    """The findings of a fresh `nonstrict check` of a directory, in its order."""
    command = [sys.executable, "-m", "nonstrict", "check", "--no-cache", "-j", "1", "--output-format", "json"]
    completed = subprocess.run(
        [*command, *arguments],
        cwd=root,
        input=stdin.encode(),
        capture_output=True,
        env=environment(),
        check=False,
        timeout=60,
    )
    assert completed.returncode in (0, 1), completed.stderr.decode()
    return [
        Expected(
            entry["code"],
            entry["severity"],
            Path(entry["filename"]),
            entry["cell"],
            (entry["location"]["row"], entry["location"]["column"]),
            (entry["end_location"]["row"], entry["end_location"]["column"]),
            entry["message"],
            tuple((Path(link["filename"]), link["location"]["row"]) for link in entry["related"]),
        )
        for entry in json.loads(completed.stdout)
    ]
