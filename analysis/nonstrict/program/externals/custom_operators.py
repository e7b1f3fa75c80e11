"""Calls of the custom operators that a program declares."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.discarded import is_discarded
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.program.domain.definitions import Operator
    from nonstrict.program.state.frames import Frame


def by_name(known: Mapping[str, Operator], name: str) -> Operator | None:
    """The operator that `torch.ops.namespace.name` or one of its overloads is, if its declaration was seen."""
    parts = name.split(".")
    return known.get(f"{parts[2]}::{parts[3]}") if len(parts) > 3 else None


def note_call(frame: Frame, node: ast.AST, operator: Operator | None) -> None:
    """Record a call in traced code whose result nothing uses."""
    if frame.static or operator is None or not operator.implementations or frame.function is None:
        return
    if isinstance(node, ast.Call) and is_discarded(frame.function.node, node):
        called = Value(Kind.MARKED, FRESH, operator.implementations[0])
        frame.emit(Event.DROPPED, node, value=called, what=operator.name)
