"""Modules of torch in regions: layers that Dynamo refuses, and what a compiled `Sequential` consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program import classes, held_modules
from nonstrict.program.marks import compiling, marking
from nonstrict.program.regions import breaks
from nonstrict.program.values import NONE, Kind, Value

if TYPE_CHECKING:
    import ast

    from nonstrict.program.frames import Frame

#: Dynamo refuses these, and what derives from them, as soon as it wraps one; their cells (`LSTMCell`) it traces.
_REFUSED = {"RNN": "rnn-call", "LSTM": "lstm-call", "GRU": "gru-call"}


def called(frame: Frame, node: ast.AST, module: Value) -> None:
    """A module is called in a region, and with it what it consists of."""
    for part in (module, *held_modules.called(module)):
        construct = _refused(part)
        if construct is not None:
            breaks.statement(frame, node, construct, part.place)
            return


def read(frame: Frame, node: ast.AST, base: Value) -> None:
    """An attribute of a module is read in a region: of one that Dynamo refuses, it sees none."""
    construct = _refused(base) if frame.region else None
    if construct is not None:
        breaks.statement(frame, node, construct, base.place)


def _refused(module: Value) -> str | None:
    held = classes.as_inherited(module) if module.kind is Kind.MODULE else module
    return _REFUSED.get(held_modules.name_of(held))


def compiled(frame: Frame, node: ast.AST, target: Value, keywords: dict[str, Value]) -> Value:
    """`torch.compile` is given a module: its regions, those of what a `Sequential` consists of among them."""
    modules = [module for module in target.alternatives() if module.kind is Kind.MODULE]
    told = compiling.options(keywords)
    for module in modules:
        for part in (module, *held_modules.called(module)):
            marking.note_region(frame, node, part, told)
    return NONE
