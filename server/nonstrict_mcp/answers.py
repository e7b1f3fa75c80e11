"""What tools answer: the schemas that a client is shown."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Fields of a command that are not named here are left out."""

    model_config = ConfigDict(extra="ignore")


class Position(Answer):
    """A position; rows and columns count from 1, columns in code points."""

    row: int
    column: int


class Related(Answer):
    """A further place that has to do with a finding."""

    filename: str
    location: Position
    message: str


class Finding(Answer):
    """One finding; `verdict` is what an experiment said of it, null where none was made."""

    code: str = Field(description="the code of the rule, for the tool `explain`")
    name: str
    severity: str = Field(description="error, warning or note")
    filename: str
    cell: int | None = None
    location: Position
    end_location: Position
    message: str
    note: str | None = None
    help: str | None = None
    url: str | None = None
    function: str | None = Field(None, description="the marked function or compiled region that it is about")
    marker: str | None = None
    related: list[Related] = []
    fix: dict[str, Any] | None = Field(None, description="edits, with their applicability: safe, unsafe or display")
    verdict: dict[str, Any] | None = None


class Findings(Answer):
    """Findings in the order of files and lines, as many as were asked for."""

    findings: list[Finding]
    left_out: int = Field(0, description="how many findings are not listed, beyond the limit")
    failures: list[str] = Field([], description="what could not be done")


class Regions(Answer):
    """The compiled regions of some files."""

    regions: list[dict[str, Any]]
    left_out: int = 0
    failures: list[str] = []


class Audited(Answer):
    """Whether a function may be marked: `verdict` is pure, obstacles or unknown."""

    function: str
    filename: str
    location: Position
    marker: str
    verdict: str
    findings: list[Finding] = Field(description="the obstacles")
    not_looked_into: list[Any] = []
    hidden: int = Field(0, description="obstacles that settings or suppressions leave out")
    failures: list[str] = []


class Confirmed(Findings):
    """Findings with verdicts, what torch made of the regions, and functions that could not be run."""

    regions: list[dict[str, Any]] = []
    not_run: list[dict[str, Any]] = []


class Explained(Answer):
    """What a text of torch means: its messages with the pages that fit, and the place in the workspace."""

    messages: list[dict[str, Any]]
    near: list[dict[str, Any]] = Field([], description="a guess, where nothing known fits")
    failures: list[str] = []


class Rule(Answer):
    """A rule with its page, in Markdown."""

    code: str
    name: str
    severity: str
    summary: str
    documentation: str
    url: str
