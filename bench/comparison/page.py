"""Writes docs/comparison.md: the prose of `template.md` with the tables that the results fill."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from bench.comparison import cases
from bench.comparison.judging import alarms, hazard_codes, judged
from bench.comparison.model import Area, Mark
from bench.comparison.tools import TOOLS
from bench.comparison.truth import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.comparison.model import Finding, Program
    from bench.comparison.results import Results

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "comparison.md"
TEMPLATE = Path(__file__).with_name("template.md")
SLOT = re.compile(r"\{\{(\w+)(?: (\w+))?\}\}")
#: Codes that one run-time tool shares with others, and that say no more than the column's head.
SPOKEN = re.compile(r"[A-Z]+\d+|house-.*|.*pytorch.*")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])


def rendered(results: Results, programs: Sequence[Program]) -> str:
    """The page."""
    slots: dict[str, Callable[[str], str]] = {
        "area": lambda name: by_area(results, [program for program in programs if program.area is Area(name)]),
        "summary": lambda _: summary(results, programs),
        "clean": lambda _: clean(results, programs),
        "needs": lambda _: needs(),
        "versions": lambda _: versions(results),
        "times": lambda _: times(results),
        "timed": lambda _: results.timed,
        "cases": lambda _: labelled(results),
        "outcomes": lambda _: outcomes(),
    }
    return SLOT.sub(lambda match: slots[match[1]](match[2] or ""), TEMPLATE.read_text(encoding="utf-8"))


def name_of(tool: str) -> str:
    """The name of a tool, with a link to its page."""
    facts = TOOLS[tool].facts
    page = f"../{facts.page}" if facts.page == "README.md" else facts.page
    return f"[{facts.name}]({page})"


def about(program: Program, findings: Iterable[Finding]) -> list[Finding]:
    """The findings about a program."""
    return [found for found in findings if found.program == program.name]


def cell(tool: str, program: Program, results: Results) -> str:
    """What a tool makes of a program, in a word."""
    mark, codes = judged(program, about(program, results.findings[tool]), TOOLS[tool].facts.areas)
    spoken = " ".join(f"`{code}`" for code in codes if SPOKEN.fullmatch(code))
    if mark is Mark.LINE:
        verdicts = results.verdicts.get(program.name, ()) if tool == "nonstrict" else ()
        confirmed = any(f"{code} confirmed" in verdicts for code in codes)
        return f"**line** {spoken}".strip() + (", confirmed" if confirmed else "")
    if mark is Mark.ELSEWHERE:
        return f"general {spoken}".strip()
    if mark is Mark.OTHER:
        return f"line, as {' '.join(codes)}"
    return {Mark.ABSENT: "no break", Mark.MISSED: "no", Mark.OUTSIDE: ""}[mark]


def measured(truth: str) -> str:
    """What running a program shows, without what is as one expects."""
    expected = {"eager runs", *(f"{backend} same" for backend in BACKENDS)}
    return "; ".join(part for part in truth.split("; ") if part not in expected) or "runs"


def by_area(results: Results, programs: Sequence[Program]) -> str:
    """The programs of an area against the tools."""
    rows = [
        [
            f"[{program.title.rstrip('.')}](../bench/comparison/programs/{program.path.name})",
            measured(results.truths[program.name]),
            *(cell(tool, program, results) for tool in TOOLS),
        ]
        for program in programs
    ]
    return table(["program", "measured", *(TOOLS[tool].facts.name for tool in TOOLS)], rows)


def summary(results: Results, programs: Sequence[Program]) -> str:
    """How many hazards of each area each tool reports at their line, and how many in general."""
    areas = [area for area in Area if area is not Area.CLEAN]
    rows: list[list[str]] = []
    for tool in TOOLS:
        row = [name_of(tool)]
        for area in areas:
            own = [program for program in programs if program.area is area]
            marks = [judged(one, about(one, results.findings[tool]), frozenset())[0] for one in own]
            general = marks.count(Mark.ELSEWHERE)
            row.append(f"{marks.count(Mark.LINE)} of {len(own)}" + (f", {general} in general" if general else ""))
        rows.append(row)
    return table(["tool", *(area.value for area in areas)], rows)


def clean(results: Results, programs: Sequence[Program]) -> str:
    """The programs without a hazard, and the hazards that tools report of them."""
    codes = hazard_codes(programs)
    rows = [
        [
            f"[{program.title.rstrip('.')}](../bench/comparison/programs/{program.path.name})",
            *(", ".join(alarms(program, results.findings[tool], codes)) or "nothing" for tool in TOOLS),
        ]
        for program in programs
        if program.area is Area.CLEAN
    ]
    return table(["program", *(TOOLS[tool].facts.name for tool in TOOLS)], rows)


def needs() -> str:
    """What each tool gives and needs."""
    header = ["tool", "gives", "runs your code", "needs", "when", "proves", "fixes"]
    facts = [(tool, TOOLS[tool].facts) for tool in TOOLS]
    rows = [[name_of(tool), f.gives, f.runs_code, f.needs, f.when, f.proves, f.fixes] for tool, f in facts]
    return table(header, rows)


def versions(results: Results) -> str:
    """The versions of the tools, in a sentence's form."""
    told = {TOOLS[tool].facts.name.partition(",")[0]: version for tool, version in results.versions.items()}
    told.pop("`torch._dynamo.explain`", None)
    rules = f", with the Python rules of {results.rules}" if results.rules else ""
    return ", ".join(f"{name} {version}" for name, version in told.items()) + rules


def times(results: Results) -> str:
    """How long each tool takes with one program."""
    rows = [[name_of(tool), f"{results.times[tool]:.2f}x"] for tool in TOOLS if results.times.get(tool)]
    return table(["tool", "time, against an eager run of the program"], rows)


def labelled(results: Results) -> str:
    """What the tools that read the source report of the labelled cases."""
    lines = cases.labelled()
    total, without = sum(map(len, lines.values())), sum(not rows for rows in lines.values())
    rows = [
        [name_of(tool), f"{results.cases[tool][0]} of {total}", f"{results.cases[tool][1]} of {without}"]
        for tool in TOOLS
        if tool in results.cases
    ]
    return table(["tool", "labeled lines reported", "files without a hazard in which one is reported"], rows)


def outcomes() -> str:
    """What a compile makes of the labelled cases, in words."""
    said = {"error": "refuses", "silent-wrong": "compiles to other results without a message", "same": "gets right"}
    said["effect-lost"] = "runs without their side effects"
    counts = cases.outcomes()
    return ", ".join(f"{said[outcome]} {counts[outcome]}" for outcome in said)
