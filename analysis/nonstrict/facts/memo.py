"""Facts that are computed once per node of a syntax tree, and live exactly as long as the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

_Node = TypeVar("_Node", bound="ast.AST")
_Fact = TypeVar("_Fact")


def remembered(node: _Node, key: str, compute: Callable[[_Node], _Fact]) -> _Fact:
    """What `compute(node)` gives, computed on the first call for a node and key.

    The fact is kept on the node itself: a table of nodes would keep every tree of the program alive, or pay for weak
    references. A fact is never None, which stands for "not computed yet", nor a list, which `walk` would look into.
    """
    held = node.__dict__
    fact: _Fact | None = held.get(key)
    if fact is None:
        fact = held[key] = compute(node)
    return fact
