"""Constructs that break graphs, as the user wrote them: for messages, and wherever regions are listed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Construct

if TYPE_CHECKING:
    from nonstrict.program.domain.effects import Observed

_LONGEST = 50
#: What the truth of is asked for, by construct.
_DECIDED = {
    "stmt:if-tensor": "tensor",
    "stmt:if-tensor-literal": "tensor",
    "stmt:numpy-branch": "NumPy array",
    "stmt:if-random": "random number",
}


def construct(seen: Observed) -> str:
    """The construct as the user wrote it, shortened."""
    node = seen.effect.node
    if seen.effect.how is Construct.NATIVE:
        return f"`{seen.effect.what}`"
    if decided := _DECIDED.get(seen.effect.what):
        return f"a branch on {decided} `{_short(ast.unparse(node))}`"
    if isinstance(node, ast.Call):
        return f"`{_short(ast.unparse(node.func))}()`"
    if isinstance(node, ast.ClassDef):
        return f"defining the class `{node.name}`"
    if isinstance(node, ast.Raise):
        return "`raise`"
    return f"`{_short(ast.unparse(node))}`"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
