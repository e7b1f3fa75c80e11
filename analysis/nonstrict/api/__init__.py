"""The analysis for programs: `check`, `audit`, `regions`, `confirm` and `explain`, with results as frozen data.

    from nonstrict import api

    result = api.check(["src"])
    for finding in result.findings:
        print(finding.filename, finding.location.row, finding.code, finding.message)

What is named here is stable: see docs/api.md. Everything else in `nonstrict` is not, and may change in any release.
"""

from __future__ import annotations

from nonstrict.api.calls import ConfigurationError, TargetError, audit, check, confirm, explain, regions
from nonstrict.api.results import (
    AuditResult,
    Break,
    CheckResult,
    ConfirmResult,
    Edit,
    ExplainMessage,
    ExplainPage,
    ExplainPlace,
    ExplainResult,
    FallBack,
    Finding,
    Fix,
    Graph,
    Graphs,
    Line,
    MeasuredRegion,
    NotRun,
    NotSeen,
    Obstacle,
    Outcome,
    Part,
    Place,
    Position,
    Predicted,
    Recompilation,
    Region,
    RegionsResult,
    Related,
    Run,
    RunBreak,
    RunFallBack,
    SeenBreak,
    Sighting,
    Start,
    Unseen,
    Verdict,
)
from nonstrict.findings import Applicability, Severity, Status

__all__ = [
    "Applicability",
    "AuditResult",
    "Break",
    "CheckResult",
    "ConfigurationError",
    "ConfirmResult",
    "Edit",
    "ExplainMessage",
    "ExplainPage",
    "ExplainPlace",
    "ExplainResult",
    "FallBack",
    "Finding",
    "Fix",
    "Graph",
    "Graphs",
    "Line",
    "MeasuredRegion",
    "NotRun",
    "NotSeen",
    "Obstacle",
    "Outcome",
    "Part",
    "Place",
    "Position",
    "Predicted",
    "Recompilation",
    "Region",
    "RegionsResult",
    "Related",
    "Run",
    "RunBreak",
    "RunFallBack",
    "SeenBreak",
    "Severity",
    "Sighting",
    "Start",
    "Status",
    "TargetError",
    "Unseen",
    "Verdict",
    "audit",
    "check",
    "confirm",
    "explain",
    "regions",
]
