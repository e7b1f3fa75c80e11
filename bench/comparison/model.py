"""What the parts of the comparison exchange: programs and their labels, findings, tools, judgements."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Area(str, enum.Enum):
    """The kind of a hazard."""

    MEANING = "meaning"
    REGION = "region"
    USE = "use"
    COST = "cost"
    API = "api"
    SECURITY = "security"
    PYTHON = "python"
    CLEAN = "clean"


class Mark(str, enum.Enum):
    """What a tool makes of the hazard of a program."""

    LINE = "line"
    ELSEWHERE = "elsewhere"
    OTHER = "other"
    ABSENT = "absent"
    MISSED = "missed"
    OUTSIDE = "outside"


class Finding(NamedTuple):
    """One report of a tool; without a line where it names none in the program."""

    program: str
    line: int | None
    code: str
    message: str
    #: Whether it costs nothing until something else changes.
    note: bool = False


@dataclass(frozen=True)
class Program:
    """A program with the hazard that it is about."""

    path: Path
    title: str
    area: Area
    lines: frozenset[int]
    #: Codes that name this hazard, and codes that point at its line for another reason.
    named: frozenset[str]
    near: frozenset[str]
    #: What running it shows, as the label says.
    truth: str

    @property
    def name(self) -> str:
        """The name of the file without its suffix."""
        return self.path.stem


@dataclass(frozen=True)
class Setting:
    """Where the tools and the programs are."""

    #: The interpreter that has torch and nonstrict.
    python: Path
    #: The folder of the other tools' commands.
    commands: Path
    #: What runs may write; empty at the beginning.
    scratch: Path
    #: Further rules for semgrep, from a checkout of theirs.
    semgrep_rules: Path | None = None


@dataclass(frozen=True)
class Facts:
    """What a tool is for and what it needs: the same questions for each."""

    name: str
    page: str
    gives: str
    runs_code: str
    needs: str
    when: str
    proves: str
    fixes: str
    areas: frozenset[Area] = field(default_factory=frozenset[Area])


class Tool(Protocol):
    """A tool, and how it is asked about programs."""

    @property
    def facts(self) -> Facts:
        """What it is for."""
        ...

    def version(self, setting: Setting) -> str:
        """The version that is installed."""
        ...

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """What it reports about programs that lie in one folder."""
        ...

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """What one types to have one program looked at, for a clock."""
        ...
