"""ruff with all of its rules, those in preview too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.comparison.model import Area, Facts
from bench.comparison.tools.commands import finding, output, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.comparison.model import Finding, Setting

OPTIONS = ("check", "--isolated", "--no-cache", "--exit-zero", "--quiet", "--select", "ALL", "--preview")


class Ruff:
    """A linter and formatter for Python as a whole."""

    facts = Facts(
        name="ruff",
        page="https://docs.astral.sh/ruff/",
        gives="bugs, style, security and modernization of Python code",
        runs_code="no",
        needs="the source",
        when="while you type, in CI",
        proves="no",
        fixes="yes, safe and unsafe ones apart",
        areas=frozenset({Area.PYTHON, Area.SECURITY}),
    )

    def version(self, setting: Setting) -> str:
        """The version that the project pins."""
        return version_of("ruff", setting.python)

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """Every finding."""
        found = json.loads(output([setting.python, "-m", "ruff", *OPTIONS, "--output-format", "json", *programs]))
        return [finding(one) for one in found]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [[str(setting.python), "-m", "ruff", *OPTIONS, str(program)]]
