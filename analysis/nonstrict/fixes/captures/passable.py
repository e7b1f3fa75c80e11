"""What can be passed to a marked function: values that torch takes as arguments, under names that can be parameters."""

from __future__ import annotations

import ast
import keyword
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import BASE_MODULE, rebinds
from nonstrict.program.contracts.boundary.pytree_support import Boundary
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.values import NO_CONSTANT, Kind
from nonstrict.program.externals.functional_calls import mode_dependent
from nonstrict.program.objects.classes import external_bases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.program.domain.values import Value

#: Markers of functions whose arguments are inputs of the graph, and whose callers alone pass them.
MARKERS = frozenset({"nonstrict", "in-graph"})
#: Values of which is known what torch does with them as arguments.
_PASSED = frozenset(
    {
        *(Kind.TENSOR, Kind.PARAMETER, Kind.MODULE, Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.SETTING, Kind.SIZE),
        *(Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.OBJECT, Kind.NONE),
    }
)
_TYPES = {
    Kind.TENSOR: "torch.Tensor",
    Kind.PARAMETER: "torch.nn.Parameter",
    Kind.MODULE: BASE_MODULE,
    Kind.BOOL: "bool",
    Kind.STRING: "str",
}
_WRITES = (Event.WRITE, Event.LEAK, Event.REBIND_DATA)
_EVENTS = (Event.READ, Event.TENSOR_WRITE, Event.ATTRIBUTE, Event.MODE)


def subject_of(context: Context) -> Observed | None:
    """The effect of a finding: of several at its expression the one on the state that it is about."""
    finding = context.finding
    about = finding.cause.subject if finding.cause is not None else None
    for seen in context.body.observed(*_EVENTS) if about is not None else ():
        if seen.effect.subject == about and seen.effect.span == finding.span and not seen.in_hook:
            return seen
    return None


def is_accepted(context: Context, value: Value) -> bool:
    """Whether torch takes a value, unless it is None, as an argument; not if nothing is known of it."""
    known = [one for one in value.alternatives() if one.kind is not Kind.NONE]
    if any(one.kind not in _PASSED for one in known):
        return False
    judge = Boundary(context.machine, context.body.marker, context.body.torch)
    return all(judge.argument(one) is None and not _is_integer_enum(one) for one in known)


def _is_integer_enum(value: Value) -> bool:
    """Whether a value is a member of an `IntEnum`, which arrives as a plain number (NST505)."""
    bases = external_bases(value.ref) if isinstance(value.ref, Class) and value.kind is Kind.SETTING else set[str]()
    return not bases.isdisjoint({"enum.IntEnum", "enum.IntFlag", "builtins.int"})


def may_be_none(context: Context, value: Value) -> bool:
    """Whether a value may be None where torch does not take that."""
    judge = Boundary(context.machine, context.body.marker, context.body.torch)
    return not judge.none_allowed and any(one.kind is Kind.NONE for one in value.alternatives())


def is_written(context: Context, place: AccessPath) -> bool:
    """Whether something in the body writes the state: a parameter would not see it, or be written instead."""
    written = [seen.effect.place for seen in context.body.observed(*_WRITES)]
    changed = (seen.effect for seen in context.body.observed(Event.TENSOR_WRITE))
    written += [effect.place for effect in changed if _changes_metadata(effect)]
    return any(other[:3] == place[:3] and _meet(other.path, place.path) for other in written)


def _changes_metadata(effect: Effect) -> bool:
    """Whether a tensor becomes another one in place, which does not reach the tensor that is passed (NST208)."""
    return isinstance(effect.node, ast.Attribute) or rebinds(effect.what.strip("`"))


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return all(left == right for left, right in zip(one, other, strict=False))


def depends_on_mode(module: Value, depth: int = 4) -> bool:
    """Whether what a module computes depends on its mode, as far as its class and its parts tell."""
    if mode_dependent(module):
        return True
    if isinstance(module.ref, Class) and any(last_name(node) == "training" for node in ast.walk(module.ref.node)):
        return True
    held = (*module.heap.attributes.values(), *module.heap.items.values()) if module.heap is not None else ()
    parts = (one for value in held for one in value.alternatives() if one.kind is Kind.MODULE)
    return depth > 0 and any(depends_on_mode(one, depth - 1) for one in parts)


def annotation_of(value: Value) -> str:
    """The dotted name of the type of a value; "" if it is not known."""
    kinds = {alternative.kind for alternative in value.alternatives()}
    if len(kinds) != 1:
        return ""
    kind = kinds.pop()
    if kind is Kind.NUMBER:
        return type(value.const).__name__ if value.const is not NO_CONSTANT else ""
    return _TYPES.get(kind, "")


def usable(name: str) -> Iterator[str]:
    """A name, if it can be one."""
    if name.isidentifier() and not keyword.iskeyword(name) and name not in ("self", "cls", "_"):
        yield name
