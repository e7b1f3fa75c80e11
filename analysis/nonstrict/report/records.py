"""Diagnostics as the JSON objects of `json` and `json-lines`: ruff's fields, and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.fingerprints import fingerprints
from nonstrict.report.sightings import sighting_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, LocatedFix, Location, Verdict
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import FindingRecord, FixRecord, PlaceRecord, PositionRecord, VerdictRecord


def records(diagnostics: Sequence[Diagnostic], context: Context) -> list[FindingRecord]:
    """The objects of the diagnostics of a run; rows and columns count from 1, columns in code points."""
    identities = fingerprints(diagnostics, context)
    return [_record(one, identity, context) for one, identity in zip(diagnostics, identities, strict=True)]


def _record(diagnostic: Diagnostic, fingerprint: str, context: Context) -> FindingRecord:
    location = diagnostic.location
    fixes = [_fix(fix, context) for fix in diagnostic.fixes]
    return {
        "cell": location.cell,
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.label,
        "filename": context.absolute(location.path),
        "location": _start(location),
        "end_location": _end(location),
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
            {**place_record(related.location, context), "message": related.message} for related in diagnostic.related
        ],
        "links": diagnostic.links,
        "fingerprint": fingerprint,
        "verdict": verdict_record(diagnostic.verdict) if diagnostic.verdict is not None else None,
        "sighting": sighting_record(diagnostic.sighting) if diagnostic.sighting is not None else None,
    }


def _fix(fix: LocatedFix, context: Context) -> FixRecord:
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
                "end_location": _end(edit.location),
            }
            for edit in fix.edits
        ],
    }


def verdict_record(verdict: Verdict) -> VerdictRecord:
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


def place_record(location: Location, context: Context) -> PlaceRecord:
    """The object of a range in a file."""
    return {
        "filename": context.absolute(location.path),
        "cell": location.cell,
        "location": _start(location),
        "end_location": _end(location),
    }


def _start(location: Location) -> PositionRecord:
    return {"row": location.row, "column": location.column}


def _end(location: Location) -> PositionRecord:
    return {"row": location.end_row, "column": location.end_column}
