"""What a call passes for which parameter, and what an expression of a function is in the words of the call."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, cast

from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import is_as_passed, scope_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.facts.scopes import FunctionNode


def passed(function: FunctionNode, call: ast.Call, bound: int) -> dict[str, ast.expr]:
    """The expressions that a call gives to the parameters of a function, of which the first ones are `bound` already.

    What is left out is its default, where that is a constant; of what is passed by `*` and `**` nothing is told.
    """
    arguments = function.args
    ordered = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    found = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    unpacked = any(isinstance(one, ast.Starred) for one in call.args)
    if not unpacked:
        found |= dict(zip(ordered[bound:], call.args, strict=False))
    if unpacked or any(keyword.arg is None for keyword in call.keywords):
        return found
    defaults = dict(zip(reversed(ordered), reversed(arguments.defaults), strict=False))
    named = (one.arg for one in arguments.kwonlyargs)
    defaults |= {name: one for name, one in zip(named, arguments.kw_defaults, strict=True) if one is not None}
    return {name: one for name, one in defaults.items() if isinstance(one, ast.Constant)} | found


def in_words_of(function: FunctionNode, expression: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr | None:
    """An expression of a function with what a call passes in place of the parameters; None where it has other names."""
    whole = source(function, expression)
    names = {node.id for node in walk(whole) if isinstance(node, ast.Name)}
    parameters = {name for name in names if is_as_passed(function, name)}
    plain = {name for name in names - parameters if hasattr(builtins, name) and name not in scope_of(function).local}
    if names != parameters | plain or not parameters <= given.keys():
        return None
    return _Replaced(given).visit(whole) if parameters else whole


def needs_parameters(function: FunctionNode, expression: ast.expr) -> bool:
    """Whether an expression of a function has parameters in it, as they were passed."""
    names = (node.id for node in walk(source(function, expression)) if isinstance(node, ast.Name))
    return any(is_as_passed(function, name) for name in names)


class _Replaced(ast.NodeTransformer):
    """Copies an expression, but for what stands in place of names: that is the node of the other text itself."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self._given = given

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The same node with other parts."""
        parts = {name: self._of(value) for name, value in ast.iter_fields(node)}
        return ast.copy_location(type(node)(**parts), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """What stands in place of a name."""
        return self._given.get(node.id, node)

    def _of(self, value: object) -> object:
        if isinstance(value, list):
            return [self._of(one) for one in cast("list[object]", value)]
        return self.visit(value) if isinstance(value, ast.AST) else value
