"""`rdjson`: the diagnostic format of reviewdog.

Schema: https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/jsonschema/DiagnosticResult.jsonschema
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nonstrict.findings import Severity
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, Location
    from nonstrict.report.context import Context

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One document."""
    document = {
        "source": {"name": "nonstrict", "url": "https://github.com/nonstrict/nonstrict"},
        "severity": "WARNING",
        "diagnostics": [_diagnostic(diagnostic, context) for diagnostic in diagnostics],
    }
    return json.dumps(document, indent=2) + "\n"


def _diagnostic(diagnostic: Diagnostic, context: Context) -> dict[str, Any]:
    code: dict[str, str] = {"value": diagnostic.code}
    url = context.url(diagnostic.code)
    if url:
        code["url"] = url
    return {
        "message": "\n".join(filter(None, (diagnostic.message, told(diagnostic)))),
        "location": _location(diagnostic.location, context),
        "severity": _SEVERITIES[diagnostic.severity],
        "code": code,
        "relatedLocations": [
            {"message": related.message, "location": _location(related.location, context)}
            for related in diagnostic.related
        ],
    }


def _location(where: Location, context: Context) -> dict[str, Any]:
    return {
        "path": context.relative(where.path),
        "range": {
            "start": {"line": where.row, "column": where.column},
            "end": {"line": where.end_row, "column": where.end_column},
        },
    }
