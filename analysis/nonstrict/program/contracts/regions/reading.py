"""What expressions stand for in texts that no frame runs, as far as those and the module around them tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions.assigned import parts
from nonstrict.program.domain.values import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.texts import Root
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine


def texts(module: Module, words: Sequence[str]) -> Iterator[Root]:
    """The functions of a module in whose definition one of some words stands, and what stands outside of those."""
    for part, _ in parts(module, words):
        if isinstance(part, ast.Module):
            yield part
        yield from (one for one in walk(part) if isinstance(one, FunctionNode))


def made(text: Root, expression: ast.expr) -> ast.expr:
    """The expression that a variable of a text is bound to, or what is not bound to one as a whole."""
    return source(text, expression) if isinstance(text, FunctionNode) else expression


def value(machine: Machine, module: Module, text: Root, expression: ast.expr) -> Value:
    """What an expression stands for in a text of a module: a variable, or a member of one, by what it is bound to."""
    held = expression.value if isinstance(expression, ast.Attribute) else expression
    found = made(text, held)
    if _reads_own(text, found):
        return UNKNOWN
    if isinstance(expression, ast.Attribute):
        found = ast.copy_location(ast.Attribute(found, expression.attr, ast.Load()), expression)
    return machine.evaluate(machine.module_frame(module), found)


def _reads_own(text: Root, node: ast.expr) -> bool:
    """Whether an expression reads variables of a function."""
    local = scope_of(text).local if isinstance(text, FunctionNode) else frozenset[str]()
    return any(isinstance(one, ast.Name) and one.id in local for one in walk(node))
