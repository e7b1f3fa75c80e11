"""What runs compiled, kept with the project: one file for each run, in `.nonstrict/runs`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from nonstrict.confirm.measuring import as_json, from_json
from nonstrict.confirm.runs.places import Anchor
from nonstrict.findings import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nonstrict.confirm.runs.compilations import Observed
    from nonstrict.confirm.runs.places import Project
    from nonstrict.findings import Measured

#: Where runs are kept, from the root of the project.
DIRECTORY = os.path.join(".nonstrict", "runs")
_FORMAT = 1
#: How many runs are kept, the latest ones.
_MOST = 16
#: How long a function that was edited since it ran is spoken of, in seconds.
_STALE_FOR = 7 * 24 * 3600.0


class Run(NamedTuple):
    """A run as it is kept: its end, in seconds since 1970, what it compiled, and what its lines can be found by."""

    when: float
    regions: tuple[Measured, ...]
    anchors: Mapping[tuple[str, int], Anchor]


class Ran(NamedTuple):
    """A function that a run compiled, with lines as they are now; `stale` are those around which code was edited.

    `when` is the end of the run, in seconds since 1970.
    """

    when: float
    region: Measured
    stale: frozenset[tuple[str, int]]


def keep(found: Observed, project: Project, when: float, directory: str | None = None) -> str:
    """Keep what a run compiled; the path of its file. The oldest ones of too many are removed.

    Raises:
        OSError: it cannot be written.
    """
    place = directory or os.path.join(project.root, DIRECTORY)
    os.makedirs(place, exist_ok=True)
    document = {
        "format": _FORMAT,
        "when": when,
        "torch": found.torch,
        "ranks": found.ranks,
        "regions": as_json(_relative(one, project.root) for one in found.regions),
        "anchors": _anchors(found.regions, project),
    }
    target = os.path.join(place, f"{when:017.6f}.json")
    temporary = f"{target}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    os.replace(temporary, target)
    for name in _names(place)[_MOST:]:
        os.unlink(os.path.join(place, name))
    return target


def ran(project: Project, now: float, directory: str | None = None) -> tuple[Ran, ...]:
    """What runs compiled of a project as its code is now: `placed`, of those that are kept."""
    return placed(kept(directory or os.path.join(project.root, DIRECTORY)), project, now)


def kept(place: str) -> tuple[Run, ...]:
    """The runs that are kept in a folder, the latest first."""
    runs = (_read(os.path.join(place, name)) for name in _names(place))
    return tuple(one for one in runs if one is not None)


def placed(runs: Iterable[Run], project: Project, now: float) -> tuple[Ran, ...]:
    """What runs, the latest first, compiled of a project as its code is now: of each function what its latest run says.

    What stood on lines that are gone is left out, and, after a week, what was edited.
    """
    known: dict[tuple[str, str], Ran] = {}
    for run in runs:
        for region in run.regions:
            key = region.path, region.function
            newer = known.get(key)
            one = _moved(run, region, project) if newer is None or newer.when == run.when else None
            if one is not None and not (one.stale and now - one.when > _STALE_FOR):
                known[key] = one if newer is None else _with(newer, one)
    return tuple(known.values())


def _with(one: Ran, other: Ran) -> Ran:
    """Functions of one name in a file (cells, branches) are told together."""
    first, second = one.region, other.region
    both = first._replace(
        breaks=(*first.breaks, *second.breaks),
        fallbacks=(*first.fallbacks, *second.fallbacks),
        again=(*first.again, *second.again),
        seconds=first.seconds + second.seconds,
    )
    return one._replace(region=both, stale=one.stale | other.stale)


def _names(place: str) -> list[str]:
    """The files of runs, the latest first."""
    try:
        return sorted((name for name in os.listdir(place) if name.endswith(".json")), reverse=True)
    except OSError:
        return []


def _read(path: str) -> Run | None:
    """What a run says; None of a file that this version cannot read."""
    try:
        with open(path, encoding="utf-8") as file:
            document: Any = json.load(file)
        if document["format"] != _FORMAT:
            return None
        regions = from_json(document["regions"])
        return Run(float(document["when"]), tuple(regions), _anchored(document["anchors"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _moved(run: Run, region: Measured, project: Project) -> Ran | None:
    """What a run says of a function, as far as its code is still there."""
    places = _Places(project, run.anchors)
    now = places.moved(region)
    return Ran(run.when, now, frozenset(places.stale)) if now is not None else None


class _Places:
    """Finds the lines of a run in the code as it is now."""

    def __init__(self, project: Project, anchors: Mapping[tuple[str, int], Anchor]) -> None:
        self._project = project
        self._anchors = anchors
        self.stale: set[tuple[str, int]] = set()

    def moved(self, region: Measured) -> Measured | None:
        """A region at its lines; None if it is gone."""
        own = self._now(Line(region.path, region.line))
        if own is None:
            return None
        breaks = [one._replace(lines=lines) for one in region.breaks if (lines := self._all(one.lines))]
        again = [one._replace(lines=lines) for one in region.again if (lines := self._all(one.lines))]
        fallbacks = [
            left._replace(
                path=at.path, line=at.line, last=at.line + left.last - left.line, at=self._at(left.path, left.at)
            )
            for left in region.fallbacks
            if (at := self._now(Line(left.path, left.line))) is not None
        ]
        return region._replace(
            path=own.path, line=own.line, breaks=tuple(breaks), again=tuple(again), fallbacks=tuple(fallbacks)
        )

    def _all(self, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        """The lines that lead to a place; none if the place itself is gone."""
        found = [self._now(line) for line in lines]
        return tuple(one for one in found if one is not None) if found and found[-1] is not None else ()

    def _at(self, path: str, line: int) -> int:
        found = self._now(Line(path, line)) if line else None
        return found.line if found is not None else 0

    def _now(self, line: Line) -> Line | None:
        path = os.path.join(self._project.root, *line.path.split("/"))
        anchor, code = self._anchors.get((line.path, line.line)), self._project.code(path)
        if anchor is None or code is None:
            return None
        number, stale = code.found(anchor, line.line)
        if not number:
            return None
        if stale:
            self.stale.add((path, number))
        return line._replace(path=path, line=number)


def _anchors(regions: Iterable[Measured], project: Project) -> dict[str, dict[str, list[Any]]]:
    """What each line that is named can be found by, by file and line."""
    found: dict[str, dict[str, list[Any]]] = {}
    for path, line in sorted({place for one in regions for place in _named(one)}):
        code = project.code(path)
        if code is not None:
            found.setdefault(_below(path, project.root), {})[str(line)] = list(code.anchor(line))
    return found


def _anchored(document: Any) -> dict[tuple[str, int], Anchor]:
    files = cast("dict[str, dict[str, list[Any]]]", document)
    return {
        (path, int(line)): Anchor(str(function), str(source), int(row), str(text))
        for path, lines in files.items()
        for line, (function, source, row, text) in lines.items()
    }


def _named(region: Measured) -> Iterator[tuple[str, int]]:
    yield region.path, region.line
    yield from (line[:2] for one in (*region.breaks, *region.again) for line in one.lines)
    for left in region.fallbacks:
        yield left.path, left.line
        if left.at:
            yield left.path, left.at


def _relative(region: Measured, root: str) -> Measured:
    """The region with paths from the root."""

    def moved(lines: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(line._replace(path=_below(line.path, root)) for line in lines)

    return region._replace(
        path=_below(region.path, root),
        breaks=tuple(one._replace(lines=moved(one.lines)) for one in region.breaks),
        again=tuple(one._replace(lines=moved(one.lines)) for one in region.again),
        fallbacks=tuple(one._replace(path=_below(one.path, root)) for one in region.fallbacks),
    )


def _below(path: str, root: str) -> str:
    """The path of a file from the root, with `/`."""
    return os.path.relpath(path, root).replace(os.sep, "/")
