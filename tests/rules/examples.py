"""The examples in the documentation of the rules, as cases."""

from __future__ import annotations

from typing import NamedTuple

from nonstrict.rules.registry import RULES
from tests.suites.cases import Case, fences

HEADINGS = [
    "What it does",
    "Why is this bad",
    "What torch says",
    "Example",
    "Use instead",
    "Fix safety",
    "What is not reported",
    "References",
]


class Example(NamedTuple):
    """One example: `good` is the one under "Use instead"."""

    code: str
    good: bool
    case: Case

    @property
    def name(self) -> str:
        """How tests name it."""
        return f"{self.code}-{'good' if self.good else 'bad'}"


def examples() -> list[Example]:
    """The bad and the good example of every rule."""
    return [
        Example(code, heading == "Use instead", _case(rule.documentation, heading))
        for code, rule in RULES.items()
        for heading in ("Example", "Use instead")
    ]


def _case(documentation: str, heading: str) -> Case:
    files: dict[str, str] = {}
    line = 0
    for fence in fences(documentation):
        if fence.heading == heading:
            line = line or fence.line
            files[fence.name or "main.py"] = fence.text
    return Case(heading, line, files)
