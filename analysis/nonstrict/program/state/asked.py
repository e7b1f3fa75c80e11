"""What a condition is made of: several questions are asked before a branch is chosen, and each part is evaluated once.

Whether the compiler traces, whether the outcome is settled, what the condition reads: all of them ask for the values of
the same few expressions. A value is kept as long as the variables are the same.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import children, walk

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value

#: Of these what is directly inside is evaluated once, with the variables of the whole: not so in a comprehension.
_PLAIN = (ast.Call, ast.Compare, ast.Attribute, ast.Subscript)
_PARTS = (ast.Call, ast.Attribute, ast.Subscript)
#: By the parts of a condition, the variables that one was evaluated with, and its value.
Asked = dict[ast.AST, tuple[dict[str, "Value"], "Value"] | None]


def about(test: ast.expr) -> Asked:
    """The parts of a condition, none evaluated yet; none at all where evaluating one binds a variable."""
    return dict.fromkeys(remembered(test, "_nonstrict_condition_parts", _parts))


def _parts(test: ast.expr) -> tuple[ast.expr, ...]:
    if any(isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for node in walk(test)):
        return ()
    leaves, found = [test], list[ast.expr]()
    while leaves:
        node = leaves.pop()
        if isinstance(node, ast.BoolOp):
            leaves += node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            leaves.append(node.operand)
        elif not isinstance(node, ast.Constant):
            found.append(node)
            inside = children(node) if isinstance(node, _PLAIN) else ()
            found += (one for one in inside if isinstance(one, _PARTS))
    return tuple(found)
