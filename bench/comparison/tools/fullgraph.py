"""torch itself: each program runs with `fullgraph=True`, and once without compiling, for torch's own warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.comparison import probing
from bench.comparison.judging import ONE_GRAPH
from bench.comparison.model import Area, Facts, Finding
from bench.comparison.tools.commands import version_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.comparison.model import Setting


class Fullgraph:
    """The compiler's own errors and warnings."""

    facts = Facts(
        name="torch, `fullgraph=True`",
        page="https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
        gives="an error at the first graph break, and torch's warnings",
        runs_code="yes",
        needs="torch, inputs, what the program needs (a GPU, data)",
        when="in a run",
        proves="yes: it is what happens",
        fixes="hints",
        areas=frozenset({Area.REGION, Area.API}),
    )

    def version(self, setting: Setting) -> str:
        """The version of torch."""
        return version_of("torch", setting.python)

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """Errors of the compiled run, warnings of the eager one."""
        compiled, eager = (probing.probe(mode, programs, setting) for mode in ("fullgraph", "eager"))
        whole = [
            Finding(name, None, ONE_GRAPH, "compiles as one graph")
            for name, one in compiled.items()
            if one.graphs and not one.error
        ]
        told = [found for outcome in (*compiled.values(), *eager.values()) for found in outcome.findings]
        return [*whole, *told]

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """One run."""
        return [probing.command("fullgraph", program, setting)]
