"""What members of enumerations tell of themselves: their names are strings, their values what all of them are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.program.domain.values import NUMBER, STRING, Value
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.machine import Machine

_NAMES = frozenset({"name", "_name_"})
_VALUES = frozenset({"value", "_value_"})
#: Methods by which an enumeration makes other values of what its body says.
_MAKING = ("__new__", "__init__", "_generate_next_value_")
_STRINGS = "enum.StrEnum"


def attribute(machine: Machine, cls: Class, name: str) -> Value | None:
    """What a member of an enumeration gives for an attribute, where that surely is a string, or a whole number."""
    if name not in _NAMES | _VALUES or classes.member(machine, cls, name) is not None:
        return None
    if name in _NAMES:
        return STRING
    if any(classes.member(machine, cls, method) is not None for method in _MAKING):
        return None
    values = list(_values(cls))
    automatic = _STRINGS in classes.external_bases(cls)
    if values and all(_is_string(value, automatic=automatic) for value in values):
        return STRING
    return NUMBER if values and all(type(getattr(value, "value", None)) is int for value in values) else None


def _values(cls: Class) -> Iterator[ast.expr]:
    """The values of the members, as the body says them."""
    for statement in cls.node.body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if not all(name.startswith("_") for name in names):
                yield statement.value


def _is_string(node: ast.expr, *, automatic: bool) -> bool:
    if isinstance(node, ast.Call):
        return automatic and last_name(node) == "auto"
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
