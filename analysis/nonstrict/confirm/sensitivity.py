"""Whether eager code showed what a finding is about, so that agreement of compiled code means something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.numbers import difference
from nonstrict.findings import ENVIRONMENT, Output
from nonstrict.rules.expectation import Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect

#: Markers under which it depends on the arguments whether a branch shows: other shapes, or dimensions that are marked.
_BY_ARGUMENTS = frozenset({"make-fx", "compiled"})
#: How the agent tells of the environment variables, all as one.
VARIABLES = "<environment variables>"
#: Where the parts of a path end: `telemetry.seen['batches']`.
_SEGMENTS = re.compile(r"[.\[]")
#: What the agent keeps of output, by where it is told.
_STREAMS = {Output.STDOUT: "out", Output.STDERR: "err", Output.LOG: "log"}


def reached(suspect: Suspect, control: Mapping[str, Any]) -> bool:
    """Whether calls of regions executed a line of the finding, or of the function whose fake it is about.

    What markers are about is executed where the program is loaded.
    """
    outside = suspect.has(Trait.IN_MARKERS) or suspect.has(Trait.BETWEEN_CALLS)
    return executed(suspect, control if outside else {"lines": control.get("within", {})})


def executed(suspect: Suspect, control: Mapping[str, Any]) -> bool:
    """Whether eager code executed such a line anywhere."""
    lines = {path: set(numbers) for path, numbers in control.get("lines", {}).items()}
    places = suspect.places | suspect.writers if suspect.has(Trait.IN_FAKES) else suspect.places
    return any(line in lines.get(path, ()) for path, line in places)


def sensitive(
    suspect: Suspect, eager: Mapping[str, Any], anew: Collection[int] = (), compiling: Collection[int] = ()
) -> bool:
    """Whether eager code showed what the finding is about, so that agreement means something.

    It does not in the calls that were compiled `anew`, which get what is there by then, nor do effects in calls for
    which something was compiled (`compiling`): tracing has them too.
    """
    calls = eager["calls"]
    if not calls:
        return False
    if suspect.experiment is Experiment.CHANGE:
        crossed = suspect.has(Trait.CROSSES) and any(changed(suspect, call.get("state", ())) for call in calls)
        return crossed or any(_reacts(suspect, calls, index) for index in range(1, len(calls)) if index not in anew)
    if suspect.experiment is Experiment.EFFECT:
        return any(_has_effect(suspect, call) for number, call in enumerate(calls) if number not in compiling)
    if suspect.experiment is Experiment.DRAW:
        results = [call["result"] for call in calls if "result" in call]
        same = len({str(call.get("inputs")) for call in calls}) < len(calls)
        return same and any(difference(results[0], other) is not None for other in results[1:])
    return not suspect.has(Trait.BRANCHES) or suspect.marker not in _BY_ARGUMENTS


def streams_of(suspect: Suspect) -> frozenset[str]:
    """The streams to which what a finding is about may be written."""
    output = suspect.output or Output.ANYWHERE
    return frozenset(stream for part, stream in _STREAMS.items() if part in output)


def is_named(suspect: Suspect, stream: str) -> bool:
    """Whether a finding is about this stream, and not about anything that may be written anywhere."""
    streams = streams_of(suspect)
    return stream in streams and len(streams) < len(_STREAMS)


def moved_before(calls: Sequence[Mapping[str, Any]], index: int) -> set[str]:
    """What changed since a call's predecessor began: a function may itself advance what it reads."""
    earlier: Iterable[str] = calls[index - 1].get("state", ()) if index else ()
    between: Iterable[str] = calls[index].get("between", ())
    return {path for path in (*between, *earlier) if not path.startswith("<random")}


def unmoved(calls: Sequence[Mapping[str, Any]], index: int) -> bool:
    """Whether a call computes what the one before it did, from the same arguments: whatever changed did not matter."""
    pair = calls[index - 1 : index + 1] if index else ()
    return len(pair) == 2 and _alike(*pair) and difference(pair[0]["result"], pair[1]["result"]) is None


def _alike(before: Mapping[str, Any], call: Mapping[str, Any]) -> bool:
    """Whether two calls, which both have a result, are of the same region with the same arguments."""
    same = all(before.get(name) == call.get(name) for name in ("region", "line", "inputs"))
    return same and "result" in before and "result" in call


def changed(suspect: Suspect, moved: Iterable[str]) -> bool:
    """Whether the subject of a finding is among the paths that changed."""
    subject = suspect.subject
    if subject is not None and subject.origin == ENVIRONMENT:
        return VARIABLES in moved
    paths = [path for path in moved if not path.startswith("<random") and not path.startswith("<NumPy")]
    if subject is None:
        return bool(paths)
    if subject.origin in {"global", "cell"}:
        paths = [path for path in paths if subject.name in _SEGMENTS.split(path)]
    key = _last_key(suspect)
    return any(_leads_through(path, key) for path in paths)


def touched(suspect: Suspect, moved: Iterable[str]) -> bool:
    """Whether something of the variable changed, though it may not be what the finding is about."""
    subject = suspect.subject
    return subject is not None and changed(suspect._replace(subject=subject._replace(path=())), moved)


def _last_key(suspect: Suspect) -> str:
    """The last constant step to the subject of a finding: `.scale`, `['w']`; empty where there is none."""
    path = suspect.subject.path if suspect.subject is not None else ()
    return next((step.replace('"', "'") for step in reversed(path) if step not in {"~", "[]"}), "")


def _leads_through(path: str, key: str) -> bool:
    """Whether a step is one of a path: `.p` is none of `net.proj.weight`."""
    return not key or re.search(re.escape(key) + r"(?=$|[.\[])", path.replace('"', "'")) is not None


def _reacts(suspect: Suspect, calls: Sequence[Mapping[str, Any]], index: int) -> bool:
    """Whether a call computes something else after the subject changed, from the same arguments."""
    before, call = calls[index - 1], calls[index]
    moved = _alike(before, call) and changed(suspect, moved_before(calls, index))
    return moved and difference(before["result"], call["result"]) is not None


def _has_effect(suspect: Suspect, call: Mapping[str, Any]) -> bool:
    moved = {path for path in call.get("state", {}) if not path.startswith("<random")}
    before, after = call.get("inputs", {}), call.get("arguments", {})
    written = {path for path in {**before, **after} if before.get(path) != after.get(path)}
    if suspect.subject is not None and suspect.subject.origin in {"global", "cell"}:
        return changed(suspect, moved)
    if suspect.has(Trait.WRITES_ARGUMENTS) and _last_key(suspect):
        return changed(suspect, moved | written)
    if suspect.has(Trait.TELLS):
        lines = {(path, line) for _, _, path, line in call.get("events", ())}
        return any(call.get(stream) for stream in streams_of(suspect)) or not suspect.places.isdisjoint(lines)
    told = call.get("out") or call.get("err") or call.get("log") or call.get("events")
    return bool(told or moved or written)
