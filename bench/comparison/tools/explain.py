"""`torch._dynamo.explain` of each region, with the inputs of its first call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.comparison import probing
from bench.comparison.model import Area, Facts
from bench.comparison.tools.commands import version_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.comparison.model import Finding, Setting


class Explain:
    """torch's own account of the graphs of one call."""

    facts = Facts(
        name="`torch._dynamo.explain`",
        page="https://docs.pytorch.org/docs/stable/torch.compiler.html",
        gives="the graphs of a call with their operators, why each break happened, the guards",
        runs_code="yes",
        needs="torch, inputs, what the program needs (a GPU, data)",
        when="in a run, in a line that you add",
        proves="yes: it is what happens",
        fixes="hints",
        areas=frozenset({Area.REGION}),
    )

    def version(self, setting: Setting) -> str:
        """The version of torch."""
        return version_of("torch", setting.python)

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """The break reasons."""
        return [found for one in probing.probe("explain", programs, setting).values() for found in one.findings]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [probing.command("explain", program, setting)]
