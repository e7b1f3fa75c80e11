"""What a program does between calls of regions, which experiments leave out where only results of calls matter.

With CUDA graphs it does matter: where a result is kept, and that gradients are cleared, which are memory of an earlier
backward graph.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.confirm.slices import bound, loaded, slice_for, statements_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from nonstrict.confirm.drivers import Driver
    from nonstrict.confirm.programs import Program, Schedule

#: Methods of optimizers, of what scales losses, and of modules.
_STEPS = frozenset({"zero_grad", "step", "update", "unscale_", "scale"})


def with_training(program: Program, schedule: Schedule, places: Collection[tuple[str, int]]) -> Schedule:
    """The schedule with what its driver leaves out at some places, the steps of an optimizer, and what these need."""
    program = schedule.program or program
    own = frozenset(line for path, line in places if path == program.path)
    return schedule._replace(driver=_trained(program, schedule.driver, own))


def _trained(program: Program, driver: Driver, lines: frozenset[int]) -> Driver:
    left_out = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in driver.dropped
    ]
    back = [node for node in left_out if _is_step(node) or not lines.isdisjoint(_lines_of(node))]
    names = {name for node in back for name in loaded(node)}
    while more := [node for node in left_out if node not in back and set(bound(node)) & names]:
        back += more
        names |= {name for node in more for name in loaded(node)}
    places = {(node.lineno, node.col_offset) for node in back}
    kept = slice_for(statements_of(program.tree), names).kept if back else frozenset[int]()
    return driver._replace(kept=driver.kept | kept, dropped=driver.dropped - places)


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_step(node: ast.stmt) -> bool:
    """Whether a statement calls a method by which optimizers are known."""
    called = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(isinstance(function, ast.Attribute) and function.attr in _STEPS for function in called)
