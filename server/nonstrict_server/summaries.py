"""What is known of a marked function, in words: for hovers and lenses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.report import sightings
from nonstrict.report.verdicts import counts
from nonstrict_server.conversion import verdict_line
from nonstrict_server.regions import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.check.live.results import Mark
    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.confirming import Running
    from nonstrict_server.regions import View

_ORIGINS = {
    "global": "global variable",
    "cell": "variable of an enclosing function",
    "default": "default value",
    "receiver": "attribute",
}


def placed(where: Location) -> str:
    """`layers.py:20`, `notes.ipynb cell 3:20`."""
    cell = f" cell {where.cell}" if where.cell is not None else ""
    return f"{os.path.basename(where.path)}{cell}:{where.row}"


def counted(findings: Sequence[Diagnostic]) -> str:
    """`2 findings`, `1 finding`, `no findings`."""
    number = len(findings)
    return "no findings" if not number else f"{number} finding" + ("s" if number != 1 else "")


def lens_title(findings: Sequence[Diagnostic]) -> str:
    """`2 findings`, `2 findings · 1 confirmed, 1 refuted`."""
    verdicts = ", ".join(f"{count} {status}" for status, count in counts(findings).items())
    return " · ".join(filter(None, (counted(findings), verdicts)))


def region_title(view: View) -> str:
    """`3 graphs · 2 breaks · 1 error`, `1 graph · 1 confirmed`."""
    return " · ".join(filter(None, (*view.figures, state_of(view.reached).text)))


def run_title(view: View) -> str:
    """`last run 2 h ago: 7 graphs · 6 recompilations · 7.1 s compiling`; empty if none was kept."""
    return sightings.last_run(view.ran[1], view.ran[0]) if view.ran is not None else ""


def running_title(running: Running) -> str:
    """`confirming 1/2 (cancel)`."""
    return f"confirming {running.done}/{running.total} (cancel)"


def purity(mark: Mark, findings: Sequence[Diagnostic]) -> str:
    """A page in Markdown: what the function captures, what is found in it, and what experiments said."""
    what = "compiled with" if mark.kind == "compiled" else "marked with"
    lines = [f"**`{mark.function}`**, {what} `{mark.api}`: {counted(findings)}"]
    if not findings:
        lines += ["", "It reads and does nothing that a compile would freeze, lose or refuse, as far as is known."]
        return "\n".join(lines)
    captured = dict.fromkeys(
        f"`{one.subject.text}` ({_ORIGINS[one.subject.origin]})"
        for one in findings
        if one.subject is not None and one.subject.origin in _ORIGINS
    )
    if captured:
        lines += ["", f"Captures: {', '.join(captured)}"]
    lines.append("")
    for one in findings:
        lines.append(f"- `{one.code}` {_where(one, mark)}: {one.message}")
        if one.verdict is not None:
            lines.append(f"  - {verdict_line(one.verdict, one.function)}")
        if one.sighting is not None:
            lines.append(f"  - {sightings.compared(one)}")
    return "\n".join(lines)


def _where(finding: Diagnostic, mark: Mark) -> str:
    place = finding.location
    other = f"{os.path.basename(place.path)}, " if place.path != mark.location.path else ""
    cell = f"cell {place.cell}, " if place.cell is not None else ""
    return f"{other}{cell}line {place.row}"
