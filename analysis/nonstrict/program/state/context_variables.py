"""Context variables that a body sets itself before it reads them: what it reads is not the state of its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts import context_variables as facts

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.modules import Module

_NONE: frozenset[str] = frozenset()


def held(
    function: FunctionNode | None,
    module: Module,
    entered: Iterable[tuple[tuple[int, int], frozenset[str]]],
    node: ast.AST,
) -> frozenset[str]:
    """The variables that a function has set where a node stands, by the blocks that it `entered` among others."""
    if function is None:
        return _NONE
    line: int = getattr(node, "lineno", 0)
    names = _NONE
    for (first, last), inside in entered:
        if first <= line <= last:
            names |= inside
    if module.holds(".reset("):
        names |= {one.name for one in facts.settings(function) if one.first <= line <= one.last}
    return names
