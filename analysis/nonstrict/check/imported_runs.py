"""What runs compiled, by the logs that torch wrote: kept with the project, and told in a line."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.runs.compilations import observed
from nonstrict.confirm.runs.logs import read_logs
from nonstrict.confirm.runs.store import keep
from nonstrict.report.summary import plural

if TYPE_CHECKING:
    from nonstrict.confirm.runs.compilations import Observed
    from nonstrict.confirm.runs.places import Project


class Imported(NamedTuple):
    """What was kept of the logs of a run: how many there were, and how many of their lines could not be read."""

    observed: Observed
    logs: int
    damaged: int


def kept(place: str, project: Project, since: float = 0.0) -> Imported:
    """Keep what the logs at a place say of a project, if they say anything of it; `since`: see `read_logs`.

    Raises:
        NoLogsError: there are none.
        OSError: they cannot be read, or what they say cannot be written.
    """
    logs = list(read_logs(place, since))
    found = observed(logs, project)
    if found.regions:
        keep(found, project, found.when or time.time())
    return Imported(found, len(logs), sum(log.damaged for log in logs))


def complaints(imported: Imported, project: Project) -> list[str]:
    """What of the logs is not told, and why."""
    told: list[str] = []
    if imported.damaged:
        one = imported.damaged == 1
        what = (
            "1 line of the logs is damaged and was"
            if one
            else f"{imported.damaged:,} lines of the logs are damaged and were"
        )
        told.append(f"{what} passed over.")
    unlike = sorted(imported.observed.unlike)
    if unlike:
        path, line = unlike[0]
        where = f"{os.path.relpath(path, project.root)}:{line}"
        more = f" and {len(unlike) - 1} more" if len(unlike) > 1 else ""
        told.append(f"Other code ran than is here now, and what it did is left out: {where}{more}.")
    return told


def summary(imported: Imported) -> str:
    """What was kept: `Kept 2 compiled functions, 1 break, 1 recompilation`."""
    regions = imported.observed.regions
    counts = (
        plural(len(regions), "compiled function"),
        plural(sum(len(one.breaks) for one in regions), "break"),
        plural(sum(again.times for one in regions for again in one.again), "recompilation"),
    )
    ranks = f" of {plural(imported.observed.ranks, 'rank')}" if imported.observed.ranks > 1 else ""
    return f"Kept {', '.join(counts)}{ranks}"
