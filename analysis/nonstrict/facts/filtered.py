"""Functions that keep every attribute of an object but those whose names begin in some way."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode

_VIEWS = frozenset({"keys", "items", "sorted", "list", "tuple"})


class Kept(NamedTuple):
    """The attributes that a function reads by name, and how the names begin of those that it leaves out."""

    names: frozenset[str]
    left_out: frozenset[str]

    def leaves_out(self, name: str) -> bool:
        """Whether an attribute is left out."""
        return name not in self.names and any(name.startswith(start) for start in self.left_out)


def kept(function: FunctionNode) -> Kept | None:
    """What a function keeps of its first parameter where it goes through all attributes; None if that is not known."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if not arguments:
        return None
    name = arguments[0].arg
    parents = {child: node for node in walk(function) for child in ast.iter_child_nodes(node)}
    names: set[str] = set()
    left_out: list[frozenset[str]] = []
    for node in walk(function):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        around = parents.get(node)
        if isinstance(around, ast.Attribute) and around.attr != "__dict__":
            names.add(around.attr)
        elif isinstance(around, ast.Call) and last_name(around) == "getattr" and around.args[0] is node:
            continue  # the names come from a filter that is looked at by itself
        else:
            left_out.append(_starts(around, parents))
    if not left_out or not all(left_out):
        return None
    return Kept(frozenset(names), left_out[0].intersection(*left_out))


def _starts(around: ast.AST | None, parents: dict[ast.AST, ast.AST]) -> frozenset[str]:
    """How the names begin that are filtered out of `vars(x)` or `x.__dict__`; none if that is not known."""
    if isinstance(around, ast.Call) and last_name(around) != "vars":
        return frozenset()
    source = around
    while source is not None and not isinstance(source, ast.comprehension):
        call = isinstance(source, ast.Call) and last_name(source) in {"vars", *_VIEWS}
        if not call and not isinstance(source, ast.Attribute):
            return frozenset()
        source = parents.get(source)
    if source is None or len(source.ifs) != 1:
        return frozenset()
    target = source.target.elts[0] if isinstance(source.target, ast.Tuple) else source.target
    return frozenset(_refused(source.ifs[0], getattr(target, "id", "")))


def _refused(test: ast.expr, name: str) -> Iterator[str]:
    """The starts of names that `not name.startswith(...)` refuses."""
    call = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    if not isinstance(call, ast.Call) or last_name(call) != "startswith" or len(call.args) != 1:
        return
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    given = call.args[0]
    if getattr(holder, "id", None) == name and isinstance(given, ast.Constant) and isinstance(given.value, str):
        yield given.value
