"""Expressions as the steps that lead from a name: `a.b["k"]` is `a`, `.b`, `['k']`, as places of the program are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What leads from a name, or from a value, to something.
Steps: TypeAlias = "tuple[str, ...]"
#: The step to an entry whose key is not known.
ANY_ENTRY = "[]"
#: The step to each of what a loop over something takes out of it: of a dictionary a key.
EACH = "[*]"
#: Step to an attribute whose name is not known.
ANY_ATTRIBUTE = "...."


def steps_of(node: ast.AST) -> tuple[str, ...]:
    """`a.b["k"].c` as `a`, `.b`, `['k']`, `.c`, and `vars(a)["b"]` as `a`, `.b`; empty if the root is not a name."""
    steps: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        member = member_of(node)
        if member is not None:
            node, name = member
            steps.append(f".{name}")
            continue
        if not (isinstance(node, ast.Attribute) and node.attr == "__dict__"):
            steps.append(f".{node.attr}" if isinstance(node, ast.Attribute) else entry(node.slice))
        node = node.value
    if isinstance(node, ast.Call) and _is_vars(node):
        return (*steps_of(node.args[0]), *reversed(steps))
    return (node.id, *reversed(steps)) if isinstance(node, ast.Name) else ()


def expression_of(name: str, steps: Sequence[str]) -> ast.expr | None:
    """The expression that takes some steps from a name; None where one of them is not known."""
    known = ANY_ENTRY not in steps and ANY_ATTRIBUTE not in steps
    return ast.parse("".join((name, *steps)), mode="eval").body if known else None


def entry(key: ast.expr) -> str:
    """The step to the entry of a key: `['k']`, or that to any entry."""
    if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub) and isinstance(key.operand, ast.Constant):
        return f"[-{key.operand.value!r}]"
    return f"[{key.value!r}]" if isinstance(key, ast.Constant) else ANY_ENTRY


def member_of(node: ast.AST) -> tuple[ast.expr, str] | None:
    """The object and name that `vars(a)["b"]` or `a.__dict__["b"]` mean."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    base, name = node.value, str(node.slice.value)
    if isinstance(base, ast.Attribute) and base.attr == "__dict__":
        return base.value, name
    return (base.args[0], name) if isinstance(base, ast.Call) and _is_vars(base) else None


def is_namespace(node: ast.AST) -> bool:
    """Whether an expression is the dict that holds attributes: `a.__dict__`, `vars(a)`."""
    return namespace_of(node) is not None


def namespace_of(node: ast.AST) -> ast.expr | None:
    """The object whose attributes a dict holds: `a` of `a.__dict__` and `vars(a)`."""
    if isinstance(node, ast.Call):
        return node.args[0] if _is_vars(node) else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "__dict__" else None


def _is_vars(node: ast.Call) -> bool:
    return getattr(node.func, "id", "") == "vars" and len(node.args) == 1


def may_meet(written: Sequence[str], read: Sequence[str]) -> bool:
    """Whether what is reached by one row of steps may be, hold, or be held by what is reached by another."""
    for one, other in zip(written, read, strict=False):
        same_sort = one[:1] == other[:1]
        if one == other or not same_sort or (one[:1] == "[" and ANY_ENTRY in (one, other)):
            continue
        if ANY_ATTRIBUTE in (one, other):
            continue
        if one.startswith("[-") or other.startswith("[-"):
            continue  # counted from the end: may be any
        return False
    return True


def rebuilt(statement: ast.Assign) -> tuple[str, ...]:
    """The steps of what an assignment computes anew from what it held: `n = n + 1`, `d["k"] = d.get("k", 0) + 1`.

    Empty for other assignments.
    """
    steps = steps_of(statement.targets[0]) if len(statement.targets) == 1 else ()
    if not steps or isinstance(statement.value, (ast.Constant, ast.Name)):
        return ()
    roots = (inner.id for inner in walk(statement.value) if isinstance(inner, ast.Name))
    return steps if steps[0] in roots else ()
