"""What names and chains of attributes stand for outside the program: `th.empty_like` for `torch.empty_like`.

The one answer to "is this torch's?" for whoever reads a syntax tree: through aliases, imports of single names,
re-exports and assignments, and silent where a function binds the name for itself.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

#: Tells of an expression which dotted name it stands for outside the program, "" where none is known.
Names: TypeAlias = "Callable[[ast.AST], str]"

_OUTSIDE = frozenset({Kind.EXTERNAL, Kind.PYTHON_MODULE, Kind.SETTING})


class Called(NamedTuple):
    """A call of a function of a library, or of a method.

    `library` is the package the function is of, "" for a method; `operand` is what a method is called on, or the first
    argument; `given` are the positional arguments behind it.
    """

    library: str
    name: str
    operand: ast.expr | None
    given: Sequence[ast.expr]

    @property
    def is_method(self) -> bool:
        """Whether this is a method, or may be one."""
        return not self.library


def dotted(frame: Frame, node: ast.AST) -> str:
    """The dotted name of what an expression stands for outside the program, asked in a frame; "" for anything else."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return ""
    found = frame.machine.evaluate(frame, node)
    return found.ref if found.kind in _OUTSIDE and isinstance(found.ref, str) else ""


def names_in(machine: Machine, function: Function) -> Names:
    """What names in the text of a function stand for: its own imports, and what is around it."""
    frame = function.closure if function.closure is not None else machine.module_frame(function.module)
    imports = _imports(machine, function.module, own_scope(function.node))
    return partial(_named, frame, scope_of(function.node).local, imports)


def names_below(machine: Machine, module: Module, statement: ast.AST) -> Names:
    """What names stand for in a statement of a module, with all that functions in it import."""
    imports = _imports(machine, module, walk(statement))
    return partial(_named, machine.module_frame(module), frozenset(imports), imports)


def called(names: Names, node: ast.Call) -> Called:
    """What a call calls: the function of a library that its name stands for, else a method; "" for anything else."""
    known = names(node.func)
    if known:
        library, _, rest = known.partition(".")
        return Called(library, rest.rpartition(".")[2], next(iter(node.args), None), node.args[1:])
    if isinstance(node.func, ast.Attribute):
        return Called("", node.func.attr, node.func.value, node.args)
    return Called("", "", None, ())


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


def _imports(machine: Machine, module: Module, nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What code imports, by the name that it gives it; names that it binds otherwise too are left out."""
    found: dict[str, str] = {}
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names = {alias.asname or alias.name.partition(".")[0]: alias for alias in node.names}
            found |= {name: alias.name if alias.asname else name for name, alias in names.items()}
        elif isinstance(node, ast.ImportFrom):
            found |= _imported_from(machine, module, node)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
    return {name: known for name, known in found.items() if name not in bound}


def _imported_from(machine: Machine, module: Module, node: ast.ImportFrom) -> dict[str, str]:
    source = machine.project.absolute(node.module or "", node.level, module)
    values = {
        alias.asname or alias.name: machine.module_attribute(module, source, alias.name)
        for alias in node.names
        if alias.name != "*"
    }
    return {name: value.ref for name, value in values.items() if value.kind in _OUTSIDE and isinstance(value.ref, str)}
