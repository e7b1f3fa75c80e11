"""`rdjson`: the diagnostic format of reviewdog.

Schema: https://github.com/reviewdog/reviewdog/blob/master/proto/rdf/jsonschema/DiagnosticResult.jsonschema
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nonstrict.findings import Applicability, Severity
from nonstrict.fixes.applying import CannotApply, replaced, replacements
from nonstrict.report.style import in_cell
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, LocatedFix, Location
    from nonstrict.report.context import Context

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One document."""
    document = {
        "source": {"name": "nonstrict", "url": "https://github.com/nonstrict/nonstrict"},
        "severity": "WARNING",
        "diagnostics": [
            *(_diagnostic(diagnostic, context) for diagnostic in diagnostics),
            *(_unread(path, reason, context) for path, reason in context.unread),
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _diagnostic(diagnostic: Diagnostic, context: Context) -> dict[str, Any]:
    code: dict[str, str] = {"value": diagnostic.code}
    url = context.url(diagnostic.code)
    if url:
        code["url"] = url
    suggestions = [one for fix in diagnostic.fixes if (one := _suggestion(fix, context)) is not None]
    texts = (diagnostic.message, diagnostic.note, told(diagnostic))
    return {
        "message": in_cell(diagnostic.location) + "\n".join(filter(None, texts)),
        "location": _location(diagnostic.location, context),
        "severity": _SEVERITIES[diagnostic.severity],
        "code": code,
        "relatedLocations": [
            {"message": in_cell(related.location) + related.message, "location": _location(related.location, context)}
            for related in diagnostic.related
        ],
        **({"suggestions": suggestions} if suggestions else {}),
    }


def _unread(path: str, reason: str, context: Context) -> dict[str, Any]:
    return {
        "message": f"not checked: {reason}",
        "location": {"path": context.in_repository(path)},
        "severity": _SEVERITIES[Severity.ERROR],
    }


def _suggestion(fix: LocatedFix, context: Context) -> dict[str, Any] | None:
    """A fix as one replacement, since each suggestion is accepted by itself; None if it is not of one file's lines."""
    first, last = fix.edits[0].location, fix.edits[-1].location
    files = {(edit.location.path, edit.location.cell) for edit in fix.edits}
    if fix.applicability is Applicability.DISPLAY or files != {(first.path, None)}:
        return None
    if len(fix.edits) == 1:
        return {"range": _range(first), "text": fix.edits[0].text}
    lines = [context.lines.line(first.path, row) for row in range(1, last.end_row + 1)]
    text = "\n".join(line or "" for line in lines)
    try:
        found = replacements(text, fix.edits)
    except CannotApply:
        return None  # the file is another one by now
    start, end = found[0].start, found[-1].end
    moved = [one._replace(start=one.start - start, end=one.end - start) for one in found]
    return {
        "range": _range(first._replace(end_row=last.end_row, end_column=last.end_column)),
        "text": replaced(text[start:end], moved),
    }


def _location(where: Location, context: Context) -> dict[str, Any]:
    return {"path": context.in_repository(where.path), "range": _range(context.place(where))}


def _range(where: Location) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": where.row, "column": where.column},
        "end": {"line": where.end_row, "column": where.end_column},
    }
