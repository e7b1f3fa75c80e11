"""Which names a function binds, declares global or nonlocal, and takes as parameters."""

from __future__ import annotations

import ast
from typing import NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Scope(NamedTuple):
    """Names of one function, without those of functions nested in it."""

    parameters: tuple[str, ...]
    assigned: frozenset[str]
    global_names: frozenset[str]
    nonlocal_names: frozenset[str]
    is_generator: bool
    #: the names that live in the function's own frame
    local: frozenset[str]


def scope_of(node: FunctionNode) -> Scope:
    """The scope of a function; computed once per node."""
    return remembered(node, "_nonstrict_scope", _scan)


def is_deferred(node: FunctionNode) -> bool:
    """Whether calling a function runs nothing of it yet: it makes a coroutine or a generator."""
    return isinstance(node, ast.AsyncFunctionDef) or scope_of(node).is_generator


def parameters_of(arguments: ast.arguments) -> tuple[ast.arg, ...]:
    """All parameters in order: positional, keyword-only, then `*args` and `**kwargs`."""
    extra = (one for one in (arguments.vararg, arguments.kwarg) if one is not None)
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra)


def parameter_names(arguments: ast.arguments) -> tuple[str, ...]:
    """The names of all parameters in that order."""
    return tuple(one.arg for one in parameters_of(arguments))


def receiver_of(function: FunctionNode) -> str:
    """What a method calls the object or class that it is called on; "" for a static method."""
    if any(getattr(mark, "id", "") == "staticmethod" for mark in getattr(function, "decorator_list", ())):
        return ""
    return next((one.arg for one in (*function.args.posonlyargs, *function.args.args)), "")


def rebound_inside(function: ast.AST) -> frozenset[str]:
    """The variables of a function that functions inside of it bind."""
    return remembered(function, "_nonstrict_rebound_inside", _rebound_inside)


def _rebound_inside(function: ast.AST) -> frozenset[str]:
    return frozenset(name for node in walk(function) if isinstance(node, ast.Nonlocal) for name in node.names)


def is_as_passed(function: FunctionNode, name: str) -> bool:
    """Whether a name is a parameter that neither a function nor those inside of it bind anew."""
    scope = scope_of(function)
    return name in scope.parameters and name not in scope.assigned and name not in rebound_inside(function)


def _scan(node: FunctionNode) -> Scope:
    found = _Names()
    if isinstance(node, ast.Lambda):
        found.expression(node.body)
    else:
        found.statements(node.body)
    return Scope(
        parameter_names(node.args),
        frozenset(found.assigned),
        frozenset(found.global_names),
        frozenset(found.nonlocal_names),
        found.generator,
        frozenset((found.assigned | set(parameter_names(node.args))) - found.global_names - found.nonlocal_names),
    )


_BINDING = (ast.NamedExpr, ast.IfExp, ast.BoolOp, ast.Await, ast.ListComp, ast.GeneratorExp)


class _Names:
    """Collects names from statements; expressions are only searched where they can bind a name or yield."""

    def __init__(self) -> None:
        self.assigned: set[str] = set()
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.generator = False

    def statements(self, body: list[ast.stmt]) -> None:
        """Collect from a block."""
        for statement in body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self.target(target)
                self.value(statement.value)
            elif isinstance(statement, (ast.Expr, ast.Return)):
                if statement.value is not None:
                    self.value(statement.value)
            elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
                self.target(statement.target)
                if statement.value is not None:
                    self.value(statement.value)
            elif not self.declaration(statement):
                self.compound(statement)

    def declaration(self, node: ast.stmt) -> bool:
        """Collect from a statement that names things and holds no other statement; whether it is one."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.assigned.add(node.name)
        elif isinstance(node, ast.Global):
            self.global_names.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            self.nonlocal_names.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.assigned.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.target(target)
        else:
            return False
        return True

    def compound(self, node: ast.stmt) -> None:
        """Collect from a statement with blocks."""
        if isinstance(node, (ast.If, ast.While)):
            self.expression(node.test)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.target(node.target)
            self.expression(node.iter)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self.target(item.optional_vars)
        elif isinstance(node, ast.Match):
            self.cases(node.cases)
        for field in ("body", "orelse", "finalbody"):
            self.statements(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            if handler.name:
                self.assigned.add(handler.name)
            self.statements(handler.body)

    def cases(self, cases: list[ast.match_case]) -> None:
        """Collect from the cases of a `match`."""
        for case in cases:
            for part in walk(case.pattern):
                name = getattr(part, "name", None)
                if isinstance(name, str):
                    self.assigned.add(name)
            self.statements(case.body)

    def target(self, node: ast.expr) -> None:
        """Collect the names that an assignment target binds."""
        if isinstance(node, ast.Name):
            self.assigned.add(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                self.target(element)
        elif isinstance(node, ast.Starred):
            self.target(node.value)

    def value(self, node: ast.expr) -> None:
        """The value of a statement: a yield stands at its top; only some expressions can bind names by `:=`."""
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            self.generator = True
        elif isinstance(node, _BINDING):
            self.expression(node)

    def expression(self, node: ast.expr) -> None:
        """Collect what an expression binds or yields."""
        for inner in walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.assigned.add(inner.target.id)
            elif isinstance(inner, (ast.Yield, ast.YieldFrom)):
                self.generator = True
