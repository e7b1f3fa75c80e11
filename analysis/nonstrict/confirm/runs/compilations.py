"""What a run compiled, function by function: of the entries of its logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.runs.told import Frame, break_told, guard_told, kinds_in, resumed_from
from nonstrict.findings import Break, FallBack, Line, Measured, Recompiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.confirm.runs.logs import Entry, Log
    from nonstrict.confirm.runs.places import Project
    from nonstrict.confirm.runs.told import BreakTold, GuardTold

#: What torch refuses to trace, among the names of exceptions by which a compilation failed.
_REFUSED = "Unsupported"


class _Compilation:
    """One compilation of a function, as far as the log tells."""

    def __init__(self, name: str, frame: Frame, outer: tuple[Frame, ...]) -> None:
        self.name = name
        self.frame = frame
        self.outer = outer
        self.breaks: list[BreakTold] = []
        self.metrics: dict[str, Any] = {}


class Region(NamedTuple):
    """The function that is compiled: a function of the project, or the line of it that calls a library's."""

    function: str
    path: str
    line: int
    calls: tuple[Line, ...]
    is_own: bool


class Observed(NamedTuple):
    """What the processes of a run compiled; when the last compilation ended (0: unknown), and the version of torch."""

    regions: tuple[Measured, ...]
    when: float
    torch: str
    ranks: int
    unlike: frozenset[tuple[str, int]]


def observed(logs: Iterable[Log], project: Project) -> Observed:
    """What a run compiled of a project.

    Ranks of one job compile the same: of what they agree on, the one that had to do it most often counts.
    """
    by_rank: dict[int, list[Measured]] = {}
    when, torch = 0.0, ""
    unlike: set[tuple[str, int]] = set()
    for log in logs:
        found, last, version = _of_process(log, project, unlike)
        when, torch = max(when, last), version or torch
        by_rank[log.rank] = joined([*by_rank.get(log.rank, ()), *found], sum)
    regions = joined([one for found in by_rank.values() for one in found], max)
    return Observed(tuple(regions), when, torch, len([rank for rank in by_rank if rank >= 0]), frozenset(unlike))


def _of_process(log: Log, project: Project, unlike: set[tuple[str, int]]) -> tuple[list[Measured], float, str]:
    import json

    torch = ""
    compilations: dict[tuple[str, str, str], _Compilation] = {}
    functions: dict[str, _Compilation] = {}
    for entry in log.entries:
        if entry.name == "torch_version":
            try:
                torch = str(json.loads(entry.payload)["pytorch_version"])
            except (ValueError, KeyError, TypeError):
                continue
        elif entry.name == "dynamo_start":
            if (one := _started(entry)) is not None:
                functions.setdefault(entry.key[1], one)
                compilations.setdefault(entry.key, one)
        elif (one := compilations.get(entry.key)) is not None:
            _add(one, entry)
        elif entry.name == "compilation_metrics" and entry.key[1] in functions:
            # What is over the limit is not begun.
            first = functions[entry.key[1]]
            compilations[entry.key] = one = _Compilation(first.name, first.frame, first.outer)
            _add(one, entry)
    made = list(compilations.values())
    when = max((_ended(one.metrics) for one in made), default=0.0)
    found = [_measured(one, project, functions.values(), unlike) for one in made]
    return joined([one for one in found if one is not None], sum), when, torch


def _ended(metrics: dict[str, Any]) -> float:
    return float(metrics.get("start_time") or 0.0) + float(metrics.get("entire_frame_compile_time_s") or 0.0)


def _started(entry: Entry) -> _Compilation | None:
    stack = entry.fields["dynamo_start"].get("stack") or ()
    frames = [Frame(str(f.get("filename", "")), int(f.get("line", 0)), str(f.get("name", ""))) for f in stack]
    return _Compilation(frames[-1].name, frames[-1], tuple(frames[:-1])) if frames else None


def _add(one: _Compilation, entry: Entry) -> None:
    if entry.name == "dynamo_graph_break_reason":
        told = break_told(entry.payload)
        if told is not None:
            one.breaks.append(told)
    elif entry.name == "compilation_metrics":
        one.metrics = entry.fields["compilation_metrics"]


def _measured(
    one: _Compilation, project: Project, others: Iterable[_Compilation], unlike: set[tuple[str, int]]
) -> Measured | None:
    """What one compilation tells of the project; None if it is none of its code's doing."""
    region = _region(one, project, others)
    if region is None:
        return None
    metrics = one.metrics
    seconds = float(metrics.get("entire_frame_compile_time_s") or 0.0)
    operators = metrics.get("graph_op_count")
    graphs = (int(operators),) if operators else ()
    guard = guard_told(metrics.get("recompile_reason"))
    breaks = tuple(_breaks(one, region, project, unlike))
    failed = metrics.get("fail_type")
    limit = guard is not None and failed == _REFUSED and not metrics.get("co_name")
    again = _recompiled(one, guard, region, project, unlike, limit=limit, seconds=seconds) if guard else None
    return Measured(
        region.function,
        region.path,
        region.line,
        0,
        () if guard is not None else graphs,
        len(graphs) if guard is not None else 0,
        breaks,
        tuple(_left(one, breaks, region, project)) if not limit else (),
        "" if failed in {None, _REFUSED} else f"{failed}: {metrics.get('fail_reason')}".partition("\n")[0],
        (),
        (again,) if again is not None else (),
        seconds,
    )


def _region(one: _Compilation, project: Project, others: Iterable[_Compilation]) -> Region | None:
    calls = tuple(Line(path, frame.line) for path, frame in project.of_project(one.outer))
    path = project.path(one.frame.path)
    code = project.code(path) if path is not None else None
    if path is None or code is None:
        if not calls:
            return None
        return Region(resumed_from(one.name)[0], calls[-1].path, calls[-1].line, calls, is_own=False)
    name, resumed = resumed_from(one.name)
    line = one.frame.line
    if resumed:
        # Code that goes on after a break begins there; the function that it is of was compiled before.
        before = (o.frame.line for o in others if (o.frame.path, o.name) == (one.frame.path, name))
        line = max((at for at in before if at <= line), default=line)
    function = code.named(line, name)
    return Region(function, path, code.begin(function, line), calls, is_own=True)


def _breaks(one: _Compilation, region: Region, project: Project, unlike: set[tuple[str, int]]) -> Iterator[Break]:
    for told in one.breaks:
        lines = _within(told.frames, one, region, project, unlike)
        if lines:
            yield Break(*told.kind, lines)
    if one.breaks or one.metrics.get("fail_type") != _REFUSED or not one.metrics.get("co_name"):
        return
    # Where the graph must not break, it is an error, and told without a traceback.
    kind = next(iter(kinds_in(str(one.metrics.get("fail_reason") or ""))), None)
    path = project.path(str(one.metrics.get("fail_user_frame_filename") or one.frame.path))
    number = int(one.metrics.get("fail_user_frame_lineno") or one.frame.line)
    line = Line(path, number) if path is not None else next(iter(region.calls[-1:]), None)
    if kind is not None and line is not None:
        yield Break(*kind, (line,), raises=True)


def _within(
    frames: Sequence[Frame], one: _Compilation, region: Region, project: Project, unlike: set[tuple[str, int]]
) -> tuple[Line, ...]:
    """The project's lines within a function that is compiled; those that call it, where it is a library's."""
    name = resumed_from(one.name)[0]
    own = [number for number, frame in enumerate(frames) if (frame.path, frame.name) == (one.frame.path, name)]
    before = sum((frame.path, resumed_from(frame.name)[0]) == (one.frame.path, name) for frame in one.outer)
    start = own[min(before, len(own) - 1)] if own else 0
    inner = list(project.of_project(frames[start:])) if region.is_own else list(project.of_project(frames))
    lines: list[Line] = []
    for path, frame in inner:
        line = _line(path, frame, project)
        if line is None:
            unlike.add((path, frame.line))
            return ()
        lines.append(line)
    return tuple(lines)


def _line(path: str, frame: Frame, project: Project) -> Line | None:
    """A line of a traceback here; None if something else stands there now."""
    code = project.code(path)
    if code is None or (frame.text and code.text(frame.line) != frame.text):
        return None
    if frame.start < 0:
        return Line(path, frame.line)
    # Where torch does not know the end, it marks all of the line from there.
    end = -1 if frame.end == len(frame.text) else code.column(frame.line, frame.end)
    return Line(path, frame.line, code.column(frame.line, frame.start), end)


def _recompiled(
    one: _Compilation,
    guard: GuardTold,
    region: Region,
    project: Project,
    unlike: set[tuple[str, int]],
    *,
    limit: bool,
    seconds: float,
) -> Recompiled | None:
    lines = tuple(Line(path, frame.line) for path, frame in project.of_project(guard.frames))
    strange = [one for one in project.of_project(guard.frames) if _line(*one, project) is None]
    if strange:
        unlike.update((path, frame.line) for path, frame in strange)
        return None
    lines = lines or (_reading(one, guard, region, project),)
    return Recompiled(guard.text, guard.sources, lines, 0 if limit else 1, seconds, limit)


def _reading(one: _Compilation, guard: GuardTold, region: Region, project: Project) -> Line:
    """Where a function first uses what a guard asks of; where that is nothing of its, where it begins."""
    code = project.code(region.path)
    if region.is_own and code is not None:
        for source in guard.sources:
            line = code.first_use(source, region.function, region.line)
            if line:
                return Line(region.path, line)
        # The line that calls it is not told: torch 2.13 leaves the innermost out of `dynamo_start`.
        return Line(region.path, resumed_from(one.name)[1] or region.line)
    return Line(region.path, region.line)


def _left(one: _Compilation, breaks: Sequence[Break], region: Region, project: Project) -> Iterator[FallBack]:
    """That a function is left to plain Python: all of it, or what comes after a break."""
    if one.metrics.get("fail_type") != _REFUSED or not one.breaks or not region.is_own:
        return
    told = one.breaks[-1]
    why = told.then or told.kind
    code = project.code(region.path)
    last = code.last(region.function, region.line) if code is not None else region.line
    at = breaks[-1].lines[0].line if breaks else 0
    rest = bool(resumed_from(one.name)[1])
    yield FallBack(region.function, region.path, region.line, last, rest, at, why.type, why.id)


def joined(regions: Sequence[Measured], counted: Any) -> list[Measured]:
    """Each function once; what several processes, ranks or tests tell of it is counted by `sum` or `max`."""
    by_function: dict[tuple[str, str, int], list[Measured]] = {}
    for one in regions:
        by_function.setdefault((one.function, one.path, one.line), []).append(one)
    return [_one_of(group, counted) if len(group) > 1 else group[0] for group in by_function.values()]


def _one_of(group: Sequence[Measured], counted: Any) -> Measured:
    first = group[0]
    graphs = [one.graphs for one in group]
    together = counted is sum
    return first._replace(
        graphs=tuple(size for sizes in graphs for size in sizes) if together else max(graphs, key=len),
        later=counted(one.later for one in group),
        breaks=_distinct(broken for one in group for broken in one.breaks),
        fallbacks=tuple(dict.fromkeys(left for one in group for left in one.fallbacks)),
        again=_counted([again for one in group for again in one.again], counted),
        seconds=counted(one.seconds for one in group),
    )


def _distinct(breaks: Iterable[Break]) -> tuple[Break, ...]:
    """Breaks of the same kind at the same place, once."""
    found: dict[tuple[str, Line], Break] = {}
    for one in breaks:
        found.setdefault((one.type, one.lines[-1]), one)
    return tuple(found.values())


def _counted(listed: Sequence[Recompiled], counted: Any) -> tuple[Recompiled, ...]:
    """What a function was compiled again for, each thing once, with the guard that failed last."""
    groups: dict[tuple[object, Line], list[Recompiled]] = {}
    for one in listed:
        groups.setdefault((one.sources, one.lines[-1]), []).append(one)
    return tuple(
        group[-1]._replace(
            times=counted(one.times for one in group),
            seconds=counted(one.seconds for one in group),
            limit=any(one.limit for one in group),
        )
        for group in groups.values()
    )
