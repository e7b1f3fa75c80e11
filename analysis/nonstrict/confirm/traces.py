"""Compares the traces of two arms: what the compiled one did otherwise than eager, call by call."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.numbers import Difference, difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Channel(enum.Enum):
    """On what two arms differ."""

    ERROR = "error"
    VALUES = "values"
    ARGUMENTS = "arguments"
    STATE = "state"
    OUTPUT = "output"
    EVENTS = "events"
    GRADIENTS = "gradients"
    LEAK = "leak"
    FILES = "files"


class Divergence(NamedTuple):
    """One thing that differs.

    `call` counts the calls of regions from 0. `eager` and `compiled` are short texts. `paths` are the state that
    differs (`HISTORY`, `<grad mode>`), `lines` the (file, line) that an error or event stands at, innermost last, and
    `relative` the relative size of a difference in numbers. `alone` marks numbers in which only Inductor differs, which
    computes in another order and precision, and which did not go stale.
    """

    channel: Channel
    call: int
    eager: str
    compiled: str
    paths: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    relative: float = math.inf
    alone: bool = False


class Cause(NamedTuple):
    """The true reason of an error: exception type, message, the user's lines innermost last, torch's graph-break id."""

    type: str
    message: str
    lines: tuple[tuple[str, int], ...]
    graph_break: str
    texts: str


#: State that tracing itself moves, whatever the program does.
_MOVED_BY_TRACING = frozenset({"<random state>", "<NumPy's random state>", "<warning filters>", "<recursion limit>"})
#: State that Inductor moves when it first compiles.
_MOVED_BY_COMPILING = frozenset({"<environment variables>", "<module search path>"})

#: What a program raises that lacks a part of itself, which is no measure for anything.
_INCOMPLETE = frozenset({"NameError", "UnboundLocalError", "ModuleNotFoundError", "ImportError"})


class Arms(NamedTuple):
    """The traces of one schedule: `compiled` by backend. `control` is a second eager run, with the lines executed."""

    eager: Mapping[str, Any]
    control: Mapping[str, Any]
    compiled: Mapping[str, Mapping[str, Any]]


def divergences(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> list[Divergence]:
    """What the compiled arm did otherwise, in the order of calls; of a region nothing after its first error."""
    found: list[Divergence] = []
    failed: set[str] = set()
    for index, (left, right) in enumerate(zip(eager["calls"], compiled["calls"], strict=False)):
        region = str(right.get("region"))
        if region != str(left.get("region")):
            # After an error the arms may go separate ways.
            return found
        if region in failed:
            continue
        error = _of_errors(index, left, right)
        if error is not None:
            found.append(error)
        if "error" in left or "error" in right:
            failed.add(region)
            continue
        if left.get("inputs") != right.get("inputs"):
            # What follows, gradients too, is of other inputs.
            return found
        of_call = _of_call(index, left, right)
        # After an error somewhere, tracing has left its marks on whatever the program keeps.
        found += of_call if not failed else (one for one in of_call if one.channel in {Channel.VALUES, Channel.OUTPUT})
    if not failed:
        found += _of_gradients(eager.get("gradients"), compiled.get("gradients"), len(eager["calls"]) - 1)
    return found


def _of_errors(index: int, left: Mapping[str, Any], right: Mapping[str, Any]) -> Divergence | None:
    """The divergence of a call that raises in one arm, or raises something else in the other."""
    if "error" in right:
        if "error" in left and _type_of(left) in {_type_of(right), *_INCOMPLETE}:
            return None
        plain = _reason(left) if "error" in left else "no error"
        return Divergence(Channel.ERROR, index, plain, _reason(right), lines=cause_of(right["error"]).lines)
    if "error" in left and not right.get("traced"):
        # Python refuses this call; compiled code did not look.
        return Divergence(Channel.ERROR, index, _reason(left), "no error", lines=cause_of(left["error"]).lines)
    return None


def cause_of(error: Mapping[str, Any]) -> Cause:
    """The innermost exception with a line in the user's files."""
    links = error["links"]
    link = links[error["cause"]]
    frames = [tuple(frame) for one in links for frame in one["frames"]] if not link["frames"] else link["frames"]
    lines = tuple((str(path), int(line)) for path, line in frames)
    texts = "\n".join(f"{one['type']}: {one['message']}" for one in links)
    return Cause(link["type"], link["message"].split("\n")[0], lines, error.get("graph_break", ""), texts)


def all_lines(error: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    """Every line of the user's files that any link of an error names."""
    return frozenset((str(path), int(line)) for link in error["links"] for path, line in link["frames"])


def _type_of(call: Mapping[str, Any]) -> str:
    """The type of exception that reaches the caller of a region."""
    return call["error"]["links"][0]["type"]


def _reason(call: Mapping[str, Any]) -> str:
    reason = cause_of(call["error"])
    return f"{reason.type}: {reason.message}"


def _of_call(index: int, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Divergence]:
    if "result" in left and "result" in right:
        gap = difference(left["result"], right["result"])
        if gap is not None:
            yield _value(Channel.VALUES, index, gap)
    if left["out"] != right["out"]:
        yield Divergence(Channel.OUTPUT, index, *_told(left["out"], right["out"]))
    elif left.get("log") != right.get("log"):
        yield Divergence(Channel.OUTPUT, index, _logged(left["log"]), _logged(right["log"]))
    elif lost := _lost_lines(left["err"], right["err"]):
        yield Divergence(Channel.OUTPUT, index, *_told(lost, right["err"] and ""))
    yield from _of_events(index, left["events"], right["events"])
    changed = {path: pair for path, pair in left["state"].items() if path not in _MOVED_BY_TRACING}
    others = {
        path: pair
        for path, pair in right["state"].items()
        if path not in _MOVED_BY_TRACING and (path not in _MOVED_BY_COMPILING or path in changed)
    }
    differing = tuple(path for path in {**changed, **others} if changed.get(path) != others.get(path))
    if differing:
        shown = differing[0]
        yield Divergence(Channel.STATE, index, _change(changed.get(shown)), _change(others.get(shown)), paths=differing)
    fresh = tuple(path for path in right["leaks"] if path not in left["leaks"])
    if fresh:
        yield Divergence(Channel.LEAK, index, "values", "a tensor of the tracer", paths=fresh)
    before, after = left.get("arguments", {}), right.get("arguments", {})
    unlike = tuple(path for path in {**before, **after} if before.get(path) != after.get(path))
    if unlike:
        first = unlike[0]
        yield Divergence(
            Channel.ARGUMENTS, index, str(before.get(first, "absent")), str(after.get(first, "absent")), paths=unlike
        )


def _value(channel: Channel, index: int, gap: Difference) -> Divergence:
    return Divergence(channel, index, gap.eager, gap.compiled, relative=gap.relative)


def _of_events(index: int, left: Sequence[Any], right: Sequence[Any]) -> Iterator[Divergence]:
    """Audit events of lines that happen a different number of times."""
    counts: dict[tuple[str, int, str], list[int]] = {}
    subjects: dict[tuple[str, int, str], str] = {}
    for side, events in enumerate((left, right)):
        for event, subject, path, line in events:
            key = (path, line, event)
            counts.setdefault(key, [0, 0])[side] += 1
            subjects.setdefault(key, subject)
    for (path, line, event), (eager, compiled) in counts.items():
        if eager != compiled:
            yield Divergence(
                Channel.EVENTS, index, _times(event, eager), _times(event, compiled), lines=((path, line),)
            )


def _of_gradients(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None, index: int) -> Iterator[Divergence]:
    if not left or "of" not in left or right is None:
        return
    if "of" not in right:
        error = right["error"]
        text = error if isinstance(error, str) else cause_of(error).message
        if any(value is not None for value in left["of"].values()):
            yield Divergence(Channel.GRADIENTS, index, "gradients", text, paths=tuple(left["of"]))
        return
    for name, value in left["of"].items():
        other = right["of"].get(name)
        if value is not None and other is None:
            yield Divergence(Channel.GRADIENTS, index, "a gradient", "None", paths=(name,))
        elif value is not None and other is not None:
            gap = difference(value, other)
            if gap is not None:
                yield Divergence(
                    Channel.GRADIENTS, index, gap.eager, gap.compiled, paths=(name,), relative=gap.relative
                )


def _lost_lines(eager: str, compiled: str) -> str:
    """What eager code wrote to standard error and compiled code did not; torch's own warnings come on top there."""
    written = compiled.split("\n")
    return "\n".join(line for line in eager.split("\n") if line.strip() and line not in written)


def _told(eager: str, compiled: str) -> tuple[str, str]:
    return _text(eager), _text(compiled)


def _text(text: str) -> str:
    if not text:
        return "nothing"
    lines = text.rstrip("\n").split("\n")
    shown = repr(lines[0][:60])
    return shown if len(lines) == 1 else f"{shown} and {len(lines) - 1} more lines"


def _logged(records: Sequence[str]) -> str:
    if not records:
        return "no log record"
    return f"the log record {records[0]!r}" if len(records) == 1 else f"{len(records)} log records"


def _change(pair: Sequence[str | None] | None) -> str:
    if pair is None:
        return "unchanged"
    before, after = (part if part is not None else "absent" for part in pair)
    return f"{before} -> {after}"


def _times(event: str, count: int) -> str:
    return f"{event} {'once' if count == 1 else f'{count} times' if count else 'never'}"
