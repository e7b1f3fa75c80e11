"""Custom operators as names of a file: `made::halve` is bound where registered, and read as `torch.ops.made.halve`.

As everywhere in slices, the text tells: which operator it is in the end, the run shows.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: What stands between a namespace and a name.
MARK = "::"


def libraries_in(tree: ast.Module) -> dict[str, str]:
    """The namespaces of the libraries that a file makes at its top level, by their variables."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last_word(node.value) == "Library":
            namespace = next(_texts(node.value), "")
            found |= {target.id: namespace for target in node.targets if isinstance(target, ast.Name)}
    return found


def registered(node: ast.stmt, libraries: Mapping[str, str]) -> Iterator[str]:
    """The operators that a statement declares or implements."""
    if isinstance(node, _FUNCTIONS):
        calls: list[ast.expr] = node.decorator_list
    else:
        calls = [node.value] if isinstance(node, (ast.Expr, ast.Assign)) else []
    for call in calls:
        if not isinstance(call, ast.Call):
            continue
        namespace = next((libraries[part.id] for part in _names(call) if part.id in libraries), "")
        for text in _texts(call):
            name = text.partition("(")[0].partition(".")[0].strip()
            if MARK in name:
                yield name
            elif namespace and name.isidentifier():
                yield f"{namespace}{MARK}{name}"


def operator_read(node: ast.AST) -> str:
    """The operator that a node reads (`torch.ops.made.halve`); empty if it reads none."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
        return ""
    owner = node.value.value
    word = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return f"{node.value.attr}{MARK}{node.attr}" if word == "ops" else ""


def operator_called(node: ast.Call) -> str:
    """The operator that is called, by its name or by an overload of it."""
    read = operator_read(node.func)
    return read or (operator_read(node.func.value) if isinstance(node.func, ast.Attribute) else "")


def _names(call: ast.Call) -> Iterator[ast.Name]:
    """The variables that a call goes through and that it is given."""
    through = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    given = [through, *call.args, *(keyword.value for keyword in call.keywords)]
    yield from (one for one in given if isinstance(one, ast.Name))


def _texts(call: ast.Call) -> Iterator[str]:
    """The texts that a call is given."""
    yield from (one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _last_word(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
