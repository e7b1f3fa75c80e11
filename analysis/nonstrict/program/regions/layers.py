"""Modules of torch in regions: layers that Dynamo refuses, and what a compiled `Sequential` consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program import classes
from nonstrict.program.marks import marking
from nonstrict.program.regions import breaks
from nonstrict.program.values import NONE, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nonstrict.program.frames import Frame

#: Dynamo refuses these as soon as it wraps one; their cells (`LSTMCell`) it traces.
_REFUSED = {"RNN": "rnn-call", "LSTM": "lstm-call", "GRU": "gru-call"}
_MAX_DEPTH = 4


def called(frame: Frame, node: ast.AST, module: Value) -> None:
    """A module whose `forward` is torch's is called in a region, and with it what it consists of."""
    for part in (module, *parts(module)):
        construct = _REFUSED.get(_name(part))
        if construct is not None:
            breaks.statement(frame, node, construct)
            return


def parts(module: Value, depth: int = 0) -> Iterator[Value]:
    """The modules that calling a `Sequential` calls, those of inner ones among them; none of any other module.

    What may not be there, or is one of several, is left out.
    """
    held = classes.as_inherited(module) if module.kind is Kind.MODULE else module
    if _name(held) != "Sequential" or held.heap is None or depth > _MAX_DEPTH:
        return
    for child in held.heap.members():
        if child.kind is Kind.MODULE:
            yield child
            yield from parts(child, depth + 1)


def compiled(frame: Frame, node: ast.AST, name: str, target: Value, keywords: dict[str, Value]) -> Value:
    """`torch.compile` is given a module: its regions, those of what a `Sequential` consists of among them."""
    modules = [module for module in target.alternatives() if module.kind is Kind.MODULE]
    for module in [] if is_switched_off(keywords) else modules:
        for part in (module, *parts(module)):
            marking.note_region(frame, node, name, part, keywords)
    return NONE


def is_switched_off(keywords: dict[str, Value]) -> bool:
    """Whether `torch.compile` is told to leave alone what it is given."""
    return keywords.get("disable", UNKNOWN).const is True


def _name(module: Value) -> str:
    """The class of a module of torch; "" for those of the program."""
    known = module.kind is Kind.MODULE and isinstance(module.ref, str) and module.ref.startswith("torch.nn.")
    return module.ref.rpartition(".")[2] if known else ""
