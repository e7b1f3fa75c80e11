"""Registrations of hooks in loops over modules: by which conditions the modules are chosen, and how hooks end."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Methods of modules that register a hook, and the table of the module in which they put it.
#: Source: `torch/nn/modules/module.py` of torch 2.13.
OF_MODULES = {
    "register_forward_hook": "_forward_hooks",
    "register_forward_pre_hook": "_forward_pre_hooks",
    "register_full_backward_hook": "_backward_hooks",
    "register_full_backward_pre_hook": "_backward_pre_hooks",
    "register_backward_hook": "_backward_hooks",
}
#: Methods that iterate over the modules in a module: whether those of its parts are among them.
MODULES_IN = {"children": False, "named_children": False, "modules": True, "named_modules": True}
_LOOPS = (ast.For, ast.AsyncFor)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_LEAVING = (ast.Continue, ast.Return, ast.Break, ast.Raise)
_WRAPPING = frozenset({"list", "tuple", "enumerate", "dict", "items", "values", "reversed", "tqdm"})


class Condition(NamedTuple):
    """A condition around a registration, and whether it holds there."""

    test: ast.expr
    holds: bool


class _Path(NamedTuple):
    """What leads to a statement: loops by the names that they bind, and conditions from the outside in."""

    loops: dict[str, tuple[frozenset[str], int]]
    conditions: tuple[Condition, ...]

    def under(self, test: ast.expr, *, holds: bool) -> _Path:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.under(test.operand, holds=not holds)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            path = self
            for part in test.values:
                path = path.under(part, holds=holds)
            return path
        return self._replace(conditions=(*self.conditions, Condition(test, holds)))

    def bound(self, target: ast.expr, iterable: ast.expr) -> _Path:
        names = frozenset(node.id for node in walk(target) if isinstance(node, ast.Name))
        loops = {name: loop for name, loop in self.loops.items() if name not in names}
        if _over_modules(iterable):
            loops.update(dict.fromkeys(names, (names, len(self.conditions))))
        return self._replace(loops=loops)


def choosing(root: ast.AST, call: ast.AST) -> tuple[Condition, ...] | None:
    """The conditions on the module, in a loop over all modules in one, on which a call registers a hook.

    None where the module is not the variable of such a loop. `root` is the function, or the top level of the file.
    """
    return remembered(root, "_nonstrict_hooked", _registrations).get(call)


def registers(function: ast.AST) -> bool:
    """Whether a function registers a hook on a module."""
    return remembered(function, "_nonstrict_registers", _registers)


def removes(function: ast.AST) -> bool:
    """Whether a function may take a hook away: it calls `remove` without arguments."""
    return remembered(function, "_nonstrict_removes", lambda node: any(_is_removal(inner) for inner in walk(node)))


def last_call(function: ast.AST, names: frozenset[str]) -> int:
    """The last line on which a function calls one of the names, or `remove` without arguments; 0 if nowhere."""
    calls = (node for node in walk(function) if isinstance(node, ast.Call))
    return max((node.lineno for node in calls if last_name(node.func) in names or _is_removal(node)), default=0)


def first_call(function: ast.AST, names: frozenset[str], after: int) -> int:
    """The first line behind another on which a function calls one of the names; 0 if nowhere."""
    calls = (node for node in walk(function) if isinstance(node, ast.Call) and node.lineno >= after)
    return min((node.lineno for node in calls if last_name(node.func) in names), default=0)


def _is_removal(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") == "remove"


def _registers(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in OF_MODULES for node in walk(function))


def _registrations(root: ast.AST) -> dict[ast.AST, tuple[Condition, ...]]:
    found: dict[ast.AST, tuple[Condition, ...]] = {}
    _block(children(root), _Path({}, ()), found)
    return found


def _block(nodes: Sequence[ast.AST], path: _Path, found: dict[ast.AST, tuple[Condition, ...]]) -> None:
    for node in nodes:
        if isinstance(node, ast.If):
            _block(node.body, path.under(node.test, holds=True), found)
            _block(node.orelse, path.under(node.test, holds=False), found)
            if isinstance(node.body[-1], _LEAVING):
                path = path.under(node.test, holds=False)
        elif isinstance(node, _LOOPS):
            _block(node.body, path.bound(node.target, node.iter), found)
            _block(node.orelse, path, found)
        elif isinstance(node, _COMPREHENSIONS):
            _comprehension(node, path, found)
        elif not isinstance(node, _DEFINITIONS):
            _note(node, path, found)
            _block(children(node), path, found)


def _comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    path: _Path,
    found: dict[ast.AST, tuple[Condition, ...]],
) -> None:
    for generator in node.generators:
        path = path.bound(generator.target, generator.iter)
        for test in generator.ifs:
            path = path.under(test, holds=True)
    _block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], path, found)


def _note(node: ast.AST, path: _Path, found: dict[ast.AST, tuple[Condition, ...]]) -> None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in OF_MODULES:
        return
    loop = path.loops.get(getattr(node.func.value, "id", ""))
    if loop is not None:
        names, start = loop
        found[node] = tuple(one for one in path.conditions[start:] if _mentions(one.test, names))


def _mentions(test: ast.expr, names: frozenset[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in walk(test))


def _over_modules(iterable: ast.expr) -> bool:
    """Whether something iterates over all modules that a method such as `named_modules()` gives."""
    while isinstance(iterable, ast.Call):
        if getattr(iterable.func, "attr", "") in MODULES_IN:
            return not iterable.args
        if last_name(iterable.func) not in _WRAPPING:
            return False
        inner = iterable.args[0] if iterable.args else getattr(iterable.func, "value", None)
        if not isinstance(inner, ast.expr):
            return False
        iterable = inner
    return False
