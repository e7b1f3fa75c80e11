"""Which functions the code at a line can run, told by words: what a run shows is laid at the door of no others.

Too much is taken for reachable, never too little: a word stands for every definition and variable of the file that has
it, whatever the scope, and code that calls what nobody can tell by its name may run anything.
"""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_BUILT_IN = frozenset(dir(builtins))
#: Words with which code calls functions that it does not name.
_INDIRECT = frozenset({"getattr", "globals", "locals", "vars", "eval", "exec", "__dict__", "import_module"})
#: What has functions called by others.
_REGISTERING = ("hook", "singledispatch", "setattr", "__torch_function__", "__torch_dispatch__", "Parametrization")
#: What is called by operators, or because a module is.
_IMPLIED = frozenset({"forward", "__call__", "__getattr__", "__getitem__", "__enter__", "__exit__", "__iter__"})


class _File(NamedTuple):
    """What the words of a file stand for.

    `called` are the names that can be called and stand for nothing else; `dubious` are attributes and variables that
    hold what others chose. It is `indirect` if functions may be called that nothing names.
    """

    parts: dict[str, list[ast.AST]]
    called: frozenset[str]
    dubious: frozenset[str]
    indirect: bool


def may_run(tree: ast.Module, roots: Iterable[ast.AST], names: frozenset[str], lines: Iterable[int]) -> bool:
    """Whether some code may run a function that has one of some names, or that lies on one of some lines."""
    file = _file_of(tree)
    wanted = frozenset(lines)
    pending, seen, words = list(roots), set[int](), set[str]()
    if file.indirect or not pending:
        return True
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if _covers(node, wanted) or not names.isdisjoint(_bound_by(node)) or not _calls_by_name(node, file):
            return True
        fresh = _words(node) - words
        if fresh & (names | _INDIRECT):
            return True
        fresh |= _IMPLIED - words
        words |= fresh
        pending += [part for word in fresh for part in file.parts.get(word, ())]
    return False


def functions_at(tree: ast.Module, line: int) -> list[ast.AST]:
    """The functions whose first line, that of their decorators included, is a line."""
    return [node for node in ast.walk(tree) if isinstance(node, (*_FUNCTIONS, ast.Lambda)) and first_line(node) == line]


def statement_at(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost statement on a line."""
    found = [
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and first_line(node) <= line <= _last_line(node)
    ]
    return max(found, key=lambda node: (node.lineno, -_last_line(node)), default=None)


def function_around(tree: ast.Module, line: int) -> ast.AST | None:
    """The innermost function with a line."""
    found = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and line in _span(node)]
    return max(found, key=lambda node: node.lineno, default=None)


def first_line(node: ast.stmt | ast.Lambda) -> int:
    """Where the code of a node begins: at its first decorator."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def _last_line(node: ast.AST) -> int:
    return getattr(node, "end_lineno", None) or getattr(node, "lineno", 0)


def _span(node: ast.stmt | ast.Lambda) -> range:
    return range(first_line(node), _last_line(node) + 1)


def _covers(node: ast.AST, lines: frozenset[int]) -> bool:
    return isinstance(node, (ast.stmt, ast.Lambda)) and not lines.isdisjoint(_span(node))


@lru_cache(maxsize=8)
def _file_of(tree: ast.Module) -> _File:
    parts: dict[str, list[ast.AST]] = {}
    words: set[str] = set()
    nodes = list(ast.walk(tree))
    for node in nodes:
        for name in _bound_by(node):
            parts.setdefault(name, []).append(node)
        words |= _own_words(node)
    defined = {node.name for node in nodes if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    imported = {alias.asname or alias.name.split(".")[0] for alias in nodes if isinstance(alias, ast.alias)}
    plain, dubious = _assigned(nodes, frozenset(defined | imported))
    indirect = "*" in imported or any(mark in word for word in words for mark in _REGISTERING)
    return _File(parts, frozenset(defined | imported | plain | _BUILT_IN) - dubious, dubious, indirect)


def _assigned(nodes: list[ast.AST], known: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The variables and attributes that are assigned, and those of them that hold what others chose."""
    plain, dubious = set[str](), {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, _LOOPS):
            dubious |= _words(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            dubious |= _words(node.optional_vars)
        elif isinstance(node, _ASSIGNMENTS):
            made = node.value is not None and _is_made_here(node.value, known)
            (plain if made else dubious).update(_targets(node))
    return frozenset(plain), frozenset(dubious)


def _targets(node: ast.AST) -> Iterator[str]:
    """The variables and attributes that an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    for target in (part for one in targets for part in getattr(one, "elts", [one])):
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Attribute):
            yield target.attr
        else:
            yield from _words(target)


def _is_made_here(value: ast.expr, known: frozenset[str]) -> bool:
    """Whether a value is told by the names in it: one of them, or what a known function makes of them."""
    if isinstance(value, (ast.Lambda, ast.Constant)):
        return True
    root: ast.AST = value.func if isinstance(value, ast.Call) else value
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in known


def _bound_by(node: ast.AST) -> Iterator[str]:
    """The words by which a node of a tree can be called or read elsewhere."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
        # An operator is called by the name that its decorator states.
        for part in (part for one in node.decorator_list for part in ast.walk(one)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield from part.value.replace("::", ".").split(".")
    elif isinstance(node, (*_ASSIGNMENTS, *_LOOPS)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (word for target in targets for word in _words(target))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _words(node.optional_vars)


def _words(node: ast.AST) -> set[str]:
    """The names and attributes in a node."""
    return {word for part in ast.walk(node) for word in _own_words(part)}


def _own_words(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    return {node.attr} if isinstance(node, ast.Attribute) else set()


def _calls_by_name(node: ast.AST, file: _File) -> bool:
    """Whether everything that a node calls is told by the name of a function, or of an attribute."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Call):
            continue
        name = part.func
        if isinstance(name, ast.Attribute) and name.attr not in file.dubious:
            continue
        if not isinstance(name, ast.Name) or name.id not in file.called:
            return False
    return True
