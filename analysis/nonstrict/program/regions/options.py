"""Options of Dynamo that the program sets, in whatever file: `torch._dynamo.config.suppress_errors = True`.

Assignments, `config.patch(...)`, `setattr`, changes of a set and of the environment count wherever they stand in a file
that runs with the region: which part of a program is running when a region is compiled is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk
from nonstrict.program.naming import is_chain, names_below
from nonstrict.program.together import may_run_with
from nonstrict.program.values import NO_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_CONFIG, _ENVIRONMENT = "torch._dynamo.config", "os.environ"
_CHANGES = frozenset({"add", "update", "append", "extend"})
#: What patches options, beside the method of their module.
_PATCHES = frozenset({"torch._dynamo.patch_dynamo_config", "torch._dynamo.decorators.patch_dynamo_config"})
#: The variables from which torch reads an option while it is imported. Source: `torch/_dynamo/config.py` of torch 2.13.
_VARIABLES = {
    "suppress_errors": "TORCHDYNAMO_SUPPRESS_ERRORS",
    "capture_scalar_outputs": "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS",
    "capture_dynamic_output_shape_ops": "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS",
}
#: What else of a variable leaves its option off; `suppress_errors` is on for any text.
_OFF = ("0", "")


class _Set(NamedTuple):
    """Something is set under a name: an attribute or entry of what `holder` gives; no value where one is added."""

    holder: str
    value: ast.expr | None


def is_set(machine: Machine, option: str, path: str) -> bool:
    """Whether what a program runs together with a file sets an option to other than its default."""
    return any(may_run_with(machine, path, one) for one in setting(machine, option))


def setting(machine: Machine, option: str) -> tuple[str, ...]:
    """The files that set an option to other than its default."""
    if option not in machine.dynamo_options:
        words = [word for word in (option, _VARIABLES.get(option)) if word is not None]
        files = dict.fromkeys(path for word in words for path in machine.elsewhere.files_with(word.encode()))
        machine.dynamo_options[option] = tuple(path for path in files if _sets(machine, path, option))
    return machine.dynamo_options[option]


def _sets(machine: Machine, path: str, option: str) -> bool:
    module = machine.project.module(path)
    if module is None:
        return False
    variable = _VARIABLES.get(option, "")
    statements: list[ast.AST] = [module.outline.shell]
    for chunk in module.chunks_with({option, variable} - {""}):
        node = module.outline.node(chunk)
        statements += [node] if node is not None else []
    return any(
        _differs(machine, module, option, one)
        for statement in statements
        for names in [names_below(machine, module, statement)]
        for one in (*_settings(statement, names, option), *_settings(statement, names, variable))
    )


def _settings(statement: ast.AST, names: Names, name: str) -> Iterator[_Set]:
    """What is set under a name."""
    for node in walk(statement) if name else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (_Set(names(holder), node.value) for holder in _holders(target, name))
        elif isinstance(node, ast.AugAssign):
            yield from (_Set(names(holder), None) for holder in _holders(node.target, name))
        elif isinstance(node, ast.Call):
            yield from _set_by_call(node, names, name)


def _holders(target: ast.expr, name: str) -> Iterator[ast.expr]:
    """Of what a target of an assignment is the attribute or entry of a name."""
    is_entry = isinstance(target, ast.Subscript) and _says(target.slice, name)
    if isinstance(target, (ast.Attribute, ast.Subscript)) and (is_entry or getattr(target, "attr", "") == name):
        yield target.value


def _set_by_call(node: ast.Call, names: Names, name: str) -> Iterator[_Set]:
    function = node.func
    if names(function) == "builtins.setattr" and len(node.args) == 3 and _says(node.args[1], name):
        yield _Set(names(node.args[0]), node.args[2])
    if names(function) in _PATCHES:
        yield from (_Set(_CONFIG, value) for value in _patched(node, name))
    if not isinstance(function, ast.Attribute):
        return
    if function.attr in _CHANGES and isinstance(function.value, ast.Attribute) and function.value.attr == name:
        yield _Set(names(function.value.value), None)
    if function.attr in ("patch", "update", "setdefault"):
        yield from (_Set(names(function.value), value) for value in _patched(node, name))


def _patched(node: ast.Call, name: str) -> Iterator[ast.expr]:
    """What a call sets under a name: by keyword, by a literal dict, or by its name and the value."""
    yield from (keyword.value for keyword in node.keywords if keyword.arg == name)
    first = node.args[0] if node.args else None
    spread = [keyword.value for keyword in node.keywords if keyword.arg is None]
    for given in (first, *spread):
        if isinstance(given, ast.Dict):
            pairs = zip(given.keys, given.values, strict=True)
            yield from (value for key, value in pairs if key is not None and _says(key, name))
    if first is not None and len(node.args) == 2 and _says(first, name):
        yield node.args[1]


def _says(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def _differs(machine: Machine, module: Module, option: str, one: _Set) -> bool:
    """Whether a value may be another than the default of an option: False, but for those that ask for breaks."""
    value = _constant(machine, module, one.value)
    if one.holder == _ENVIRONMENT:
        return value not in _OFF[option == "suppress_errors" :]
    return one.holder == _CONFIG and value is not option.startswith("graph_break_on")


def _constant(machine: Machine, module: Module, value: ast.expr | None) -> object:
    """The constant that an expression is, or that a name at the top level of its module holds."""
    if isinstance(value, ast.Constant):
        return value.value
    held = machine.evaluate(machine.module_frame(module), value) if is_chain(value) else None
    return held.const if held is not None and not held.place.path else NO_CONSTANT
