"""Compiled functions without any operation on tensors, of which Dynamo makes no graph: not at later calls either.

Measured on torch 2.13: that is so in regions that may break, unless they have `dynamic=True`, which makes a graph of
arithmetic on numbers too. Only functions count that are given nothing but numbers, strings and flags, as far as their
callers and annotations tell, and that call nothing but what computes with these.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names, scope_of
from nonstrict.facts.walk import own_scope
from nonstrict.program.domain.definitions import Told
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects.naming import names_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.definitions import CompileOptions, Mark
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

_NUMBERS = frozenset({Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.NONE})
_CALLED = frozenset(
    f"builtins.{name}"
    for name in ("abs", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "range", "round", "str", "sum")
)
_MODULES = ("math.",)
#: What else may bring in a tensor, or run code that is not seen.
_OTHERS = (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def computes_no_tensor(machine: Machine, mark: Mark, arguments: Mapping[str, Value]) -> bool:
    """Whether nothing is compiled of a region as it has no operation on tensors."""
    function = mark.function
    region = machine.regions.get(function.node) if function is not None else None
    if function is None or region is None or not _may_skip(region.options) or function.owner is not None:
        return False
    parameters = parameter_names(function.node.args)
    if not parameters or any(name not in arguments or arguments[name].kind not in _NUMBERS for name in parameters):
        return False
    names = names_in(machine, function)
    local = scope_of(function.node).local
    return all(_is_plain(node, local, names) for node in own_scope(function.node))


def _may_skip(options: CompileOptions) -> bool:
    """Whether the options are those of which the behaviour was measured: any backend, mode and `options`."""
    return all(one is Told.NOT_GIVEN or not one for one in (options.fullgraph, options.dynamic, options.disable))


def _is_plain(node: ast.AST, local: frozenset[str], names: Names) -> bool:
    """Whether a node computes with the parameters, constants, and functions of numbers."""
    if isinstance(node, ast.Call):
        called = names(node.func)
        return called in _CALLED or called.startswith(_MODULES)
    if isinstance(node, ast.Name):
        return node.id in local or names(node) in _CALLED | {"math"}
    if isinstance(node, ast.Attribute):
        return names(node).startswith(_MODULES)
    return not isinstance(node, _OTHERS)
