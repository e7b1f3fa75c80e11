"""`nonstrict import` of the logs that tlparse reads too: findings at the lines where torch broke or compiled again."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

from bench.comparison import probing
from bench.comparison.model import Facts
from bench.comparison.tools.commands import finding
from bench.comparison.tools.nonstrict import OPTIONS, Nonstrict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.comparison.model import Finding, Setting


class Observed(Nonstrict):
    """What real runs add to the findings of nonstrict."""

    facts = Facts(
        name="nonstrict, with a run",
        page="record.md",
        gives="breaks and recompilations of real runs, at their lines among the other findings",
        runs_code="yes, for the log: `nonstrict record`, or TORCH_TRACE and `nonstrict import`",
        needs="torch, inputs, what the program needs (a GPU, data)",
        when="after a run, also one on another machine; then while you type",
        proves="yes: it is what happened",
        fixes="as without a run",
        areas=Nonstrict.facts.areas,
    )

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """The findings, observed and not, of a copy of the programs that has the logs imported."""
        logs = probing.traces(programs, setting)
        project = setting.scratch / "project"
        shutil.copytree(programs[0].parent, project, ignore=shutil.ignore_patterns("__pycache__"))
        (project / "nonstrict.toml").write_text("", encoding="utf-8")
        together = setting.scratch / "together"
        together.mkdir()
        for log in logs.glob("*/*.log"):
            shutil.copy(log, together)
        nonstrict = [str(setting.python), "-m", "nonstrict"]
        arguments = ["import", str(together), "--map", f"{programs[0].parent}={project}"]
        subprocess.run([*nonstrict, *arguments], cwd=project, capture_output=True, check=True)
        options = [option for option in OPTIONS if option != "--isolated"]
        told = subprocess.run(
            [*nonstrict, *options, "json", "."], cwd=project, capture_output=True, encoding="utf-8", check=True
        )
        return [finding(one) for one in json.loads(told.stdout)]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """A run that writes a log."""
        return []
