"""Compares the traces of two arms: what the compiled one did otherwise than eager, call by call."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.numbers import Difference, difference
from nonstrict.confirm.outputs import unlike_events, unlike_streams
from nonstrict.confirm.refusals import refused_by_sandbox
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Divergence(NamedTuple):
    """One thing that differs.

    `call` counts the calls of regions from 0. `eager` and `compiled` are short texts. `paths` are the state that
    differs (`HISTORY`, `<grad mode>`), `lines` the (file, line) that an error or event stands at, innermost last, and
    `relative` the relative size of a difference in numbers. `alone` marks numbers in which only Inductor differs, which
    computes in another order and precision, and which did not go stale. `stream` says of output where it was written.
    It is `vague` if too little was recorded to tell whether there is a difference that means anything.
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

    @property
    def kind(self) -> tuple[Channel, int, str]:
        """What two arms are compared by."""
        return self.channel, self.call, self.stream


class Cause(NamedTuple):
    """The true reason of an error: exception type, message, the user's lines innermost last, torch's graph-break id."""

    type: str
    message: str
    lines: tuple[tuple[str, int], ...]
    graph_break: str
    texts: str


#: The fingerprint of a floating-point tensor (`nonstrict_agent.observe.state`): dtype and sizes, hash, what it carries.
_FLOATS = re.compile(r"(?P<form>tensor (?:float|bfloat|complex)\w* \[[^\]]*\]) [0-9a-f]+(?P<rest>.*)", re.DOTALL)
#: The same of any tensor.
_TENSOR = re.compile(r"(?P<form>tensor \w+ \[[^\]]*\]) [0-9a-f]+(?P<rest>.*)", re.DOTALL)
#: State that tracing itself moves, whatever the program does.
_MOVED_BY_TRACING = frozenset({"<random state>", "<NumPy's random state>", "<warning filters>", "<recursion limit>"})
#: State that Inductor moves when it first compiles.
_MOVED_BY_COMPILING = frozenset({"<environment variables>", "<module search path>"})

#: What a program raises that lacks a part of itself, which is no measure for anything.
_INCOMPLETE = frozenset({"NameError", "UnboundLocalError", "ModuleNotFoundError", "ImportError"})


class Arms(NamedTuple):
    """The traces of one schedule: `compiled` by backend. `control` is a second eager run, with the lines executed.

    `foreign` says by number of call which suspects it has nothing to do with, by their numbers. `uncached` is a second
    run of Inductor, without the caches of torch, where that was asked for.
    """

    eager: Mapping[str, Any]
    control: Mapping[str, Any]
    compiled: Mapping[str, Mapping[str, Any]]
    foreign: Mapping[int, frozenset[int]] = {}
    uncached: Mapping[str, Any] | None = None


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
    if "error" in left and refused_by_sandbox(left["error"]):
        return None
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
    for one in unlike_streams(left, right):
        yield Divergence(Channel.OUTPUT, index, one.eager, one.compiled, stream=one.stream, vague=one.vague)
    for one in unlike_events(left["events"], right["events"]):
        yield Divergence(Channel.EVENTS, index, one.eager, one.compiled, lines=one.lines, vague=one.vague)
    yield from _of_state(index, left, right)
    fresh = tuple(path for path in right["leaks"] if path not in left["leaks"])
    if fresh:
        yield Divergence(Channel.LEAK, index, "values", "a tensor of the tracer", paths=fresh)
    yield from _of_arguments(index, left, right)


def _of_state(index: int, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Divergence]:
    changed: dict[str, list[str | None]] = {
        path: pair for path, pair in left["state"].items() if path not in _MOVED_BY_TRACING
    }
    others: dict[str, list[str | None]] = {
        path: pair
        for path, pair in right["state"].items()
        if path not in _MOVED_BY_TRACING and (path not in _MOVED_BY_COMPILING or path in changed)
    }
    unlike = {path: (changed.get(path), others.get(path)) for path in {**changed, **others}}
    unlike = {path: pair for path, pair in unlike.items() if pair[0] != pair[1]}
    rounded = {
        path for path, pair in unlike.items() if pair[0] and pair[1] and _may_be_rounding(pair[0][1], pair[1][1])
    }
    for paths, vague in _parted(unlike, rounded):
        pair = unlike[paths[0]]
        yield Divergence(Channel.STATE, index, *map(_change, pair), paths=paths, vague=vague)


def _of_arguments(index: int, left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Divergence]:
    given, before, after = left.get("inputs", {}), left.get("arguments", {}), right.get("arguments", {})
    unlike = {path: (before.get(path), after.get(path)) for path in {**before, **after}}
    unlike = {path: pair for path, pair in unlike.items() if pair[0] != pair[1]}
    written = (path for path, pair in unlike.items() if given.get(path) not in pair)
    rounded = {path for path in written if _may_be_rounding(*unlike[path])}
    for paths, vague in _parted(unlike, rounded):
        shown = (part if part is not None else "absent" for part in unlike[paths[0]])
        yield Divergence(Channel.ARGUMENTS, index, *shown, paths=paths, vague=vague)


def _parted(unlike: Iterable[str], rounded: set[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The paths that differ for certain, then those that may differ by rounding; each with whether they only may."""
    for vague in (False, True):
        paths = tuple(path for path in unlike if (path in rounded) == vague)
        if paths:
            yield paths, vague


def _may_be_rounding(eager: str | None, compiled: str | None) -> bool:
    """Whether two fingerprints are those of floating-point tensors that have everything but their numbers in common.

    Of tensors in state only hashes are known, and code that computes in another order has others.
    """
    pair = [_FLOATS.fullmatch(text or "") for text in (eager, compiled)]
    return all(pair) and len({(match["form"], match["rest"]) for match in pair if match is not None}) == 1


def form_of(fingerprint: str | None) -> str | None:
    """A fingerprint without the numbers of a tensor: what guards of Dynamo ask of."""
    match = _TENSOR.fullmatch(fingerprint or "")
    return match["form"] + match["rest"] if match is not None else fingerprint


def _value(channel: Channel, index: int, gap: Difference) -> Divergence:
    return Divergence(channel, index, gap.eager, gap.compiled, relative=gap.relative)


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


def _change(pair: Sequence[str | None] | None) -> str:
    if pair is None:
        return "unchanged"
    before, after = (part if part is not None else "absent" for part in pair)
    return f"{before} -> {after}"
