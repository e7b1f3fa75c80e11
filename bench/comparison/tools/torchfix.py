"""TorchFix with all of its rules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench.comparison.model import Area, Facts, Finding
from bench.comparison.tools.commands import output, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.comparison.model import Setting

LINE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: (?P<code>TOR\d+) (?P<message>.*)$", re.MULTILINE)


class TorchFix:
    """A linter for the use of torch's functions, with codemods."""

    facts = Facts(
        name="TorchFix",
        page="https://pypi.org/project/torchfix/",
        gives="deprecated, removed, non-public and unsafe functions of torch, and better ways to call them",
        runs_code="no",
        needs="the source",
        when="while you type (flake8), in CI",
        proves="no",
        fixes="yes, for some rules",
        areas=frozenset({Area.API, Area.SECURITY, Area.COST}),
    )

    def version(self, setting: Setting) -> str:
        """The version in the environment of the comparison."""
        return version_of("torchfix", setting.commands / "python")

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """Every finding."""
        told = output([setting.commands / "torchfix", "--select", "ALL", *programs])
        return [
            Finding(Path(one["file"]).stem, int(one["line"]), one["code"], one["message"])
            for one in LINE.finditer(told)
        ]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [[str(setting.commands / "torchfix"), "--select", "ALL", str(program)]]
