"""`gitlab`: a Code Quality report.

Format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.fingerprints import fingerprints
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One array."""
    issues = [
        {
            "check_name": diagnostic.name,
            "description": _description(diagnostic),
            "severity": _SEVERITIES[diagnostic.severity],
            "fingerprint": fingerprint,
            "location": {
                "path": context.relative(diagnostic.location.path),
                "positions": {
                    "begin": {"line": diagnostic.location.row, "column": diagnostic.location.column},
                    "end": {"line": diagnostic.location.end_row, "column": diagnostic.location.end_column},
                },
            },
        }
        for diagnostic, fingerprint in zip(diagnostics, fingerprints(diagnostics, context), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _description(diagnostic: Diagnostic) -> str:
    """The message and the verdict: the format has no field for it."""
    text = f"{diagnostic.code}: {diagnostic.message}"
    return f"{text}; {told(diagnostic)}" if diagnostic.verdict is not None else text
