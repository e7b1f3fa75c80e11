"""`nonstrict confirm` for programs: findings, regions as experiments saw them, and functions that could not be run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.findings import Status
from nonstrict.report.compiled import record_of
from nonstrict.report.records import verdict_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.compiled import RegionReport
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import ConfirmedRecord, FindingRecord, NotRunRecord


def with_regions(
    findings: str, regions: Sequence[RegionReport], answers: Iterable[Diagnostic], context: Context
) -> str:
    """Findings, which are JSON, with the rest."""
    return f"{json.dumps(confirmed_record(json.loads(findings), regions, answers, context), indent=2)}\n"


def confirmed_record(
    findings: list[FindingRecord], regions: Sequence[RegionReport], answers: Iterable[Diagnostic], context: Context
) -> ConfirmedRecord:
    """The object of what experiments said of a file."""
    not_run: list[NotRunRecord] = [
        {"function": one.function, "verdict": verdict_record(one.verdict)}
        for one in answers
        if one.verdict is not None and one.verdict.status is Status.INCONCLUSIVE
    ]
    return {"findings": findings, "regions": [record_of(one, context) for one in regions], "not_run": not_run}
