"""Options of Dynamo that the program sets, in whatever file: `torch._dynamo.config.suppress_errors = True`.

Assignments, `config.patch(...)`, `setattr` and changes of a set count wherever they stand: which part of a program is
running when a region is compiled is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.naming import names_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_CONFIG = "torch._dynamo.config"
_CHANGES = frozenset({"add", "update", "append", "extend"})


def is_set(machine: Machine, option: str) -> bool:
    """Whether code of the program sets an option to other than its default."""
    if option not in machine.dynamo_options:
        machine.dynamo_options[option] = any(
            _sets(machine, module, option)
            for path in machine.elsewhere.files_with(option.encode())
            if (module := machine.project.module(path)) is not None
        )
    return machine.dynamo_options[option]


def _sets(machine: Machine, module: Module, option: str) -> bool:
    statements: list[ast.AST] = [module.outline.shell]
    for chunk in module.chunks_with({option}):
        node = module.outline.node(chunk)
        statements += [node] if node is not None else []
    return any(
        names(config) == _CONFIG and _differs(option, value)
        for statement in statements
        for names in [names_below(machine, module, statement)]
        for config, value in _settings(statement, names, option)
    )


def _settings(statement: ast.AST, names: Names, option: str) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What is set under the name of an option: of what, and to which value, None for one that is added."""
    for node in walk(statement):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and target.attr == option:
                    yield target.value, node.value
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Attribute) and node.target.attr == option:
                yield node.target.value, None
        elif isinstance(node, ast.Call):
            yield from _set_by_call(node, names, option)


def _set_by_call(node: ast.Call, names: Names, option: str) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    function = node.func
    if names(function) == "builtins.setattr" and len(node.args) == 3 and _says(node.args[1], option):
        yield node.args[0], node.args[2]
    if not isinstance(function, ast.Attribute):
        return
    if function.attr in _CHANGES and isinstance(function.value, ast.Attribute) and function.value.attr == option:
        yield function.value.value, None
    if function.attr == "patch":
        yield from ((function.value, value) for value in _patched(node, option))


def _patched(node: ast.Call, option: str) -> Iterator[ast.expr | None]:
    """What `config.patch` sets an option to: by keyword, by a literal dict, or by its name."""
    yield from (keyword.value for keyword in node.keywords if keyword.arg == option)
    first = node.args[0] if node.args else None
    if isinstance(first, ast.Dict):
        pairs = zip(first.keys, first.values, strict=True)
        yield from (value for key, value in pairs if key is not None and _says(key, option))
    elif first is not None and len(node.args) == 2 and _says(first, option):
        yield node.args[1]


def _says(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _differs(option: str, value: ast.expr | None) -> bool:
    """Whether a value may be another than the default of an option: False, but for those that ask for breaks."""
    return not (isinstance(value, ast.Constant) and value.value is option.startswith("graph_break_on"))
