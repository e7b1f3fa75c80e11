"""What conditions tell of attributes: kept among the variables of a frame, under the expression as it is written.

`if self.bias is not None:` says of `self.bias`, until it or `self` is bound anew, what it says of a variable.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value


def key_of(node: ast.expr) -> str:
    """The name under which what is known of a variable or attribute is kept; "" for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = key_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def forget(env: dict[str, Value], key: str) -> None:
    """Something is bound anew: what was known of its attributes holds no longer."""
    for known in [known for known in env if known.startswith(f"{key}.")]:
        del env[known]


def shared(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """The other of two branches without what only one of them knows of attributes; taken out of the first, too."""
    for known in [known for known in one if "." in known and known not in other]:
        del one[known]
    return {known: value for known, value in other.items() if "." not in known or known in one}
