"""A diagnostic as the JSON object of `json` and `json-lines`: ruff's fields, and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.report.sightings import sighting_record

if TYPE_CHECKING:
    from nonstrict.findings import Diagnostic, LocatedFix, Location, Verdict
    from nonstrict.report.context import Context


def record(diagnostic: Diagnostic, context: Context) -> dict[str, Any]:
    """The object of one diagnostic; rows and columns count from 1, columns in code points."""
    location = diagnostic.location
    fixes = [_fix(fix, context) for fix in diagnostic.fixes]
    return {
        "cell": location.cell,
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.label,
        "filename": context.absolute(location.path),
        "location": {"row": location.row, "column": location.column},
        "end_location": {"row": location.end_row, "column": location.end_column},
        "message": diagnostic.message,
        "note": diagnostic.note or None,
        "help": diagnostic.help or None,
        "url": context.url(diagnostic.code),
        "fix": fixes[0] if fixes else None,
        "fixes": fixes,
        "function": diagnostic.function or None,
        "marker": diagnostic.marker or None,
        "observed": diagnostic.observed,
        "related": [
            {
                "filename": context.absolute(related.location.path),
                "cell": related.location.cell,
                "location": _start(related.location),
                "end_location": {"row": related.location.end_row, "column": related.location.end_column},
                "message": related.message,
            }
            for related in diagnostic.related
        ],
        "verdict": verdict_record(diagnostic.verdict) if diagnostic.verdict is not None else None,
        "sighting": sighting_record(diagnostic.sighting) if diagnostic.sighting is not None else None,
    }


def _fix(fix: LocatedFix, context: Context) -> dict[str, Any]:
    """The object of a fix, with ruff's fields; as it may change several files, each edit names its own."""
    return {
        "applicability": fix.applicability.label,
        "message": fix.title,
        "edits": [
            {
                "filename": context.absolute(edit.location.path),
                "cell": edit.location.cell,
                "content": edit.text,
                "location": _start(edit.location),
                "end_location": {"row": edit.location.end_row, "column": edit.location.end_column},
            }
            for edit in fix.edits
        ],
    }


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """The object of a verdict; what it lacks is null."""
    return {
        "status": verdict.status.value,
        "reason": verdict.reason or None,
        "backends": {
            outcome.backend: {"result": outcome.result, "detail": outcome.detail or None}
            for outcome in verdict.outcomes
        },
        "evidence": verdict.evidence or None,
        "torch": verdict.torch or None,
        "python": verdict.python or None,
        "device": verdict.device or None,
        "seconds": round(verdict.seconds, 3),
        "repro": verdict.repro or None,
        "files": list(verdict.files),
        "driver": verdict.driver or None,
        "source": verdict.source or None,
        "inputs": list(verdict.inputs),
    }


def _start(location: Location) -> dict[str, int]:
    return {"row": location.row, "column": location.column}
