"""What names and chains of attributes stand for outside the program: `th.empty_like` for `torch.empty_like`.

The one answer to "is this torch's?" for whoever reads a syntax tree: through aliases, imports of single names,
re-exports and assignments, and silent where a function binds the name for itself.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.domain.values import Kind
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_OUTSIDE = frozenset({Kind.EXTERNAL, Kind.PYTHON_MODULE, Kind.SETTING})


def is_chain(node: ast.AST | None) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether an expression is a name, or attributes of one: anything else would have to be computed."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def dotted(frame: Frame, node: ast.AST) -> str:
    """The dotted name of what an expression stands for outside the program, asked in a frame; "" for anything else."""
    if not is_chain(node):
        return ""
    found = frame.machine.evaluate(frame, node)
    return found.dotted if found.kind in _OUTSIDE else ""


def text_of(frame: Frame) -> FunctionNode | ast.Module:
    """The text that a frame runs: that of its function, or the top level of its module."""
    return frame.function.node if frame.function is not None else frame.module.outline.shell


def names_at(frame: Frame) -> Names:
    """What names in the text that a frame runs stand for."""
    if frame.function is not None:
        return names_in(frame.machine, frame.function)
    return partial(dotted, frame.machine.module_frame(frame.module))


def names_in(machine: Machine, function: Function) -> Names:
    """What names in the text of a function stand for: its own imports, and what is around it."""
    frame = closure_of(function) or machine.module_frame(function.module)
    return _names_of(frame, function.node)


def names_of_method(machine: Machine, module: Module, node: FunctionNode) -> Names:
    """What names in the text of a method of a class at the top level of a module stand for."""
    return _names_of(machine.module_frame(module), node)


def _names_of(frame: Frame, node: FunctionNode) -> Names:
    importing = remembered(node, "_nonstrict_importing", lambda function: _importing(own_scope(function)))
    scope = scope_of(node)
    importing = importing._replace(
        chains={name: one for name, one in importing.chains.items() if name not in scope.parameters}
    )
    return partial(_named, frame, scope.local, _bound(frame, importing, scope.local))


def names_below(machine: Machine, module: Module, statement: ast.AST) -> Names:
    """What names stand for in a statement of a module, with all that functions in it import or give names to."""
    frame = machine.module_frame(module)
    importing = remembered(statement, "_nonstrict_importing_below", lambda root: _importing(walk(root)))
    known = _bound(frame, importing, frozenset())
    return partial(_named, frame, frozenset(known), known)


def _named(frame: Frame, own: frozenset[str], imports: dict[str, str], node: ast.AST) -> str:
    steps: list[str] = []
    root = node
    while isinstance(root, ast.Attribute):
        steps.append(root.attr)
        root = root.value
    if not isinstance(root, ast.Name):
        return ""
    if root.id in own:
        known = imports.get(root.id, "")
        return ".".join((known, *reversed(steps))) if known else ""
    return dotted(frame, node)


class _Importing(NamedTuple):
    """The import statements of some code, the names that it binds otherwise, and those that only chains are bound to.

    `chains` are of names that are bound once, and are no parameter of any function in that code.
    """

    statements: tuple[ast.Import | ast.ImportFrom, ...]
    bound: frozenset[str]
    chains: dict[str, ast.Name | ast.Attribute]


def _importing(nodes: Iterable[ast.AST]) -> _Importing:
    statements: list[ast.Import | ast.ImportFrom] = []
    bound: Counter[str] = Counter()
    chains: dict[str, ast.Name | ast.Attribute] = {}
    parameters: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            statements.append(node)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 1
        elif isinstance(node, ast.arg):
            parameters.add(node.arg)
        elif isinstance(node, ast.Assign) and is_chain(node.value):
            chains |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
    once = {name: chain for name, chain in chains.items() if bound[name] == 1 and name not in parameters}
    return _Importing(tuple(statements), frozenset(bound), once)


def _bound(frame: Frame, importing: _Importing, own: frozenset[str]) -> dict[str, str]:
    """What names stand for that code imports, or binds to something outside; `own` are its variables."""
    found = _imports(frame.machine, frame.module, importing)
    for name, chain in importing.chains.items():
        meant = _named(frame, own.union(found), found, chain) if name not in found else ""
        found |= {name: meant} if meant else {}
    return found


def _imports(machine: Machine, module: Module, importing: _Importing) -> dict[str, str]:
    """What code imports, by the name that it gives it; names that it binds otherwise too are left out."""
    found: dict[str, str] = {}
    for node in importing.statements:
        if isinstance(node, ast.Import):
            names = {alias.asname or alias.name.partition(".")[0]: alias for alias in node.names}
            found |= {name: alias.name if alias.asname else name for name, alias in names.items()}
        else:
            found |= _imported_from(machine, module, node)
    return {name: known for name, known in found.items() if name not in importing.bound}


def _imported_from(machine: Machine, module: Module, node: ast.ImportFrom) -> dict[str, str]:
    source = machine.project.absolute(node.module or "", node.level, module)
    values = {
        alias.asname or alias.name: machine.module_attribute(module, source, alias.name)
        for alias in node.names
        if alias.name != "*"
    }
    return {name: value.dotted for name, value in values.items() if value.kind in _OUTSIDE and value.dotted}
