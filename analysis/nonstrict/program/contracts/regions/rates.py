"""Rates of optimizers that calls of a region pass: schedulers change them, and programs that set them themselves.

`optimizer.param_groups[0]["lr"]`, `group["lr"]` and `scheduler.get_last_lr()[0]`: numbers of which each has another
value after a scheduler's `step()`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.walk import walk
from nonstrict.program.interpret.rounds import MANY, SOME, holds, turns
from nonstrict.program.objects import classes, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.state.frames import Frame

_OPTIMIZERS, _SCHEDULERS = "torch.optim.", "torch.optim.lr_scheduler."
_RATE, _HELD, _GROUPS = "lr", "params", "param_groups"
#: Of a scheduler, what gives the rates.
_LAST = frozenset({"get_last_lr", "get_lr"})
#: Those with another rate after each of many steps, whatever they are told (`torch/optim/lr_scheduler.py` of 2.13).
_EACH = frozenset({"ExponentialLR", "CosineAnnealingLR", "OneCycleLR"})
_Loop = ast.For | ast.AsyncFor | ast.While


def number(calls: Iterable[Passing]) -> int:
    """How many rates calls pass; 0 where one of them passes something else, or nothing changes them."""
    given = list(calls)
    if not given or not all(one.expression is not None and _is_rate(one.frame, one.expression) for one in given):
        return 0
    return max(_changes(one) for one in given)


def are_parameters(frame: Frame, expression: ast.expr) -> bool:
    """Whether an expression is the list of parameters of a group of an optimizer: `group["params"]`."""
    around = naming.text_of(frame)
    made = source(around, expression)
    is_entry = isinstance(made, ast.Subscript) and isinstance(made.slice, ast.Constant) and made.slice.value == _HELD
    return is_entry and isinstance(made, ast.Subscript) and _is_group(frame, around, made.value)


def _is_rate(frame: Frame, expression: ast.expr) -> bool:
    """Whether an expression reads a rate of an optimizer of torch, or a variable that holds one."""
    around = naming.text_of(frame)
    expression = source(around, expression)
    if not isinstance(expression, ast.Subscript):
        return False
    if isinstance(expression.value, ast.Call):
        last = expression.value.func
        return isinstance(last, ast.Attribute) and last.attr in _LAST and _is_of(frame, last.value, _SCHEDULERS)
    is_entry = isinstance(expression.slice, ast.Constant) and expression.slice.value == _RATE
    return is_entry and _is_group(frame, around, expression.value)


def _is_group(frame: Frame, around: ast.AST, group: ast.expr) -> bool:
    """Whether an expression is one of the groups of parameters of an optimizer: by its position, or in a loop."""
    if isinstance(group, ast.Subscript):
        return _are_groups(frame, group.value)
    loops = (one for one in walk(around) if isinstance(one, (ast.For, ast.AsyncFor)) and holds(one.body, group))
    named = (one for one in loops if isinstance(one.target, ast.Name) and isinstance(group, ast.Name))
    return any(
        _are_groups(frame, one.iter) for one in named if getattr(one.target, "id", "") == getattr(group, "id", "")
    )


def _are_groups(frame: Frame, groups: ast.expr) -> bool:
    return isinstance(groups, ast.Attribute) and groups.attr == _GROUPS and _is_of(frame, groups.value, _OPTIMIZERS)


def _is_of(frame: Frame, holder: ast.expr, package: str) -> bool:
    held = frame.machine.evaluate(frame, holder)
    derived = classes.external_bases(held.of_class) if held.of_class is not None else frozenset[str]()
    return any(name.startswith(package) for name in (held.dotted, *derived))


def is_optimizer(frame: Frame, expression: ast.expr) -> bool:
    """Whether an expression is an optimizer of torch, and no scheduler."""
    name = frame.machine.evaluate(frame, expression).dotted
    return name.startswith(_OPTIMIZERS) and not name.startswith(_SCHEDULERS)


def set_in(frame: Frame, loop: _Loop) -> int:
    """How many rates a loop sets: as many as it runs, or a few."""
    return max((turns(frame, loop, MANY) if each else SOME for each in _set_in(frame, loop)), default=0)


def _changes(one: Passing) -> int:
    """How often the loops around a call change rates: as often as one runs, or a few times."""
    frame = one.frame
    around = naming.text_of(frame)
    loops = (loop for loop in walk(around) if isinstance(loop, _Loop) and holds(loop.body, one.node))
    return max((set_in(frame, loop) for loop in loops), default=0)


def _set_in(frame: Frame, loop: _Loop) -> Iterator[bool]:
    """What sets rates in a loop: whether it sets another one in each round."""
    for node in (inner for part in loop.body for inner in walk(part)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            scheduler = frame.machine.evaluate(frame, node.func.value).dotted
            if scheduler.startswith(_SCHEDULERS):
                yield scheduler.rpartition(".")[2] in _EACH
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (isinstance(node, ast.AugAssign) for target in targets if _is_rate(frame, target))
