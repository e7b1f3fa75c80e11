"""NST900 unexplained-divergence.

Compiled and eager code disagree, and no finding explains it; only an experiment can show it.
"""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule
from nonstrict.rules.expectation import Expectation, Experiment, Trait

RULE = Rule(
    code="NST900",
    name="unexplained-divergence",
    severity=Severity.ERROR,
    summary="Compiled and eager code disagree, and no finding explains it; only an experiment can show it.",
    markers=frozenset(),
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.QUESTION),
)
