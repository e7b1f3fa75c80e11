"""`--statistics`: how often each rule was met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.style import Style
from nonstrict.report.summary import summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render_statistics(diagnostics: Sequence[Diagnostic], context: Context, *, as_json: bool) -> str:
    """A row per rule and severity, the most frequent first."""
    groups: dict[tuple[str, str, int], int] = {}
    for diagnostic in diagnostics:
        key = (diagnostic.code, diagnostic.name, int(diagnostic.severity))
        groups[key] = groups.get(key, 0) + 1
    labels = {int(diagnostic.severity): diagnostic.severity for diagnostic in diagnostics}
    rows = sorted(groups.items(), key=lambda item: (-item[1], item[0]))
    if as_json:
        import json

        items = [
            {"code": code, "name": name, "severity": labels[severity].label, "count": count}
            for (code, name, severity), count in rows
        ]
        return json.dumps(items, indent=2) + "\n"
    style = Style(context.color)
    width = max((len(str(count)) for _, count in rows), default=0)
    lines = [
        f"{count:>{width}}  {style.severity(labels[severity], f'{code}  {labels[severity].label:<7}')}  {name}"
        for (code, name, severity), count in rows
    ]
    return "".join(f"{line}\n" for line in lines) + summary(diagnostics, context)
