"""Functions by which a script begins: called once, outside functions, for what they do.

`main()` at the end of a file runs its body once, as the statements of the file run. So they are taken for statements of
the file: what `main` defines is outlined as what the file defines, and its variables are variables of one namespace
with those of the file. That is done only where no name means two things then.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonstrict.facts.execution import steps_outside
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Beginning:
    """A function whose body counts as statements of its file: lines `first` to `last`, from 1, inclusive.

    `statements` are those beside its definitions, its parameters as assignments first, with lines of the file.
    """

    name: str
    first: int
    last: int
    names: frozenset[str]
    statements: tuple[ast.stmt, ...]
    definitions: tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]

    def covers(self, line: int) -> bool:
        """Whether a line of the file belongs to the function."""
        return self.first <= line <= self.last


def calls_for_effect(shell: ast.Module) -> dict[str, ast.Call]:
    """By name, the calls of plain names that statements outside functions make once, for what they do."""
    counted: Counter[str] = Counter()
    found: dict[str, ast.Call] = {}
    for step in steps_outside(shell):
        for inner in walk(step.node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
                counted[inner.func.id] += 1
                if isinstance(step.node, ast.Expr) and not step.repeats:
                    found[inner.func.id] = inner
    return {name: call for name, call in found.items() if counted[name] == 1}


def names_bound(shell: ast.Module) -> set[str]:
    """The names that statements outside functions bind."""
    found: set[str] = set()
    for node in walk(shell):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, _DEFINITION):
            found.add(node.name)
    return found


def beginning(node: ast.AST, first: int, call: ast.Call, taken: AbstractSet[str]) -> Beginning | None:
    """A function that is called once, as statements of its file; None where that would mean something else.

    `node` has the lines of the file, its text starts at line `first`; `taken` are the names that the file binds.
    """
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    scope = scope_of(node)
    given = _given(node.args, call)
    if given is None or scope.is_generator or scope.local & (taken | _BUILTINS) or _looks_at_its_names(node):
        return None
    if isinstance(node.body[0], ast.Return):
        return None  # a name for what it returns
    definitions = tuple(one for one in node.body if isinstance(one, _DEFINITION))
    statements = (*given, *(_for_effect(one) for one in node.body if not isinstance(one, _DEFINITION)))
    return Beginning(node.name, first, node.end_lineno or node.lineno, scope.local, statements, definitions)


def _for_effect(statement: ast.stmt) -> ast.stmt:
    """What a `return` computes, where nobody asks for the result."""
    if not isinstance(statement, ast.Return):
        return statement
    return ast.copy_location(ast.Expr(statement.value) if statement.value is not None else ast.Pass(), statement)


def _given(arguments: ast.arguments, call: ast.Call) -> list[ast.stmt] | None:
    """The parameters of a function, assigned what a call passes; None if that is not one value each."""
    unknown = arguments.vararg or arguments.kwarg or any(isinstance(one, ast.Starred) for one in call.args)
    if unknown or not all(keyword.arg for keyword in call.keywords):
        return None
    named = [*arguments.posonlyargs, *arguments.args]
    values: dict[str, ast.expr | None] = {one.arg: None for one in (*named, *arguments.kwonlyargs)}
    defaults = arguments.defaults
    values.update(zip([one.arg for one in named[len(named) - len(defaults) :]], defaults, strict=True))
    values.update((one.arg, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    values.update(zip([one.arg for one in named], call.args, strict=False))
    values.update((keyword.arg or "", keyword.value) for keyword in call.keywords)
    return list(_assigned([*named, *arguments.kwonlyargs], values))


def _assigned(parameters: Iterable[ast.arg], values: dict[str, ast.expr | None]) -> Iterator[ast.stmt]:
    for parameter in parameters:
        target = ast.copy_location(ast.Name(parameter.arg, ast.Store()), parameter)
        value = values[parameter.arg]
        if value is not None:
            yield ast.copy_location(ast.Assign([target], value), parameter)
        elif parameter.annotation is not None:
            yield ast.copy_location(ast.AnnAssign(target, parameter.annotation, None, 1), parameter)


def _looks_at_its_names(node: ast.FunctionDef) -> bool:
    """Whether a function asks for its variables as a dictionary, which is another one for the file; not `vars(x)`."""
    nodes = list(walk(node))
    of_others = {id(one.func) for one in nodes if isinstance(one, ast.Call) and one.args}
    return any(
        one.id in ("locals", "globals", "eval", "exec") or (one.id == "vars" and id(one) not in of_others)
        for one in nodes
        if isinstance(one, ast.Name)
    )
