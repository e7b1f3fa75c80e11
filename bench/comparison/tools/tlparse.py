"""tlparse: each program runs as it is with TORCH_TRACE, and tlparse makes a report of the log."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from bench.comparison import probing
from bench.comparison.model import Area, Facts, Finding
from bench.comparison.tools.commands import output, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.comparison.model import Setting

#: What the report shows of a compilation, and the code of this comparison for it.
ARTIFACTS = {
    "dynamo_graph_break_reason": "graph-break",
    "recompile_reasons": "recompilation",
    "dynamo_error": "error",
}
PLACE = re.compile(r'([\w.-]+\.py)(?::|\\?", line )(\d+)')


class Tlparse:
    """A report of everything that torch compiled in a run."""

    facts = Facts(
        name="tlparse",
        page="https://github.com/pytorch/tlparse",
        gives="each compilation of a run: graphs, generated code, guards, breaks, recompilations, times of each phase",
        runs_code="yes, for the log; the report needs the log only",
        needs="torch, inputs, what the program needs (a GPU, data)",
        when="after a run, also one on another machine",
        proves="yes: it is what happened",
        fixes="no",
        areas=frozenset({Area.REGION, Area.COST}),
    )

    def version(self, setting: Setting) -> str:
        """The version in the environment of the comparison."""
        return version_of("tlparse", setting.commands / "python")

    def findings(self, programs: Sequence[Path], setting: Setting) -> list[Finding]:
        """What the reports name, program by program."""
        folder = probing.traces(programs, setting)
        found: list[Finding] = []
        for program in programs:
            for log in sorted((folder / program.stem).glob("*.log")):
                report = log.with_suffix(".report")
                output(self._command(log, report, setting))
                found += reported(report, program)
        return found

    def commands(self, program: Path, setting: Setting) -> list[list[str]]:
        """A run that writes a log, and the report."""
        logs = setting.scratch / "timed"
        run = ["env", f"TORCH_TRACE={logs}", *probing.command("trace", program, setting)]
        newest = f'"$(ls -t {logs / program.stem}/*.log | head -n 1)"'
        report = f"{setting.commands / 'tlparse'} {newest} -o {logs}.report --overwrite --no-browser"
        return [run, ["sh", "-c", report]]

    def _command(self, log: Path, report: Path, setting: Setting) -> list[str]:
        return [str(setting.commands / "tlparse"), str(log), "-o", str(report), "--no-browser", "--plain-text"]


def reported(report: Path, program: Path) -> list[Finding]:
    """What a report shows of a program: breaks, recompilations, errors, the time of compilations."""
    found = [
        Finding(program.stem, line, code, path.name)
        for name, code in ARTIFACTS.items()
        for path in sorted(report.glob(f"*/{name}*"))
        for line in innermost(path.read_text(encoding="utf-8"), program)
    ]
    metrics = list(_metrics(report / "raw.jsonl"))
    if any("recompile_limit" in str(one.get("fail_reason")) for one in metrics):
        # Its reason is that of the recompilation that was one too many.
        found += [one._replace(code="recompile-limit") for one in found if one.code == "recompilation"]
    if metrics:
        found.append(Finding(program.stem, None, "compile-time", "times of the phases of each compilation"))
    return sorted(set(found), key=str)


def innermost(text: str, program: Path) -> list[int | None]:
    """The last line of the program that a report names; None where it names none."""
    _, about, user = re.split(r"(from user code:|Original traceback:|$)", text, maxsplit=1)
    own = user if about else text.partition("Traceback (most recent call last)")[0]
    lines = [int(line) for name, line in PLACE.findall(own) if name == program.name]
    return [lines[-1]] if lines else [None]


def _metrics(raw: Path) -> Iterator[dict[str, Any]]:
    for line in raw.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "compilation_metrics" in entry:
            yield entry["compilation_metrics"]
