"""Regions that surely compute on the CPU: all tensors that their calls pass are made there, as far as the texts tell.

A tensor is made on the CPU where nothing says otherwise: no `device`, no default of the program's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.library_calls import called
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import calls
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.domain.values import PRIMITIVES, Kind
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: What says where tensors are made that are not told.
_DEFAULTS = ("set_default_device", "set_default_tensor_type")
_DEVICE = "torch.device"


def is_on_cpu(region: Interpreted) -> bool:
    """Whether calls of a region were seen, and all tensors that they pass are on the CPU."""
    passed = list(_passed(region))
    return bool(passed) and all(_is_made_there(*one) for one in passed) and not _has_default(region.machine)


def _passed(region: Interpreted) -> Iterator[tuple[Frame, ast.expr]]:
    """What calls pass that may be a tensor."""
    for frame, node, positional, keywords in calls.of(region):
        if not isinstance(node, ast.Call):
            continue
        named = {one.arg: one.value for one in node.keywords if one.arg is not None}
        given = [*zip(node.args, positional, strict=False)]
        given += [(named[name], value) for name, value in keywords.items() if name in named]
        yield from ((frame, one) for one, value in given if _may_be_tensor(value))


def _may_be_tensor(value: Value) -> bool:
    return any(one.kind is Kind.UNKNOWN or one.is_tensor for one in value.alternatives())


def _is_made_there(frame: Frame, expression: ast.expr) -> bool:
    making = made_by(frame, expression)
    made, names = making.expression, naming.names_at(making.frame)
    if not isinstance(made, ast.Call) or any(keyword.arg is None for keyword in made.keywords):
        return False
    evaluate = making.frame.machine.evaluate
    devices = [evaluate(making.frame, keyword.value) for keyword in made.keywords if keyword.arg == "device"]
    if any(one.const != "cpu" for one in devices):
        return False
    call = called(names, made)
    operator = call.operator
    if call.is_method or call.library != "torch" or operator is None or operator.returns != "tensor":
        return False
    of_numbers = all(evaluate(making.frame, one).kind in PRIMITIVES for one in made.args)
    return (operator.sized or operator.of_data or of_numbers) and not _is_within_device(making.frame, made)


def _is_within_device(frame: Frame, made: ast.AST) -> bool:
    """Whether something is made within `with torch.device(...)`."""
    names = naming.names_at(frame)
    blocks = (one for one in walk(naming.text_of(frame)) if isinstance(one, (ast.With, ast.AsyncWith)))
    return any(
        isinstance(item.context_expr, ast.Call) and names(item.context_expr.func) == _DEVICE
        for block in blocks
        for item in block.items
        if any(one is made for one in walk(block))
    )


def _has_default(machine: Machine) -> bool:
    return any(is_named(machine, one) for one in _DEFAULTS)
