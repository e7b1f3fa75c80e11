"""Modules of torch in regions: layers that Dynamo refuses, and what a compiled `Sequential` consists of."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from nonstrict.program.contracts.marks import bound_later, compiling, marking
from nonstrict.program.contracts.regions import breaks, compilations
from nonstrict.program.domain.values import Kind, Value, join
from nonstrict.program.externals import held_modules
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import CompileOptions
    from nonstrict.program.state.frames import Frame

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
    construct = _refused(base)
    if construct is not None:
        breaks.statement(frame, node, construct, base.place)


def is_choice(alternatives: Sequence[Value]) -> bool:
    """Whether some of the things that a value may be are refused, and others are not."""
    refused = [_refused(one) is not None for one in alternatives if one.kind is not Kind.NONE]
    return any(refused) and not all(refused)


def is_refused(module: Value) -> bool:
    """Whether Dynamo refuses a module."""
    return _refused(module) is not None


def is_of_torch(target: Value) -> bool:
    """Whether a module does what its class of torch does, and Dynamo traces it."""
    if target.kind is not Kind.MODULE or not target.dotted or held_modules.may_call_others(target):
        return False
    return not any(map(is_refused, (target, *held_modules.called(target))))


def _refused(module: Value) -> str | None:
    held = classes.as_inherited(module) if module.kind is Kind.MODULE else module
    return _REFUSED.get(held_modules.name_of(held))


def compile_called(frame: Frame, node: ast.AST, receiver: Value, keywords: dict[str, Value]) -> None:
    """A method `compile` is called: of a module, or of what may be anything, or is not there yet."""
    if receiver.kind is Kind.MODULE:
        _compiled_in_place(frame, node, receiver, keywords)
        return
    if not frame.static or not compilations.may_be_of_module(frame, node):
        return
    later = bound_later.held(frame, receiver)
    modules = [one for one in later.alternatives() if one.kind is Kind.MODULE] if later is not None else []
    if modules:
        _compiled_in_place(frame, node, reduce(join, modules), keywords)
    elif receiver.kind is Kind.UNKNOWN or _is_inherited(receiver):
        marking.note_open(frame, receiver)
        compilations.open_to(frame, node, receiver)


def _compiled_in_place(frame: Frame, node: ast.AST, module: Value, keywords: dict[str, Value]) -> None:
    options = compiling.options(keywords)
    if options.disable is not True:
        compilations.in_place(frame, node, module)
    compiled(frame, node, module, options)


def _is_inherited(receiver: Value) -> bool:
    """Whether it is an attribute of an object of the program that a class elsewhere may bind, or a part of one."""
    while receiver.external_method is not None:
        receiver = receiver.external_method.receiver
        if receiver.kind in (Kind.OBJECT, Kind.MODULE):
            return True
    return False


def compiled(frame: Frame, node: ast.AST, target: Value, options: CompileOptions, *, wraps: bool = False) -> None:
    """A module is compiled, in place or in a wrapper: its regions are those of what a `Sequential` consists of, too."""
    for module in target.alternatives():
        for part in (module, *held_modules.called(module)) if module.kind is Kind.MODULE else ():
            marking.note_region(frame, node, part, options, wraps=wraps and part is module)
