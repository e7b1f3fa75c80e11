"""Code that runs only where something was asked before: tests, handlers and early exits around an expression."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from nonstrict.facts.discarded import EXPECTING
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeGuard

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: Exceptions as which a missing name comes.
_MISSING = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
#: What ends the program, the module or the test.
_ENDING = frozenset({"exit", "_exit", "abort", "skip", "importorskip", "skipTest", "xfail", "fail"})
#: What asks for the machine, and not for what a package has.
_OF_MACHINE = frozenset({"is_available"})


def ways(root: ast.AST, wanted: Callable[[ast.AST], bool]) -> Iterator[tuple[ast.AST, ...]]:
    """The nodes from a root to each of the wanted ones, from the outside in."""
    pending: list[tuple[ast.AST, ...]] = [(root,)]
    while pending:
        way = pending.pop()
        if wanted(way[-1]):
            yield way
        pending.extend((*way, child) for child in children(way[-1]))


def is_guarded(way: Sequence[ast.AST], is_set: Callable[[str], bool]) -> bool:
    """Whether something around the last of some nodes, or before it, may ask whether a name exists.

    `is_set` tells of a name that it holds a constant that is true, whatever there is.
    """
    given = {name for node in way if isinstance(node, _FUNCTIONS) for name in parameter_names(node.args)}

    def is_state(test: ast.expr) -> bool:
        return _asks_for_state(test, given)

    def is_other(test: ast.expr) -> bool:
        return is_state(test) or _is_true(test, is_state, is_set)

    return any(
        _guards(outer, inner, is_state if _is_alternative(outer, inner) else is_other)
        or any(_leaves(one, is_state) for one in _before(outer, inner))
        for outer, inner in itertools.pairwise(way)
    )


def is_switched(root: ast.AST, node: ast.AST) -> bool:
    """Whether the truth of a name or an attribute, a switch that people turn on, decides if a node of a root runs."""
    found = next(ways(root, lambda one: one is node), ())
    return any(
        inner is not outer.test and _is_switch(outer.test)
        for outer, inner in itertools.pairwise(found)
        if isinstance(outer, (ast.If, ast.IfExp)) and not _is_alternative(outer, inner)
    )


def _is_switch(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_is_switch, test.values))
    return isinstance(test, (ast.Name, ast.Attribute))


def may_leave(statements: Sequence[ast.stmt]) -> bool:
    """Whether some statements may end the module, so that what follows does not run."""
    return any(_leaves(one, lambda _: False) for one in statements)


def _guards(outer: ast.AST, inner: ast.AST, is_other: Callable[[ast.expr], bool]) -> bool:
    """Whether a node decides whether the one inside it runs, or catches what it raises."""
    if isinstance(outer, (ast.If, ast.IfExp, ast.While)):
        return inner is not outer.test and not is_other(outer.test)
    if isinstance(outer, ast.BoolOp):
        return inner is not outer.values[0]
    if _is_try(outer):
        return inner not in outer.finalbody and _catches(outer)
    if isinstance(outer, (ast.With, ast.AsyncWith)):
        return any(last_name(item.context_expr) in EXPECTING for item in outer.items)
    if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        inside = inner not in outer.decorator_list
        return inside and any("skip" in part for one in outer.decorator_list for part in _names(one))
    if isinstance(outer, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return any(one.ifs for one in outer.generators)
    return isinstance(outer, ast.match_case)


def _is_alternative(outer: ast.AST, inner: ast.AST) -> bool:
    other = getattr(outer, "orelse", None)
    return inner in other if isinstance(other, list) else inner is other


def _names(node: ast.AST) -> Iterator[str]:
    for part in walk(node):
        yield getattr(part, "attr", getattr(part, "id", ""))


def _is_try(node: ast.AST) -> TypeGuard[ast.Try]:
    return hasattr(node, "handlers")


def _catches(statement: ast.Try) -> bool:
    """Whether a handler may be for names that are missing."""
    return any(handler.type is None or not _MISSING.isdisjoint(_names(handler.type)) for handler in statement.handlers)


def _before(outer: ast.AST, inner: ast.AST) -> list[ast.stmt]:
    """The statements that stand before one in its block."""
    block = _block(outer, inner)
    return block[: block.index(inner)] if isinstance(inner, ast.stmt) and block else []


def behind(outer: ast.AST, inner: ast.AST) -> list[ast.stmt]:
    """The statements that stand behind one in its block."""
    block = _block(outer, inner)
    return block[block.index(inner) + 1 :] if isinstance(inner, ast.stmt) and block else []


def _block(outer: ast.AST, inner: ast.AST) -> list[ast.stmt]:
    """The block of a statement in which another one stands; none if it stands in no block."""
    for name in ("body", "orelse", "finalbody"):
        block: object = getattr(outer, name, None)
        if isinstance(inner, ast.stmt) and _is_block(block) and inner in block:
            return block
    return []


def _is_block(value: object) -> TypeGuard[list[ast.stmt]]:
    return isinstance(value, list)


def _leaves(statement: ast.stmt, is_other: Callable[[ast.expr], bool]) -> bool:
    """Whether what follows a statement may not run, for a reason that may be a missing name."""
    if isinstance(statement, ast.If):
        branches = [block for block in (statement.body, statement.orelse) if block]
        return any(_ends(block) for block in branches) and not is_other(statement.test)
    if _is_try(statement):
        return _catches(statement)
    if isinstance(statement, ast.Assert):
        return not is_other(statement.test)
    return isinstance(statement, ast.Expr) and _ends([statement])


def _ends(block: Sequence[ast.stmt]) -> bool:
    last = block[-1]
    if isinstance(last, ast.If):
        return _ends(last.body) or bool(last.orelse and _ends(last.orelse))
    called = last.value if isinstance(last, ast.Expr) else None
    ends = isinstance(called, ast.Call) and last_name(called) in _ENDING
    return ends or isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _is_true(test: ast.expr, is_state: Callable[[ast.expr], bool], is_set: Callable[[str], bool]) -> bool:
    """Whether a test is true whatever torch has: it names a constant, perhaps beside questions for the machine."""
    if isinstance(test, ast.BoolOp):
        return all(is_state(part) or _is_true(part, is_state, is_set) for part in test.values)
    return bool(test.value) if isinstance(test, ast.Constant) else isinstance(test, ast.Name) and is_set(test.id)


def _asks_for_state(test: ast.expr, given: set[str]) -> bool:
    """Whether a test asks for the machine (`torch.cuda.is_available()`), or whether an argument was given."""
    if isinstance(test, ast.BoolOp):
        return all(_asks_for_state(part, given) for part in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_for_state(test.operand, given)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute):
        return test.func.attr in _OF_MACHINE and not test.args
    if isinstance(test, ast.Call):
        return last_name(test) == "callable" and len(test.args) == 1 and getattr(test.args[0], "id", "") in given
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return False
    right = test.comparators[0]
    return getattr(test.left, "id", "") in given and isinstance(right, ast.Constant) and right.value is None
