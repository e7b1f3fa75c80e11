"""`nonstrict check`, without a configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.comparison.model import Area, Facts
from bench.comparison.tools.commands import finding, output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.comparison.model import Finding, Setting

OPTIONS = ("check", "--isolated", "--no-cache", "--exit-zero", "--output-format")


class Nonstrict:
    """The tool of this repository."""

    facts = Facts(
        name="nonstrict",
        page="README.md",
        gives="graph breaks, recompilations, and differences between compiled and eager code, at their lines",
        runs_code="no; with `--confirm` yes, in a sandbox",
        needs="the source; `--confirm` needs torch and finds or takes inputs",
        when="while you type, in CI",
        proves="with `--confirm`: compiled and eager runs compared",
        fixes="yes, safe and unsafe ones apart",
        areas=frozenset({Area.MEANING, Area.REGION, Area.USE}),
    )

    def version(self, setting: Setting) -> str:
        """The version of this checkout."""
        return output([setting.python, "-m", "nonstrict", "--version"]).split()[-1]

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """Every finding, notes included."""
        found = json.loads(output([setting.python, "-m", "nonstrict", *OPTIONS, "json", *programs]))
        return [finding(one) for one in found]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [[str(setting.python), "-m", "nonstrict", *OPTIONS, "concise", str(program)]]
