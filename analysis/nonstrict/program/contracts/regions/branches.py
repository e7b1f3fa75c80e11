"""Functions that become graphs of their own in regions: branches of `torch.cond`, and what is checkpointed.

From such a graph nothing outside it can be changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Change, Construct, Event
from nonstrict.facts import save_restore
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, Summary, observed
from nonstrict.program.domain.values import CALLABLES, NO_CONSTANT, TENSORS, Flag, Kind, Value
from nonstrict.program.externals import functional_calls
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from nonstrict.events import How


class _Constructs(NamedTuple):
    """What the table calls the changes that a body makes, by how: an attribute that holds a tensor, and a container."""

    of: dict[How | None, str]
    otherwise: str
    of_tensor: str = ""


_BRANCH = _Constructs(
    {Change.ATTRIBUTE: "cond-branch-attribute", Change.NAME: "cond-branch-global"}, "cond-branch-append"
)
_CHECKPOINTED = _Constructs(
    {Change.ATTRIBUTE: "checkpoint-attribute", Change.NAME: "checkpoint-global"},
    "checkpoint-append",
    "checkpoint-attribute-tensor",
)
_CHANGING = (Event.WRITE, Event.LEAK)
#: Modes are set to what they are already, as a rule.
_MODES = frozenset({"train", "eval"})
#: The module that is run, seen from inside: as if it were the one that is compiled.
_RECEIVER = AccessPath(Root.ARGUMENT, "", "self")


class Changed(NamedTuple):
    """What the table calls a change of what lives outside, and where: None for the call that makes the graph."""

    construct: str
    inside: Observed | None


def changed(
    frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> Changed | None:
    """What a function changes that a call turns into a graph of its own; None if it is not known to, or no such call.

    A predicate that is a number is decided while tracing, and its branch is traced like any function.
    """
    if name == functional_calls.CHECKPOINT and positional:
        options = functional_calls.given_to_body(keywords)
        return _changed_by(frame, node, positional[0], positional[1:], options, _CHECKPOINTED)
    if name != "torch.cond" or len(positional) != 4 or not _is_open(positional[0]):
        return None
    operands = positional[3].heap
    given = list(operands.items.values()) if positional[3].kind in (Kind.TUPLE, Kind.LIST) and operands else []
    for branch in positional[1:3]:
        found = _changed_by(frame, node, branch, given, {}, _BRANCH)
        if found is not None:
            return found
    return None


def _is_open(predicate: Value) -> bool:
    return predicate.kind in TENSORS and not predicate.flags & Flag.LITERAL


def _changed_by(
    frame: Frame,
    node: ast.AST,
    body: Value,
    given: Sequence[Value],
    keywords: dict[str, Value],
    constructs: _Constructs,
) -> Changed | None:
    """How a body changes what lives outside it; None if it is not known to.

    Only at the end it is asked whether attributes that hold numbers and the like are what they were.
    """
    if body.kind is Kind.MODULE:
        body = body.at(_RECEIVER) if body.place.captured else body
    elif body.kind not in CALLABLES:
        return None
    summary = Summary("body")
    inner = Frame(frame.machine, frame.module, frame.offset, summary, caller=frame)
    inner.scope, inner.env, inner.function = frame.scope, frame.env, frame.function
    inner.sealed = inner
    frame.machine.call(inner, node, body, given, keywords)
    for seen in observed(summary):
        effect = seen.effect
        if effect.event not in _CHANGING or effect.what in _MODES or not _is_sure(seen) or _is_taken_back(seen):
            continue
        attribute = effect.how is Change.ATTRIBUTE
        at_the_end = attribute and effect.event is Event.WRITE
        if at_the_end and _stays(body, effect):
            continue
        known = constructs.of_tensor if attribute and not at_the_end else constructs.of.get(effect.how)
        return Changed(known or constructs.otherwise, None if at_the_end else seen)
    return None


def _is_sure(seen: Observed) -> bool:
    return not seen.effect.conditional and not any(edge.conditional for edge in seen.chain)


def _is_taken_back(seen: Observed) -> bool:
    """Whether a function puts back what it changes."""
    definition = seen.chain[-1].summary.definition if seen.chain else None
    return definition is not None and seen.effect.node in save_restore.restored(definition.node)


def _stays(body: Value, effect: Effect) -> bool:
    """Whether an attribute is set to the constant that it always holds."""
    receiver = body.bound.receiver if body.bound is not None else body
    place, steps = receiver.place, len(receiver.place.path)
    if effect.place[:3] != place[:3] or effect.place.path[:steps] != place.path:
        return False
    held: Value | None = receiver
    for step in effect.place.path[steps:]:
        held = held.heap.step(step) if held is not None and held.heap is not None else None
    return held is not None and held.const is not NO_CONSTANT


def told(seen: Observed, key: str) -> Observed:
    """A change, as the construct that breaks the graph there."""
    effect = seen.effect
    broken = Effect(
        Event.BREAK, effect.path, effect.offset, effect.node, what=key, how=Construct.LISTED, strict=effect.strict
    )
    return seen._replace(effect=broken)
