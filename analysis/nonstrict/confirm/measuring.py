"""What an arm tells of compilations, region by region: read from its trace, and kept as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.traces import cause_of
from nonstrict.findings import Break, FallBack, Line, Measured, Recompiled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def measured(trace: Mapping[str, Any], backend: str) -> list[Measured]:
    """The regions that an arm compiled, in the order of their first calls; calls that raise elsewhere count too."""
    found: dict[tuple[str, str, int], list[Mapping[str, Any]]] = {}
    for call in trace.get("calls", ()):
        if "compiled" in call and call.get("function"):
            key = str(call["function"]), str(call["path"]), int(call["line"])
            found.setdefault(key, []).append(call["compiled"])
    return [_region(key, compiled, backend) for key, compiled in found.items()]


def _region(key: tuple[str, str, int], calls: Sequence[Mapping[str, Any]], backend: str) -> Measured:
    function, path, line = key
    first = next((one for one in calls if one["graphs"] or one["breaks"] or one["eager"]), calls[0])
    later = sum(len(one["graphs"]) for one in calls) - len(first["graphs"])
    left = dict.fromkeys(_fall_back(one) for call in calls for one in call["eager"])
    return Measured(
        function,
        path,
        line,
        len(calls),
        tuple(map(int, first["graphs"])),
        later,
        _united(breaks_of(one) for one in calls),
        tuple(left),
        next((str(one["skipped"]) for one in calls if one["skipped"]), ""),
        (backend,),
        _again(calls, Line(path, line)),
        sum(float(one.get("seconds", 0.0)) for one in calls),
    )


def _again(calls: Sequence[Mapping[str, Any]], region: Line) -> tuple[Recompiled, ...]:
    """What a region was compiled again for, by what the guards ask of; each with the last one that failed."""
    found: dict[tuple[tuple[str, ...], ...], Recompiled] = {}
    for one in (each for call in calls for each in call.get("again", ())):
        sources = tuple(tuple(map(str, source)) for source in one["sources"])
        lines = tuple(Line(str(path), int(line)) for path, line in one["lines"]) or (region,)
        before, limit = found.get(sources), bool(one["limit"])
        times = (before.times if before is not None else 0) + (not limit)
        seconds = (before.seconds if before is not None else 0.0) + float(one.get("seconds", 0.0))
        found[sources] = Recompiled(str(one["guard"]), sources, lines, times, seconds, limit)
    return tuple(found.values())


def breaks_of(compiled: Mapping[str, Any]) -> tuple[Break, ...]:
    """The breaks of one call, in order."""
    return tuple(_break(one) for one in compiled["breaks"])


def fall_backs_of(compiled: Mapping[str, Any]) -> tuple[FallBack, ...]:
    """What one call left to plain Python."""
    return tuple(_fall_back(one) for one in compiled["eager"])


def united(known: Sequence[Measured], more: Iterable[Measured], *, calls: bool = False) -> list[Measured]:
    """What is known of regions, with what another arm tells of the same ones; the first to count graphs counts.

    With `calls`, the other arm is one of another schedule, with calls of its own.
    """
    found = {(one.function, one.path, one.line): one for one in known}
    for one in more:
        key = one.function, one.path, one.line
        before = found.get(key)
        if before is None:
            found[key] = one
            continue
        found[key] = before._replace(
            calls=before.calls + one.calls if calls else before.calls,
            breaks=_united((before.breaks, one.breaks)),
            fallbacks=tuple(dict.fromkeys((*before.fallbacks, *one.fallbacks))),
            backends=tuple(dict.fromkeys((*before.backends, *one.backends))),
            again=max(before.again, one.again, key=lambda again: sum(each.times for each in again)),
        )
    return list(found.values())


def explained(measured: Measured, refusals: frozenset[tuple[str, int]], eager: Mapping[str, Any]) -> Measured:
    """The region with its breaks marked: as explained those that raise, unless they are one of the `refusals`.

    As failing in eager those on lines where a call of the `eager` run raised: Dynamo breaks the graph where the code
    that it traces raises, and the error may be that of a slice that lacks something.
    """
    failing = {cause_of(call["error"]).lines[-1:] for call in eager["calls"] if "error" in call}
    breaks = (
        one._replace(
            explained=one.raises and one.lines[-1][:2] not in refusals,
            fails_in_eager=(one.lines[-1][:2],) in failing,
        )
        for one in measured.breaks
    )
    return measured._replace(breaks=tuple(breaks))


def _united(listed: Iterable[tuple[Break, ...]]) -> tuple[Break, ...]:
    """Breaks without those that were told before: of the same kind at the same place."""
    found: dict[tuple[str, Line], Break] = {}
    for breaks in listed:
        for one in breaks:
            found.setdefault((one.type, one.lines[-1]), one)
    return tuple(found.values())


def _break(one: Mapping[str, Any]) -> Break:
    lines = _lines(one)
    kind, id_, told, hint = (str(one[name]) for name in ("type", "id", "told", "hint"))
    marks = bool(one["raises"]), bool(one.get("explained")), bool(one.get("fails_in_eager"))
    return Break(kind, id_, told, hint, lines, *marks)


def _lines(one: Mapping[str, Any]) -> tuple[Line, ...]:
    return tuple(Line(str(path), int(line), int(start), int(end)) for path, line, start, end in one["lines"])


def _recompiled(one: Mapping[str, Any]) -> Recompiled:
    sources = tuple(tuple(map(str, source)) for source in one["sources"])
    times, seconds, limit = int(one["times"]), float(one["seconds"]), bool(one["limit"])
    return Recompiled(str(one["guard"]), sources, _lines(one), times, seconds, limit)


def _fall_back(one: Mapping[str, Any]) -> FallBack:
    line, last, at = (int(one[name]) for name in ("line", "last", "at"))
    function, path, kind, id_ = (str(one[name]) for name in ("function", "path", "type", "id"))
    return FallBack(function, path, line, last, bool(one["rest"]), at, kind, id_)


def as_json(regions: Iterable[Measured]) -> list[dict[str, Any]]:
    """Regions as JSON can hold them."""
    return [
        {
            **one._asdict(),
            "breaks": [{**b._asdict(), "lines": [list(line) for line in b.lines]} for b in one.breaks],
            "fallbacks": [left._asdict() for left in one.fallbacks],
            "again": [{**again._asdict(), "lines": [list(line) for line in again.lines]} for again in one.again],
        }
        for one in regions
    ]


def from_json(listed: Iterable[Mapping[str, Any]]) -> tuple[Measured, ...]:
    """The regions that `as_json` wrote.

    Raises:
        KeyError, TypeError, ValueError: they were not written by it.
    """
    return tuple(
        Measured(
            str(one["function"]),
            str(one["path"]),
            int(one["line"]),
            int(one["calls"]),
            tuple(map(int, one["graphs"])),
            int(one["later"]),
            tuple(_break(each) for each in one["breaks"]),
            tuple(_fall_back(each) for each in one["fallbacks"]),
            str(one["skipped"]),
            tuple(map(str, one["backends"])),
            tuple(_recompiled(each) for each in one["again"]),
            float(one["seconds"]),
        )
        for one in listed
    )
