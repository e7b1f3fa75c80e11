"""Pass the mode or an attribute of a module argument that something below reads: a layer, the `forward` of a module.

What reads it does so still. Its callers read it too, and what a region reads is guarded: torch compiles once for each
value (measured on torch 2.13.0). Dropout is called as a function instead, where the flag is an argument.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.captures.attributes import AttributePassing, pass_attribute
from nonstrict.fixes.captures.passable import MARKERS, annotation_of, is_accepted, is_written, subject_of, usable
from nonstrict.fixes.captures.switches import is_switched_alone, is_switched_in_part, word
from nonstrict.fixes.code.edits import at_top_of_body, replaced
from nonstrict.fixes.code.lists import arguments_of
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.uses.signatures import Extended, together
from nonstrict.fixes.uses.spots import chain, root_of, step
from nonstrict.knowledge.operators import nn_module
from nonstrict.program.domain.access_paths import VIEW, Root
from nonstrict.program.domain.values import BOOL, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.signatures import Change
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed

_MODE = ".training"
#: Values that torch guards also where a marked function does not use them; numbers only as attributes of modules.
_GUARDED = frozenset({Kind.BOOL, Kind.STRING, Kind.SETTING, Kind.NUMBER})
#: More flags than this are a design of their own.
_MAX_FLAGS = 3


class _Flag(NamedTuple):
    """What is passed: the parameter of the marked function that it is of, and the steps from it."""

    parameter: str
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """The expression that the function could write."""
        return self.parameter + "".join(self.steps)


def pass_flag(context: Context) -> Iterator[Fix]:
    """Pass the mode or an attribute of a module argument: to where it is read, or where torch then guards it.

    What the `forward` of a module reads of it stays there if it can.
    """
    seen = subject_of(context)
    document = context.documents.document(seen.effect.path) if seen is not None else None
    node = document.at(seen.effect.span, ast.AST) if seen is not None and document is not None else None
    function = document.function(node) if document is not None and node is not None else None
    ways = [pass_attribute, _pass_guarded]
    if getattr(function, "name", "") == "forward":
        ways.reverse()
    yield from next((found for way in ways if (found := list(way(context)))), ())


def _pass_guarded(context: Context) -> Iterator[Fix]:
    """Pass what decides in a layer or in another function, as an argument of the marked function."""
    seen = subject_of(context)
    if seen is None or context.body.marker not in MARKERS or seen.effect.place.root is not Root.ARGUMENT:
        return
    if seen.effect.event is Event.MODE and not any(site.compiled for site in context.body.sites):
        return  # it is the region that guards what it reads
    function = context.body.mark.function
    found = context.definition(function) if function is not None else None
    flags, value = _flags(context, seen)
    if found is None or not flags or not is_accepted(context, value):
        return
    edits = _edits(context, Extended(*found), flags, value)
    if edits is not None:
        title = " and ".join(f"`{flag.text}`" for flag in flags)
        yield Fix(f"Pass {title} as {'an argument' if len(flags) == 1 else 'arguments'}", Applicability.UNSAFE, edits)


# -- what is passed ---------------------------------------------------------------------------------------------------


def _flags(context: Context, seen: Observed) -> tuple[list[_Flag], Value]:
    """What has to be passed for a finding, and what it is; nothing if it cannot be told."""
    effect = seen.effect
    if effect.event is Event.MODE:
        return _modes(context), BOOL
    steps = tuple(one for one in effect.place.path if one != VIEW)
    kinds = {one.kind for one in effect.value.alternatives()}
    if effect.event is not Event.ATTRIBUTE or not kinds <= _GUARDED or is_written(context, effect.place):
        return [], BOOL
    is_guarded = Kind.NUMBER not in kinds or _is_module(context, effect.place.name, steps[:-1])
    return ([_Flag(effect.place.name, steps)] if _is_plain(steps) and is_guarded else []), effect.value


def _modes(context: Context) -> list[_Flag]:
    """The modes that decide: for each argument that of the layer, or of the module that holds all of its layers.

    Where the project switches a layer by itself, the mode of each layer.
    """
    effects = sorted((seen.effect for seen in context.body.observed(Event.MODE)), key=lambda effect: effect.span)
    observed = (effect.place for effect in effects if effect.place.root is Root.ARGUMENT)
    places = list(dict.fromkeys(_module(context, place) for place in observed))
    order = list(context.body.arguments)
    known = sorted((place for place in places if place is not None), key=lambda place: order.index(place[0]))
    if len(known) < len(places) or not known:
        return []
    if any(_holds_layers(context, *place) and is_switched_in_part(context, place[1]) for place in known):
        return []
    apart = len(known) > 1 and any(is_switched_alone(context, steps) for _, steps in known)
    flags = [_Flag(name, (*steps, _MODE)) for name, steps in (known if apart else _holders(context, known))]
    return flags if len(flags) <= _MAX_FLAGS else []


def _module(context: Context, place: AccessPath) -> tuple[str, tuple[str, ...]] | None:
    """The innermost module at a place, or around it, that can be written; None if there is none."""
    steps = tuple(one for one in place.path if one != VIEW)
    for length in range(len(steps), -1, -1):
        if _is_plain(steps[:length]) and _is_module(context, place.name, steps[:length]):
            return place.name, steps[:length]
    return None


def _at(context: Context, name: str, steps: tuple[str, ...]) -> Value | None:
    """What some steps from an argument lead to."""
    value = context.body.arguments.get(name)
    for one in steps:
        value = value.heap.step(one) if value is not None and value.heap is not None else None
    return value


def _holds_layers(context: Context, name: str, steps: tuple[str, ...]) -> bool:
    """Whether the mode of a module is not all that decides in it, as it has parts with modes of their own."""
    value = _at(context, name, steps)
    known = nn_module(value.dotted) if value is not None and value.dotted else None
    return known is None or known.container


def _is_module(context: Context, name: str, steps: tuple[str, ...]) -> bool:
    value = _at(context, name, steps)
    return value is not None and all(alternative.kind is Kind.MODULE for alternative in value.alternatives())


def _is_plain(steps: tuple[str, ...]) -> bool:
    return all(one.startswith((".", "['", '["')) or one.strip("[]").isdecimal() for one in steps)


def _holders(context: Context, places: list[tuple[str, tuple[str, ...]]]) -> list[tuple[str, tuple[str, ...]]]:
    """For each argument the innermost module that holds all modules at some places of it."""
    found: dict[str, tuple[str, ...]] = {}
    for name, steps in places:
        known = found.setdefault(name, steps)
        while known != steps[: len(known)] or not _is_module(context, name, known):
            known = known[:-1]
        found[name] = known
    return list(found.items())


# -- the change -------------------------------------------------------------------------------------------------------


def _edits(context: Context, function: Extended, flags: list[_Flag], value: Value) -> tuple[Edit, ...] | None:
    """The edits that pass all flags; None if one cannot be passed."""
    found: list[Edit] = []
    unused: list[tuple[str, _Flag]] = []
    for flag in flags:
        names = [*usable(flag.steps[-1][1:]), *_longer(flag)] if len(flags) == 1 else list(_longer(flag))
        made = next((one for name in names if (one := _passed(context, function, flag, name, value)) is not None), None)
        if made is None:
            return None
        name, change, reads = made
        dropped = tuple(_dropped(context, function, flag, name))
        found += (*change.edits, *reads, *dropped)
        if not reads and not dropped:
            unused.append((name, flag))
    return together((*found, *_explained(function, unused)))


def _longer(flag: _Flag) -> Iterator[str]:
    """Names with that of the module."""
    words = [flag.parameter, *map(word, flag.steps)]
    yield from usable("_".join(words[-2:]))
    yield from usable("_".join(words))


def _passed(
    context: Context, function: Extended, flag: _Flag, name: str, value: Value
) -> tuple[str, Change, tuple[Edit, ...]] | None:
    """The change that passes a flag under a name, and the edits of what reads it in the functions that are changed."""
    passing = AttributePassing(context, name, annotation_of(value))
    change = passing.change_of(function, flag.parameter, flag.steps)
    reads = passing.reads(change) if change is not None else None
    return (name, change, reads) if change is not None and reads is not None else None


def _explained(function: Extended, unused: list[tuple[str, _Flag]]) -> Iterator[Edit]:
    """A comment on parameters that nothing uses."""
    if not unused or isinstance(function.node, ast.Lambda):
        return
    edit = at_top_of_body(function.document, function.node, [explained(name, flag.text) for name, flag in unused])
    if edit is not None:
        yield edit


def explained(name: str, text: str) -> str:
    """The comment on a parameter that nothing uses."""
    return f"# `{name}` is passed for torch.compile to guard `{text}`."


# -- layers that are functions of their mode --------------------------------------------------------------------------


def _dropped(context: Context, function: Extended, flag: _Flag, name: str) -> Iterator[Edit]:
    """The calls of dropout layers below the module of a flag, which get the flag."""
    if flag.steps[-1] != _MODE:
        return
    document = function.document
    for node in ast.walk(function.node):
        made = _as_function(context, function, node, flag) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and made:
            known = spelled(document, made)
            yield replaced(document, node.func, known.text)
            end = arguments_of(document, node).elements[-1].end
            text = f", {document.text(node.func)}.p, {name}"
            yield Edit(document.range(end, end), text)
            yield from known.edits


def _as_function(context: Context, function: Extended, call: ast.Call, flag: _Flag) -> str:
    """The function that a call of a dropout layer can be; "" if it is something else."""
    parts, root = chain(call.func), root_of(call.func)
    steps = tuple(step(part) for part in parts[1:])
    plain = len(call.args) == 1 and not isinstance(call.args[0], (ast.Starred, ast.GeneratorExp)) and not call.keywords
    if root is None or root.id != flag.parameter or not plain or flag.steps[:-1] != steps[: len(flag.steps) - 1]:
        return ""
    if function.document.function(call) is not function.node:
        return ""
    value = _at(context, root.id, steps)
    layer = nn_module(value.dotted) if value is not None and value.kind is Kind.MODULE else None
    return layer.drops if layer is not None and layer.drops and _never_in_place(context) else ""


def _never_in_place(context: Context) -> bool:
    """Whether no dropout layer of the project may change its input, as far as its texts tell."""
    documents = context.documents.uses.holding("Dropout")
    return documents is not None and not any("inplace" in document.code for document in documents)
