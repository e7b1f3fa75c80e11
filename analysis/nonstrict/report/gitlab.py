"""`gitlab`: a Code Quality report.

Format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nonstrict.findings import Severity
from nonstrict.report.fingerprints import digest, fingerprints
from nonstrict.report.style import in_cell
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, Location
    from nonstrict.report.context import Context

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One array."""
    issues = [
        {
            "check_name": diagnostic.name,
            "description": _description(diagnostic, context),
            "severity": _SEVERITIES[diagnostic.severity],
            "fingerprint": fingerprint,
            "location": _location(context.place(diagnostic.location), context),
        }
        for diagnostic, fingerprint in zip(diagnostics, fingerprints(diagnostics, context), strict=True)
    ]
    issues += [_unread(path, reason, context) for path, reason in context.unread]
    return json.dumps(issues, indent=2) + "\n"


def _unread(path: str, reason: str, context: Context) -> dict[str, Any]:
    """What could not be read, as an issue of a rule that the catalogue does not have: the format knows nothing else."""
    path = context.in_repository(path)
    return {
        "check_name": "unreadable-file",
        "description": f"not checked: {reason}",
        "severity": "blocker",
        "fingerprint": digest(("unreadable-file", path)),
        "location": {"path": path, "lines": {"begin": 1}},
    }


def _location(where: Location, context: Context) -> dict[str, Any]:
    return {
        "path": context.in_repository(where.path),
        "positions": {
            "begin": {"line": where.row, "column": where.column},
            "end": {"line": where.end_row, "column": where.end_column},
        },
    }


def _description(diagnostic: Diagnostic, context: Context) -> str:
    """The message, what shows it in other files and the verdict: the format has no fields for them."""
    text = f"{diagnostic.code}: {in_cell(diagnostic.location)}{diagnostic.message}"
    return "; ".join(filter(None, (text, context.elsewhere(diagnostic), told(diagnostic))))
