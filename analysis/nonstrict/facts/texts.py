"""Texts: the parts of a program that have variables of their own, with what is around each node."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import FunctionNode
from nonstrict.facts.walk import children, walk

if TYPE_CHECKING:
    from collections.abc import Mapping


Root = FunctionNode | ast.ClassDef | ast.Module


class Text(NamedTuple):
    """A part of a program that has variables of its own: the nodes in it, each with the one around."""

    root: Root
    parents: Mapping[ast.AST, ast.AST]


def text_of(root: Root) -> Text:
    """The text of a function, or of a module outside of definitions."""
    return remembered(root, "_nonstrict_text", lambda node: Text(node, _parents(node)))


def _parents(root: Root) -> dict[ast.AST, ast.AST]:
    return {child: node for node in walk(root) for child in children(node)}
