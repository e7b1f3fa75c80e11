"""`--statistics`: how often each rule was met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.fixes import is_fixable
from nonstrict.report.style import Style
from nonstrict.report.summary import summary
from nonstrict.report.verdicts import counted, counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context
    from nonstrict.report.record_types import StatisticRecord


def render_statistics(diagnostics: Sequence[Diagnostic], context: Context, *, as_json: bool) -> str:
    """A row per rule and severity, the most frequent first; rows count verdicts if there are any at all."""
    groups: dict[tuple[str, str, int], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        groups.setdefault((diagnostic.code, diagnostic.name, int(diagnostic.severity)), []).append(diagnostic)
    labels = {int(diagnostic.severity): diagnostic.severity for diagnostic in diagnostics}
    rows = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    confirmed = bool(counts(diagnostics))
    if as_json:
        import json

        items: list[StatisticRecord] = []
        for (code, name, severity), found in rows:
            fixable = sum(is_fixable(one, context) for one in found)
            label = labels[severity].label
            items.append({"code": code, "name": name, "severity": label, "count": len(found), "fixable": fixable})
            if confirmed:
                items[-1]["verdicts"] = counts(found)
        return json.dumps(items, indent=2) + "\n"
    style = Style(context.color)
    width = max((len(str(len(found))) for _, found in rows), default=0)
    marks = [_mark(found, context) for _, found in rows]
    lines: list[str] = []
    for ((code, name, severity), found), mark in zip(rows, marks, strict=True):
        word = style.severity(labels[severity], f"{code}  {labels[severity].label:<7}")
        fixable = f"{mark:<4}" if any(marks) else ""
        verdicts = f"  {counted(found)}" if counts(found) else ""
        lines.append(f"{len(found):>{width}}  {word}  {fixable}{name}{verdicts}")
    return "".join(f"{line}\n" for line in lines) + summary(diagnostics, context)


def _mark(found: Sequence[Diagnostic], context: Context) -> str:
    """Whether `--fix` mends all findings of a row, or some."""
    fixable = sum(is_fixable(diagnostic, context) for diagnostic in found)
    return "" if not fixable else "[*]" if fixable == len(found) else "[-]"
