"""`sarif`: SARIF 2.1.0, as GitHub code scanning and other viewers read it.

Standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/; what code scanning asks beyond it:
https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nonstrict import __version__
from nonstrict.findings import Applicability, Severity, Status
from nonstrict.report.fingerprints import fingerprints
from nonstrict.report.records import verdict_record
from nonstrict.report.sightings import sighting_record
from nonstrict.report.style import in_cell
from nonstrict.report.summary import answered_by
from nonstrict.report.verdicts import details, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic, LocatedFix, Location
    from nonstrict.report.context import Context

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/nonstrict/nonstrict"
_BASE = "%SRCROOT%"
_FINGERPRINT = "nonstrictFinding/v1"
#: `result.rank` (3.27.25: priority from 0.0 to 100.0). `result.kind` stays `fail` for every verdict: any other kind
#: demands the level `none` (3.27.10), and such results are not shown.
_RANKS = {Status.CONFIRMED: 100.0, Status.INCONCLUSIVE: 50.0, Status.REFUTED: 10.0}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One log with one run."""
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    index = {code: position for position, code in enumerate(codes)}
    names = {diagnostic.code: diagnostic.name for diagnostic in diagnostics}
    sure = set(codes) - {diagnostic.code for diagnostic in diagnostics if not _confirmed(diagnostic)}
    results = [
        _result(diagnostic, index[diagnostic.code], fingerprint, context)
        for diagnostic, fingerprint in zip(diagnostics, fingerprints(diagnostics, context), strict=True)
    ]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "nonstrict",
                "informationUri": _HOME,
                "semanticVersion": __version__,
                "version": __version__,
                "rules": [_rule(code, names[code], context, sure=code in sure) for code in codes],
            }
        },
        # The part before the slash names the analysis: uploads of other tools do not replace it.
        "automationDetails": {"id": "nonstrict/check"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The directory that the run was started in."}}},
        "invocations": [
            {
                "executionSuccessful": not context.failures,
                "toolExecutionNotifications": [
                    *({"level": "error", "message": {"text": failure}} for failure in context.failures),
                    *(
                        {"level": "note", "message": {"text": text}}
                        for text in answered_by(context.torches).splitlines()
                    ),
                ],
            }
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _confirmed(diagnostic: Diagnostic) -> bool:
    return diagnostic.verdict is not None and diagnostic.verdict.status is Status.CONFIRMED


def _rule(code: str, name: str, context: Context, *, sure: bool) -> dict[str, Any]:
    """The entry of a rule; `sure` if all its results of this run are confirmed: results have no precision."""
    rule = context.rule(code)
    if rule is None:
        return {"id": code, "name": name, "shortDescription": {"text": name}}
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": _level(rule.severity)},
        "properties": {
            "precision": "very-high" if sure else "high",
            "problem.severity": "recommendation" if rule.severity is Severity.NOTE else rule.severity.label,
            "tags": ["correctness", "pytorch", "torch.compile"],
        },
    }


def _result(diagnostic: Diagnostic, index: int, fingerprint: str, context: Context) -> dict[str, Any]:
    lines = [in_cell(diagnostic.location) + diagnostic.message]
    lines += filter(None, (diagnostic.note, diagnostic.help, told(diagnostic)))
    if diagnostic.verdict is not None:
        lines += details(diagnostic.verdict)
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _level(diagnostic.severity),
        "message": {"text": "\n".join(lines)},
        "locations": [_location(diagnostic.location, context)],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.location, context), "message": {"text": related.message}}
            for number, related in enumerate(diagnostic.related, 1)
        ]
    fixes = [_fix(fix, context) for fix in diagnostic.fixes if _is_for_files(fix)]
    if fixes:
        result["fixes"] = fixes
    if diagnostic.links:
        result["codeFlows"] = [_flow(diagnostic, context)]
    properties: dict[str, Any] = {"function": diagnostic.function, "marker": diagnostic.marker}
    properties["observed"] = diagnostic.observed
    if diagnostic.verdict is not None:
        result["rank"] = _RANKS[diagnostic.verdict.status]
        properties["verdict"] = verdict_record(diagnostic.verdict)
    if diagnostic.sighting is not None:
        properties["sighting"] = sighting_record(diagnostic.sighting)
    if any(properties.values()):
        result["properties"] = {key: value for key, value in properties.items() if value}
    return result


def _is_for_files(fix: LocatedFix) -> bool:
    """Whether a viewer can apply a fix: it counts the rows of a notebook in its JSON, and knows no parts to fill in."""
    return fix.applicability > Applicability.DISPLAY and all(edit.location.cell is None for edit in fix.edits)


def _fix(fix: LocatedFix, context: Context) -> dict[str, Any]:
    """A fix; how far it can be trusted is told in a property, for which the standard has no field."""
    paths = dict.fromkeys(edit.location.path for edit in fix.edits)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path, context),
                "replacements": [
                    {"deletedRegion": _region(edit.location), "insertedContent": {"text": edit.text}}
                    for edit in fix.edits
                    if edit.location.path == path
                ],
            }
            for path in paths
        ],
        "properties": {"applicability": fix.applicability.label},
    }


def _flow(diagnostic: Diagnostic, context: Context) -> dict[str, Any]:
    """The way from the marker through the calls to the finding; evidence beside it is in the related locations only."""
    steps = [(related.location, related.message) for related in diagnostic.related[: diagnostic.links]]
    steps.append((diagnostic.location, diagnostic.message))
    locations: list[dict[str, Any]] = [
        {
            "location": {**_location(where, context), "message": {"text": message}},
            # The marker is not a call; each call leads one level down.
            "nestingLevel": max(depth - 1, 0),
            "executionOrder": depth + 1,
        }
        for depth, (where, message) in enumerate(steps)
    ]
    locations[-1]["importance"] = "essential"
    return {"threadFlows": [{"locations": locations}]}


def _location(where: Location, context: Context) -> dict[str, Any]:
    """A physical location; what lies in a cell of a notebook is named logically, with its place there."""
    at = context.place(where)
    region = _region(at)
    if at.end_row == at.row:
        region["endColumn"] = max(at.end_column, at.column + 1)
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(where.path, context), "region": region}
    }
    if where.cell is not None:
        location["logicalLocations"] = [{"name": in_cell(where).rstrip(": "), "kind": "cell"}]
    return location


def _region(where: Location) -> dict[str, int]:
    return {
        "startLine": where.row,
        "startColumn": where.column,
        "endLine": where.end_row,
        "endColumn": where.end_column,
    }


def _artifact(path: str, context: Context) -> dict[str, str]:
    """The URI of a file, relative to the directory of the run if it is below."""
    path = context.in_repository(path)
    if path.startswith("/") or path[1:3] == ":/":
        return {"uri": ("file://" if path.startswith("/") else "file:///") + quote(os.fsencode(path), safe="/:")}
    return {"uri": quote(os.fsencode(path)), "uriBaseId": _BASE}


def _level(severity: Severity) -> str:
    return severity.label
