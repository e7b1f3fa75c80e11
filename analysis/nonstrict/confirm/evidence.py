"""The sentences of verdicts: what was seen, in which call, after what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.sensitivity import VARIABLES
from nonstrict.findings import ENVIRONMENT
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Divergence
    from nonstrict.findings import Outcome

_MAX_ERROR = 160
_MAX_CHANGES = 2


def sentence(divergence: Divergence, suspect: Suspect, eager: Mapping[str, Any], outcomes: Sequence[Outcome]) -> str:
    """A divergence as a sentence, with what changed before it; each backend by itself where they differ in kind."""
    told = _told(divergence)
    shown = ", with logging at DEBUG and every warning shown" if eager.get("logged") else ""
    whole = f"{told}{_changes(divergence, suspect, eager)}{shown}"
    if len({outcome.result for outcome in outcomes}) < 2:
        return whole
    # A captured tensor is stale on one backend and refused by another.
    parts = ((outcome.backend, whole if outcome.detail == told else outcome.detail) for outcome in outcomes)
    return "; ".join(f"{backend}: {text}" for backend, text in parts)


def short(divergence: Divergence) -> str:
    """A divergence in a few words, for one backend."""
    return _told(divergence)


def blocked(divergence: Divergence) -> str:
    """Which error stands in the way of an experiment."""
    return f"compilation stops before: {cut(divergence.compiled)}{_at(divergence)}"


def agreement(eager: Mapping[str, Any], backends: Sequence[str]) -> str:
    """Agreement as a sentence."""
    count = len(eager["calls"])
    return f"{count} call{'s' if count != 1 else ''} on {_joined(backends)} agree with eager"


def change_before(eager: Mapping[str, Any], index: int) -> str:
    """The last change that was made from outside before a call ended; empty if there was none."""
    calls = eager["calls"][: index + 1]
    return next((str(call["changed"]) for call in reversed(calls) if call.get("changed")), "")


def _told(divergence: Divergence) -> str:
    if divergence.channel is Channel.ERROR:
        if divergence.compiled == "no error":
            return f"eager raises {cut(divergence.eager)}, compiled does not"
        raised = f"eager raises {cut(divergence.eager)}; compiled " if divergence.eager != "no error" else ""
        return f"{raised}does not compile: {cut(divergence.compiled)}{_at(divergence)}"
    where = f"call {divergence.call + 1}"
    if divergence.channel is Channel.VALUES:
        return f"{where}: eager {divergence.eager}, compiled {divergence.compiled}"
    if divergence.channel is Channel.GRADIENTS:
        return f"gradient of `{divergence.paths[0]}`: eager {divergence.eager}, compiled {divergence.compiled}"
    if divergence.channel is Channel.OUTPUT:
        return f"{where}: eager wrote {divergence.eager}, compiled {divergence.compiled}"
    if divergence.channel is Channel.LEAK:
        return f"{where}: `{divergence.paths[0]}` holds a tensor of the tracer afterwards"
    if divergence.channel is Channel.EVENTS:
        return f"{where}: eager {divergence.eager}, compiled {divergence.compiled}{_at(divergence)}"
    name = divergence.paths[0].strip("<>") if divergence.paths else "state"
    return f"{where}: `{name}` in eager: {divergence.eager}; compiled: {divergence.compiled}"


def _changes(divergence: Divergence, suspect: Suspect, eager: Mapping[str, Any]) -> str:
    """The change of state that makes the difference, as the end of a sentence."""
    if divergence.channel not in {Channel.VALUES, Channel.GRADIENTS} or divergence.call >= len(eager["calls"]):
        return ""
    made = change_before(eager, divergence.call)
    if made:
        return f", after {made}"
    between = eager["calls"][divergence.call].get("between", {})
    names = [path for path in between if not path.startswith("<random") and not path.startswith("<NumPy")]
    subject = suspect.subject
    if subject is not None:
        steps = (VARIABLES,) if subject.origin == ENVIRONMENT else (subject.name, *subject.path)
        own = [path for path in names if any(step.strip(".") in path for step in steps)]
        names = own or names
    if not names:
        return ""
    return f", after {_joined([_change(path, between[path]) for path in names[:_MAX_CHANGES]])}"


def _change(path: str, pair: Sequence[str | None]) -> str:
    before, after = pair
    name = path.strip("<>")
    plain = [part.split(" ", 1) for part in (before, after) if part and part.split(" ", 1)[0] in _PLAIN and " " in part]
    if len(plain) == 2:
        return f"`{name}` changed from {plain[0][1]} to {plain[1][1]}"
    return f"`{name}` changed"


_PLAIN = frozenset({"int", "float", "bool", "str", "complex", "NoneType"})


def _at(divergence: Divergence) -> str:
    return f" (line {divergence.lines[-1][1]})" if divergence.lines else ""


def cut(text: str) -> str:
    """The beginning of a message of an error."""
    text = text.split("\n", 1)[0]
    return text if len(text) <= _MAX_ERROR else f"{text[:_MAX_ERROR]}..."


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(parts) if len(parts) <= 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
