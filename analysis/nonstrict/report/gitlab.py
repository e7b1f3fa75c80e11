"""`gitlab`: a Code Quality report.

Format: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.fingerprints import fingerprints

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
            "description": f"{diagnostic.code}: {diagnostic.message}",
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
