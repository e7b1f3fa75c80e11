"""What real runs made of a finding, in words."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonstrict.findings import Diagnostic, Sighting

_UNITS = ((24 * 3600, "d"), (3600, "h"), (60, "min"))


def tag(sighting: Sighting) -> str:
    """The sighting in a few words: `observed`, `not observed`."""
    word = "not observed" if sighting.passed else "observed"
    return f"{word} before an edit" if sighting.stale else word


def sentence(diagnostic: Diagnostic, now: float | None = None) -> str:
    """The sighting of a diagnostic in one line; empty if it has none."""
    sighting = diagnostic.sighting
    if sighting is None:
        return ""
    ago = _ago(sighting.when, time.time() if now is None else now)
    if sighting.passed:
        return f"not observed: a run {ago} compiled `{diagnostic.function}`, and torch did not do this"
    counts = [_counted(sighting.recompilations)] if sighting.recompilations else []
    counts += [f"{sighting.seconds:.{0 if sighting.seconds >= 10 else 1}f} s"] if sighting.recompilations else []
    head = ", ".join((f"observed {ago}", *counts))
    before = ", before the code was edited" if sighting.stale else ""
    if diagnostic.observed:
        return f"{head}{before}"  # it is itself what torch told
    after = "; torch left the function to plain Python" if sighting.gives_up else ""
    return f"{head}{before}: {sighting.reason}{after}"


def sighting_record(sighting: Sighting) -> dict[str, Any]:
    """The sighting as a JSON object."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(sighting.when))
    return {
        "when": when,
        "happened": not sighting.passed,
        "recompilations": sighting.recompilations,
        "seconds": round(sighting.seconds, 3),
        "gave_up": sighting.gives_up,
        "reason": sighting.reason or None,
        "stale": sighting.stale,
    }


def _counted(number: int) -> str:
    return "1 recompilation" if number == 1 else f"{number:,} recompilations"


def _ago(when: float, now: float) -> str:
    passed = max(0.0, now - when)
    for seconds, unit in _UNITS:
        if passed >= seconds:
            return f"{int(passed // seconds)} {unit} ago"
    return "just now"
