"""What a tool makes of the hazard of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.comparison.model import Area, Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.comparison.model import Finding, Program

BREAK = "graph-break"
#: Reported of a region that became one graph: what breaks it otherwise does not do so under this tool.
ONE_GRAPH = "one-graph"


def judged(program: Program, findings: Sequence[Finding], areas: frozenset[Area]) -> tuple[Mark, list[str]]:
    """The best that the findings about a program come to, and the codes that do so."""
    naming = [found for found in findings if found.code in program.named]
    steps = (
        (Mark.LINE, [found for found in naming if found.line in program.lines]),
        (Mark.ELSEWHERE, naming),
        (Mark.OTHER, [found for found in findings if found.code in program.near and found.line in program.lines]),
    )
    for mark, fitting in steps:
        if fitting:
            return mark, sorted({found.code for found in fitting})
    if BREAK in program.named and any(found.code == ONE_GRAPH for found in findings):
        return Mark.ABSENT, []
    return (Mark.MISSED if program.area in areas else Mark.OUTSIDE), []


#: Kinds of hazards that are false alarms in code that has none; what the others report is a matter of taste too.
CERTAIN = frozenset({Area.MEANING, Area.REGION, Area.USE, Area.SECURITY})


def hazard_codes(programs: Iterable[Program]) -> frozenset[str]:
    """The codes that name a hazard of a certain kind: a report of one about a clean program is a false alarm."""
    return frozenset(code for program in programs if program.area in CERTAIN for code in program.named)


def touching_codes(programs: Iterable[Program]) -> frozenset[str]:
    """The codes that point at the line of such a hazard for another reason."""
    return frozenset(code for program in programs if program.area in CERTAIN for code in program.near)


def alarms(program: Program, findings: Iterable[Finding], codes: frozenset[str]) -> list[str]:
    """Codes of hazards that are reported about a program that has none."""
    return sorted({found.code for found in findings if found.program == program.name and found.code in codes})
