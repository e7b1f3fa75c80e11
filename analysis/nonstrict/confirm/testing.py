"""Finds in a file the tests that set a function going: of pytest with their fixtures, and of unittest.

The agent runs them (`nonstrict_agent.testing`). Of a class, only the test that is run is kept.
"""

from __future__ import annotations

import ast
import copy
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.drivers import Driver, dropped_in, idle_in, reaching_names
from nonstrict.confirm.slices import Statement, free_names, slice_for, statements_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_FILE = re.compile(r"(?:test_.*|.*_tests?|tests?)\.py$")
MAX_TESTS = 2
#: What tests are called that take long, or need what an experiment does not have.
_DEAR = re.compile(r"cuda|gpu|slow|distributed|ddp|fsdp|multi|bench|perf|large|onnx|script|pickle|raises|error|invalid")


class Reach(NamedTuple):
    """How a file comes to a function.

    `names` are top-level names that it is reached by, or that `conftest.py` files give as fixtures, `through` names of
    modules that calls go through, `lines` lines that use it by a module's name or an import of their own. `hint` is
    its name: tests that mention it come first.
    """

    names: frozenset[str]
    through: frozenset[str] = frozenset()
    lines: frozenset[int] = frozenset()
    hint: str = ""


class _Test(NamedTuple):
    name: str
    node: ast.FunctionDef
    owner: ast.ClassDef | None
    position: int
    direct: bool


def is_test_file(path: str) -> bool:
    """Whether pytest or unittest would look for tests in a file, by its name."""
    return _FILE.fullmatch(path.replace("\\", "/").rpartition("/")[2]) is not None


def tests_in(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The tests of a file, each with what pytest puts behind its path: `::TestNet::test_forward`.

    Classes with an `__init__` are none to pytest.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_test(node):
            yield f"::{node.name}", node
        elif isinstance(node, ast.ClassDef) and _is_test_class(node):
            names = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            for part in node.body if "__init__" not in names else ():
                if isinstance(part, ast.FunctionDef) and _is_test(part):
                    yield f"::{node.name}::{part.name}", part


def drivers_in_tests(tree: ast.Module, reach: Reach, without: Collection[str] = ()) -> list[Driver]:
    """The tests that reach a function, the most promising of them first, but those named `without`."""
    if not any(_is_test(node) or isinstance(node, ast.ClassDef) for node in tree.body):
        return []
    fixtures = _fixtures(tree)
    statements = [_asking(statement, fixtures) for statement in statements_of(tree)]
    names = reaching_names(statements, _with_lines(statements, reach))
    found = list(_reached(statements, fixtures, names, reach))
    found = [one for one in found if one.name not in without]
    ranked = sorted(found, key=lambda one: _rank(one, reach.hint))[:MAX_TESTS]
    return [_driver(test, tree, fixtures, names, reach) for test in ranked]


def _with_lines(statements: list[Statement], reach: Reach) -> frozenset[str]:
    """The names of a reach, and those of the functions that use it on some of their lines."""
    return reach.names | {name for s in statements if _holds(s.node, reach.lines) for name in s.binds}


def _holds(node: ast.stmt, lines: frozenset[int]) -> bool:
    return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def _fixtures(tree: ast.Module) -> dict[str, str]:
    """The names of fixtures in a file, with those of their functions."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if "fixture" in ast.unparse(decorator).partition("(")[0]:
                    found[_stated_name(decorator) or node.name] = node.name
    return found


def _stated_name(decorator: ast.expr) -> str:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    values = (keyword.value for keyword in keywords if keyword.arg == "name")
    return next((str(value.value) for value in values if isinstance(value, ast.Constant)), "")


def _autouse(node: ast.stmt) -> bool:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any("fixture" in text and "autouse" in text for text in map(ast.unparse, decorators))


def _asking(statement: Statement, fixtures: dict[str, str]) -> Statement:
    """A statement that reads the fixtures which its functions ask for by their parameters."""
    asked = frozenset(fixtures.get(name, name) for name in _parameters(statement.node))
    return statement._replace(loads=statement.loads | asked)


def _parameters(node: ast.AST) -> Iterator[str]:
    """What tests and fixtures in a statement ask for."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            yield from _parameters(part)
    elif isinstance(node, ast.FunctionDef) and (_is_test(node) or node.decorator_list):
        for part in (*node.args.args, *node.args.kwonlyargs):
            yield part.arg


def _reached(
    statements: list[Statement], fixtures: dict[str, str], names: frozenset[str], reach: Reach
) -> Iterator[_Test]:
    """The tests that reach one of some names: by themselves, or as part of a class whose preparations do."""
    for index, statement in enumerate(statements):
        node = statement.node
        if isinstance(node, ast.FunctionDef) and _is_test(node) and node.name in names:
            yield _Test(node.name, node, None, index, _asked(node, fixtures, names).isdisjoint(fixtures.values()))
        elif isinstance(node, ast.ClassDef) and node.name in names and _is_test_class(node):
            shared = (part for part in node.body if not _is_test(part))
            prepared = any(_asked(part, fixtures, names - {node.name}) or _holds(part, reach.lines) for part in shared)
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and _is_test(part):
                    direct = bool(_asked(part, fixtures, names - {node.name})) or _holds(part, reach.lines)
                    if direct or (prepared and "self" in _names_read(part)):
                        yield _Test(f"{node.name}.{part.name}", part, node, index, direct)


def _names_read(node: ast.FunctionDef) -> set[str]:
    """All names in the body of a function, its parameters too."""
    return {part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)}


def _asked(node: ast.stmt, fixtures: dict[str, str], names: frozenset[str]) -> frozenset[str]:
    """Those of some names that a function reads or asks for."""
    return names & (free_names(node) | {fixtures.get(name, name) for name in _parameters(node)})


def _is_test_class(node: ast.ClassDef) -> bool:
    return node.name.startswith("Test") or any("Test" in ast.unparse(base) for base in node.bases)


def _rank(test: _Test, hint: str) -> tuple[bool, bool, bool, int]:
    text = test.name.lower()
    mentioned = bool(hint) and hint.lower().lstrip("_") in text
    return (bool(_DEAR.search(text)), not mentioned, not test.direct, test.node.lineno)


def _driver(test: _Test, tree: ast.Module, fixtures: dict[str, str], names: frozenset[str], reach: Reach) -> Driver:
    """The driver that runs one test; other tests of its class are left out."""
    others = [
        part for part in (test.owner.body if test.owner is not None else []) if _is_test(part) and part is not test.node
    ]
    body = list(tree.body)
    if test.owner is not None:
        owner = copy.copy(test.owner)
        owner.body = [part for part in owner.body if part not in others]
        body[test.position] = owner
    statements = [_asking(one, fixtures) for one in statements_of(ast.Module(body, []))]
    used = [name for one in statements if _autouse(one.node) for name in one.binds]
    own = {name for name in _parameters(test.node) if fixtures.get(name, name) in names}
    calling = (names | own | reach.through) - {test.name.partition(".")[0]}
    if test.owner is not None:
        calling |= {"self"}
    dropped = dropped_in(test.node.body, statements, calling)
    idle = idle_in(test.node.body, dropped)
    dropped |= {(part.lineno, part.col_offset) for part in others}
    kept = slice_for(statements, [*statements[test.position].binds, *used]).kept
    return Driver("test", test.name, kept, dropped, idle=idle)
