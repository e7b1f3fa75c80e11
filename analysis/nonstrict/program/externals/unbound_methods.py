"""Functions that do to their first argument what one of its methods does: `dict.update(d, k=1)`, `operator.setitem`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.models.members import CHANGING
from nonstrict.program.externals import container_methods, reflection
from nonstrict.program.objects import namespaces

if TYPE_CHECKING:
    import ast

    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: The methods, by the functions that are the same.
_METHODS = {
    **{f"builtins.{kind}.{name}": name for kind, names in CHANGING.items() for name in names},
    "operator.setitem": "__setitem__",
    "operator.delitem": "__delitem__",
}


def call(frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value | None:
    """The result of such a function for a container, or the dict of an object; None for anything else."""
    method = _METHODS.get(name)
    if method is None or not positional:
        return None
    receiver, *given = positional
    owner = namespaces.holder(receiver)
    if owner is not None:
        return reflection.method(frame, node, owner, method, given, keywords)
    if receiver.kind in container_methods.NAMES and name.startswith("builtins."):
        return container_methods.call(frame, node, receiver, method, given, keywords)
    return None
