"""semgrep with local rules: those of `semgrep_rules.yml`, and those of a checkout if there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from bench.comparison.model import Area, Facts, Finding
from bench.comparison.tools.commands import output, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.comparison.model import Setting

HOUSE = Path(__file__).parent.parent / "semgrep_rules.yml"
OPTIONS = ("scan", "--metrics", "off", "--disable-version-check", "--quiet", "--no-git-ignore")


class Semgrep:
    """A search for patterns of syntax, with rules that one writes or takes from others."""

    facts = Facts(
        name="semgrep",
        page="https://semgrep.dev/docs/",
        gives="matches of the patterns that you write; published rules are mostly about security",
        runs_code="no",
        needs="the source and rules",
        when="while you type, in CI",
        proves="no",
        fixes="where a rule has one",
        areas=frozenset({Area.SECURITY, Area.API}),
    )

    def version(self, setting: Setting) -> str:
        """The version in the environment of the comparison."""
        return version_of("semgrep", setting.commands / "python")

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """Every finding, under the last part of its rule's name."""
        told = output([*self._command(setting), "--json", *programs])
        return [
            Finding(Path(one["path"]).stem, one["start"]["line"], _name(one["check_id"]), one["extra"]["message"])
            for one in json.loads(told)["results"]
        ]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [[*self._command(setting), str(program)]]

    def _command(self, setting: Setting) -> list[str]:
        rules = [HOUSE, *([setting.semgrep_rules] if setting.semgrep_rules else [])]
        chosen = [argument for rule in rules for argument in ("--config", str(rule))]
        return [str(setting.commands / "semgrep"), *OPTIONS, *chosen]


def _name(rule: str) -> str:
    return rule.rpartition(".")[2]
