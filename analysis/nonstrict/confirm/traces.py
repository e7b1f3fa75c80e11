"""Compares the traces of two arms: what the compiled one did otherwise than eager, call by call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.fingerprints import Numbers, Unlike, numbers_of
from nonstrict.confirm.numbers import Difference, difference
from nonstrict.confirm.outputs import unlike_events, unlike_streams
from nonstrict.confirm.refusals import out_of_gpu_memory, refused_by_sandbox
from nonstrict.confirm.spans import Span
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence


class Divergence(NamedTuple):
    """One thing that differs.

    `call` counts the calls of regions from 0. `eager` and `compiled` are short texts. `paths` are the state that
    differs (`HISTORY`, `<grad mode>`), `lines` the (file, line) that an error or event stands at, innermost last,
    `apart` is the size of a difference in numbers, and `relative` its relative one. `alone` marks numbers in which only
    Inductor differs, which computes in another order and precision, and which did not go stale. `stream` says of output
    where it was written. It is `vague` if too little is known to tell whether a difference means anything, and has
    `drifted` if what the call was given had been rounded otherwise already, and is one in a `gradient` if it is in
    whether results require one. `span` is the expression on the innermost
    line that raised an error, where Python tells.
    """

    channel: Channel
    call: int
    eager: str
    compiled: str
    paths: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    relative: float = math.inf
    alone: bool = False
    stream: str = ""
    vague: bool = False
    apart: float = math.inf
    drifted: bool = False
    span: Span | None = None
    gradient: bool = False

    @property
    def kind(self) -> tuple[Channel, int, str]:
        """What two arms are compared by."""
        return self.channel, self.call, self.stream


class Cause(NamedTuple):
    """The true reason of an error: exception type, message, the user's lines innermost last, torch's graph-break id.

    `span` is the expression on the innermost line that raised it, where Python tells.
    """

    type: str
    message: str
    lines: tuple[tuple[str, int], ...]
    graph_break: str
    texts: str
    span: Span | None = None


#: State that tracing itself moves, whatever the program does.
_MOVED_BY_TRACING = frozenset({"<random state>", "<NumPy's random state>", "<warning filters>", "<recursion limit>"})
#: State that Inductor moves when it first compiles.
_MOVED_BY_COMPILING = frozenset({"<environment variables>", "<module search path>"})

#: Where a difference may be one of texts.
_TOLD_AS_TEXT = frozenset({Channel.OUTPUT, Channel.STATE, Channel.ARGUMENTS})
#: What a program raises that lacks a part of itself, which is no measure for anything.
_INCOMPLETE = frozenset({"NameError", "UnboundLocalError", "ModuleNotFoundError", "ImportError"})


class Captured(NamedTuple):
    """A run of Inductor with the CUDA graphs that the program asks for, and one of eager code as its control."""

    eager: Mapping[str, Any]
    inductor: Mapping[str, Any]


class Arms(NamedTuple):
    """The traces of one schedule: `compiled` by backend. `control` is a second eager run, with the lines executed.

    `foreign` says by number of call which suspects it has nothing to do with, by their numbers. `uncached` is a second
    run of Inductor, without the caches of torch, and `captured` one with CUDA graphs, where that was asked for.
    """

    eager: Mapping[str, Any]
    control: Mapping[str, Any]
    compiled: Mapping[str, Mapping[str, Any]]
    foreign: Mapping[int, frozenset[int]] = {}
    uncached: Mapping[str, Any] | None = None
    captured: Captured | None = None


def divergences(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> list[Divergence]:
    """What the compiled arm did otherwise, in the order of calls; of a region nothing after its first error."""
    found: list[Divergence] = []
    failed: set[str] = set()
    numbers = numbers_of(eager, compiled)
    drifted = False
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
        if not numbers.alike(left.get("inputs", {}), right.get("inputs", {})):
            # What follows, gradients too, is of other inputs.
            return found
        drifted = drifted or left.get("inputs") != right.get("inputs")
        of_call = _of_call(index, left, right, numbers)
        of_call = map(_drifted, of_call) if drifted else of_call
        # After an error somewhere, tracing has left its marks on whatever the program keeps.
        found += of_call if not failed else (one for one in of_call if one.channel in {Channel.VALUES, Channel.OUTPUT})
    if not failed:
        of_all = _of_gradients(eager.get("gradients"), compiled.get("gradients"), len(eager["calls"]) - 1)
        found += map(_drifted, of_all) if drifted else of_all
    return found


def narrowed(
    divergence: Divergence, varying: Collection[str], eager: Mapping[str, Any], compiled: Mapping[str, Any]
) -> Divergence | None:
    """A divergence in state without what eager code itself makes otherwise each time; None if that is all of it."""
    paths = tuple(path for path in divergence.paths if path not in varying)
    if divergence.channel is not Channel.STATE or not paths or not math.isinf(divergence.relative):
        return None
    texts = (_change(trace["calls"][divergence.call]["state"].get(paths[0])) for trace in (eager, compiled))
    return divergence._replace(paths=paths, eager=next(texts), compiled=next(texts))


def _drifted(divergence: Divergence) -> Divergence:
    """A divergence of a call whose inputs differ by rounding, which texts and numbers of Python show too."""
    is_text = divergence.channel in _TOLD_AS_TEXT and math.isinf(divergence.relative)
    return divergence._replace(drifted=True, vague=divergence.vague or is_text)


def returns(trace: Mapping[str, Any]) -> bool:
    """Whether some call of a region comes to its end."""
    return any("error" not in call for call in trace["calls"])


def given_otherwise(eager: Mapping[str, Any], compiled: Mapping[str, Any]) -> int | None:
    """The first call that the arms give something else to, beyond rounding: it and what follows cannot be compared."""
    numbers = numbers_of(eager, compiled)
    calls = enumerate(zip(eager["calls"], compiled.get("calls", ()), strict=False))
    return next((n for n, (a, b) in calls if not numbers.alike(a.get("inputs", {}), b.get("inputs", {}))), None)


def _of_errors(index: int, left: Mapping[str, Any], right: Mapping[str, Any]) -> Divergence | None:
    """The divergence of a call that raises in one arm, or raises something else in the other."""
    if "error" in left and refused_by_sandbox(left["error"]):
        return None
    if any("error" in one and out_of_gpu_memory(one["error"]) for one in (left, right)):
        return None
    if "error" in right:
        if "error" in left and _type_of(left) in {_type_of(right), *_INCOMPLETE}:
            return None
        plain = _reason(left) if "error" in left else "no error"
        cause = cause_of(right["error"])
        return Divergence(Channel.ERROR, index, plain, _reason(right), lines=cause.lines, span=cause.span)
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
    span = Span(*link["span"]) if link["frames"] and link.get("span") else None
    return Cause(link["type"], link["message"].split("\n")[0], lines, error.get("graph_break", ""), texts, span)


def all_lines(error: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    """Every line of the user's files that any link of an error names."""
    return frozenset((str(path), int(line)) for link in error["links"] for path, line in link["frames"])


def _type_of(call: Mapping[str, Any]) -> str:
    """The type of exception that reaches the caller of a region."""
    return call["error"]["links"][0]["type"]


def _reason(call: Mapping[str, Any]) -> str:
    reason = cause_of(call["error"])
    return f"{reason.type}: {reason.message}"


def _of_call(index: int, left: Mapping[str, Any], right: Mapping[str, Any], numbers: Numbers) -> Iterator[Divergence]:
    if "result" in left and "result" in right:
        gap = difference(left["result"], right["result"])
        if gap is not None:
            yield _value(Channel.VALUES, index, gap)
    for one in unlike_streams(left, right):
        yield Divergence(Channel.OUTPUT, index, one.eager, one.compiled, stream=one.stream, vague=one.vague)
    for one in unlike_events(left["events"], right["events"]):
        yield Divergence(Channel.EVENTS, index, one.eager, one.compiled, lines=one.lines, vague=one.vague)
    yield from _of_state(index, left, right, numbers)
    fresh = tuple(path for path in right["leaks"] if path not in left["leaks"])
    if fresh:
        yield Divergence(Channel.LEAK, index, "values", "a tensor of the tracer", paths=fresh)
    yield from _of_arguments(index, left, right, numbers)


def _of_state(index: int, left: Mapping[str, Any], right: Mapping[str, Any], numbers: Numbers) -> Iterator[Divergence]:
    changed: dict[str, list[str | None]] = {
        path: pair for path, pair in left["state"].items() if path not in _MOVED_BY_TRACING
    }
    others: dict[str, list[str | None]] = {
        path: pair
        for path, pair in right["state"].items()
        if path not in _MOVED_BY_TRACING and (path not in _MOVED_BY_COMPILING or path in changed)
    }
    pairs = {path: (changed.get(path), others.get(path)) for path in {**changed, **others}}
    unlike = {path: one for path, pair in pairs.items() if (one := _unlike_change(*pair, numbers)) is not None}
    yield from _divided(Channel.STATE, index, unlike, lambda path: (_change(pairs[path][0]), _change(pairs[path][1])))


def _unlike_change(
    eager: Sequence[str | None] | None, compiled: Sequence[str | None] | None, numbers: Numbers
) -> Unlike | None:
    """How two changes of one thing differ, in what it is afterwards or was before."""
    if eager is None or compiled is None:
        return Unlike() if eager != compiled else None
    return numbers.unlike(eager[1], compiled[1]) or numbers.unlike(eager[0], compiled[0])


def _of_arguments(
    index: int, left: Mapping[str, Any], right: Mapping[str, Any], numbers: Numbers
) -> Iterator[Divergence]:
    given, before, after = left.get("inputs", {}), left.get("arguments", {}), right.get("arguments", {})
    pairs = {path: (before.get(path), after.get(path)) for path in {**before, **after}}
    unlike: dict[str, Unlike] = {}
    for path, pair in pairs.items():
        one = numbers.unlike(*pair)
        if one is not None:
            # What only one of them wrote is no rounding.
            unlike[path] = Unlike() if given.get(path) in pair else one
    yield from _divided(
        Channel.ARGUMENTS, index, unlike, lambda path: (pairs[path][0] or "absent", pairs[path][1] or "absent")
    )


def _divided(
    channel: Channel, index: int, unlike: Mapping[str, Unlike], shown: Callable[[str], tuple[str, str]]
) -> Iterator[Divergence]:
    """What differs for certain, then what differs in numbers, then what may differ by rounding alone."""
    plain = tuple(path for path, one in unlike.items() if one.gap is None and not one.vague)
    if plain:
        yield Divergence(channel, index, *shown(plain[0]), paths=plain)
    gaps = {path: one.gap for path, one in unlike.items() if one.gap is not None}
    if gaps:
        largest = max(gaps, key=lambda path: gaps[path].relative)
        yield _value(channel, index, gaps[largest], (largest, *(path for path in gaps if path != largest)))
    vague = tuple(path for path, one in unlike.items() if one.vague)
    if vague:
        yield Divergence(channel, index, *shown(vague[0]), paths=vague, vague=True)


def _value(channel: Channel, index: int, gap: Difference, paths: tuple[str, ...] = ()) -> Divergence:
    made = Divergence(channel, index, gap.eager, gap.compiled, paths=paths, relative=gap.relative, apart=gap.largest)
    return made._replace(gradient=gap.gradient)


def _of_gradients(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None, index: int) -> Iterator[Divergence]:
    if not left or "of" not in left or right is None:
        return
    if "of" not in right:
        error = right["error"]
        if not isinstance(error, str) and out_of_gpu_memory(error):
            return
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
                yield _value(Channel.GRADIENTS, index, gap, (name,))


def _change(pair: Sequence[str | None] | None) -> str:
    if pair is None:
        return "unchanged"
    before, after = (part if part is not None else "absent" for part in pair)
    return f"{before} -> {after}"
