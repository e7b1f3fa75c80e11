"""Modules of torch in regions: layers that Dynamo refuses, and what a compiled `Sequential` consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program import held_modules
from nonstrict.program.marks import marking
from nonstrict.program.regions import breaks
from nonstrict.program.values import NONE, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame

#: Dynamo refuses these as soon as it wraps one; their cells (`LSTMCell`) it traces.
_REFUSED = {"RNN": "rnn-call", "LSTM": "lstm-call", "GRU": "gru-call"}


def called(frame: Frame, node: ast.AST, module: Value) -> None:
    """A module whose `forward` is torch's is called in a region, and with it what it consists of."""
    for part in (module, *held_modules.called(module)):
        construct = _REFUSED.get(held_modules.name_of(part))
        if construct is not None:
            breaks.statement(frame, node, construct)
            return


def compiled(frame: Frame, node: ast.AST, name: str, target: Value, keywords: dict[str, Value]) -> Value:
    """`torch.compile` is given a module: its regions, those of what a `Sequential` consists of among them."""
    modules = [module for module in target.alternatives() if module.kind is Kind.MODULE]
    for module in [] if is_switched_off(keywords) else modules:
        for part in (module, *held_modules.called(module)):
            marking.note_region(frame, node, name, part, keywords)
    return NONE


def is_switched_off(keywords: dict[str, Value]) -> bool:
    """Whether `torch.compile` is told to leave alone what it is given."""
    return keywords.get("disable", UNKNOWN).const is True
