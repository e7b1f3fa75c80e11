"""What calls tell the world, compared: standard output and error, log records, audit events.

The agent keeps the beginning of each only. Where it is cut, two alike beginnings are no agreement: what is known of the
whole decides (how many bytes were written), and where nothing is, the difference is `vague`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: What the agent keeps for one call: bytes of a stream, log records, events (`nonstrict_agent.observe`).
KEPT_BYTES, KEPT_RECORDS, KEPT_EVENTS = 20_000, 100, 500
#: A stream of which less is kept was kept whole, however many addresses the agent shortened in it.
_SURELY_WHOLE = KEPT_BYTES // 4
#: What stands for text whose length is not the one that was written.
_REPLACED = ("at 0x...", "\ufffd")


class Unlike(NamedTuple):
    """One thing told otherwise: in which way (`out`, `err`, `log`, or an event), and where, if that is known.

    It is `vague` if what is kept does not tell whether there is a difference at all.
    """

    stream: str
    eager: str
    compiled: str
    lines: tuple[tuple[str, int], ...] = ()
    vague: bool = False


def unlike_streams(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Unlike]:
    """What two calls wrote to streams and logged otherwise.

    What a handler of `logging` wrote for a record is the record, and no output besides.
    """
    yield from _unlike_output(left, right)
    logs: list[list[str]] = [list(call.get("log") or ()) for call in (left, right)]
    ours, theirs = logs
    if ours != theirs:
        yield Unlike("log", _logged(ours), _logged(theirs))
    elif len(ours) >= KEPT_RECORDS:
        yield Unlike("log", _logged(ours), _logged(theirs), vague=True)
    lost = _lost_lines(_own(left, "err"), _own(right, "err"))
    if lost:
        told = _text(lost, cut=_may_be_cut(left, "err"))
        yield Unlike("err", told, _text(right["err"] and ""), vague=_may_be_cut(right, "err"))


def unlike_events(left: Sequence[Any], right: Sequence[Any]) -> Iterator[Unlike]:
    """Audit events of lines that happen a different number of times."""
    counts: dict[tuple[str, int, str], list[int]] = {}
    for side, events in enumerate((left, right)):
        for event, _, path, line in events:
            counts.setdefault((path, line, event), [0, 0])[side] += 1
    cut = [len(events) >= KEPT_EVENTS for events in (left, right)]
    for (path, line, event), (eager, compiled) in counts.items():
        if eager != compiled:
            # What was not kept can only add to the smaller number.
            vague = cut[0] if eager < compiled else cut[1]
            yield Unlike("event", _times(event, eager), _times(event, compiled), ((path, line),), vague)
    if all(cut):
        yield Unlike("event", f"{len(left)} events or more", f"{len(right)} events or more", vague=True)


def _unlike_output(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Unlike]:
    cut = [_may_be_cut(call, "out") for call in (left, right)]
    if not any(cut):
        ours, theirs = (_own(call, "out") for call in (left, right))
        if ours != theirs:
            yield Unlike("out", _text(ours), _text(theirs))
        return
    shown, other = (_text(call["out"], cut=one, size=_size(call)) for call, one in zip((left, right), cut, strict=True))
    if left["out"] != right["out"]:
        yield Unlike("out", shown, other)
        return
    sizes = [_size(call) for call in (left, right)]
    if any(map(math.isnan, sizes)):
        if left.get("bytes") != right.get("bytes"):
            yield Unlike("out", shown, other, vague=True)
    elif sizes[0] != sizes[1]:
        yield Unlike("out", shown, other)


def _may_be_cut(call: Mapping[str, Any], stream: str) -> bool:
    """Whether more may have been written to a stream than is kept of it."""
    return call.get("bytes", 0) > KEPT_BYTES and _weight(call[stream]) >= _SURELY_WHOLE


def _size(call: Mapping[str, Any]) -> float:
    """How many bytes a call wrote to standard output; not a number where that is not told."""
    exact = not any(mark in call[stream] for mark in _REPLACED for stream in ("out", "err"))
    if not exact or _may_be_cut(call, "err") or "bytes" not in call:
        return math.nan
    return float(call["bytes"] - _weight(call["err"]))


def _weight(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _own(call: Mapping[str, Any], stream: str) -> str:
    """What was written to a stream, without the lines that handlers wrote for log records."""
    records = (str(record).partition(" ")[2] for record in call.get("log") or ())
    messages = tuple({line for record in records for line in record.split("\n") if line.strip()})
    text: str = call[stream]
    if not messages or not text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not line.rstrip("\n").endswith(messages))


def _lost_lines(eager: str, compiled: str) -> str:
    """What eager code wrote to standard error and compiled code did not; torch's own warnings come on top there."""
    written = frozenset(compiled.split("\n"))
    return "\n".join(line for line in eager.split("\n") if line.strip() and line not in written)


def _text(text: str, *, cut: bool = False, size: float = math.nan) -> str:
    if not text:
        return "nothing"
    lines = text.rstrip("\n").split("\n")
    shown = repr(lines[0][:60])
    if not cut:
        return shown if len(lines) == 1 else f"{shown} and {len(lines) - 1} more lines"
    whole = "" if math.isnan(size) else f" ({size:.0f} bytes)"
    # The last line that is kept may not be one.
    return f"{shown} and at least {max(0, len(lines) - 2)} more lines{whole}"


def _logged(records: Sequence[str]) -> str:
    if not records:
        return "no log record"
    if len(records) == 1:
        return f"the log record {records[0]!r}"
    return f"{len(records)}{' or more' if len(records) >= KEPT_RECORDS else ''} log records"


def _times(event: str, count: int) -> str:
    return f"{event} {'once' if count == 1 else f'{count} times' if count else 'never'}"
