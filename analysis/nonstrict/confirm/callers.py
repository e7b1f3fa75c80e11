"""Finds in the other files of a project what sets a marked function going: tests, scripts, models that use it.

A file is looked at only if it mentions the function, or what a file between them makes of it, and imports it by a name
that leads to its file. Everything is judged by the text of names; whether the function is reached, the run shows.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.drivers import drivers_of, reaching_names
from nonstrict.confirm.import_names import imported_as
from nonstrict.confirm.operator_names import MARK
from nonstrict.confirm.programs import Program, targets_of
from nonstrict.confirm.project import search_path
from nonstrict.confirm.slices import statements_of
from nonstrict.confirm.testing import Reach, drivers_in_tests, is_test_file
from nonstrict.facts.execution import is_main_guard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.confirm.drivers import Driver
    from nonstrict.confirm.project import File, Project
    from nonstrict.confirm.suspects import Suspect

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Files that are parsed in search of the callers of one function, and imports from file to file that are followed.
_MAX_PARSED, _CALLS_UP = 60, 4
#: Test files beyond which no further imports are followed.
_ENOUGH = 4
_MAX_PER_FILE, MAX_CALLERS = 2, 6


class Caller(NamedTuple):
    """A driver in another file."""

    program: Program
    driver: Driver


class _User(NamedTuple):
    """A file that uses a function, by how many files in between."""

    file: File
    reach: Reach
    depth: int


def callers_of(program: Program, suspect: Suspect, project: Project) -> list[Caller]:
    """The drivers of a marked function in other files of a project, the most promising first."""
    targets = targets_of(program, suspect)
    if not targets or not program.path.endswith(".py") or not project.holds(program.path):
        return []
    users = _Users(program, targets, suspect.function.rpartition(".")[2], project).found()
    stem = os.path.splitext(os.path.basename(program.path))[0]
    found: list[Caller] = []
    for user in sorted(users, key=lambda one: _rank(one, stem)):
        drivers = _drivers(user)
        if drivers:
            other = _program(user.file, program, project)
            found += [Caller(other, driver) for driver in drivers[:_MAX_PER_FILE]]
        if len(found) >= MAX_CALLERS:
            break
    return found[:MAX_CALLERS]


def _rank(user: _User, stem: str) -> tuple[bool, int, bool, int, str]:
    path = user.file.path
    name = os.path.basename(path)
    return (not is_test_file(path), user.depth, stem not in name, path.count(os.sep), path)


def _drivers(user: _User) -> list[Driver]:
    tree, reach = user.file.tree, user.reach
    if is_test_file(user.file.path):
        return drivers_in_tests(tree, reach)
    return drivers_of(user.file.statements, reach.names | _users_by_line(user.file, reach), reach.through)


def _users_by_line(file: File, reach: Reach) -> frozenset[str]:
    """The definitions that use the function by a module's name, and that name where the top level itself does."""
    found: set[str] = set()
    for statement in file.statements:
        node = statement.node
        if not any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in reach.lines):
            continue
        found |= statement.binds if isinstance(node, _DEFINITIONS) else reach.through
    return frozenset(found)


def _program(file: File, program: Program, project: Project) -> Program:
    """The program of a caller; the marked function's own file is read as it was analysed."""
    own = project.file(program.path)
    overlays = dict(program.overlays)
    if own is None or own.text != program.text:
        overlays[program.path] = program.text
    imported = imported_as(file.path, file.text)
    further = dict.fromkeys((*imported.further, *search_path(project.root), *program.imported.folders))
    packages = tuple({**dict(program.imported.packages), **dict(imported.packages)}.items())
    further = (one for one in further if one not in imported.folders)
    imported = imported._replace(further=tuple(further), packages=packages)
    return Program(file.path, file.text, program.root, file.tree, overlays, program.makers, imported)


class _Users:
    """The search for the files that use a function."""

    def __init__(self, program: Program, targets: frozenset[str], hint: str, project: Project) -> None:
        self._program = program
        self._hint = hint
        self._project = project
        self._exports: dict[str, frozenset[str]] = {}
        self._users: dict[str, _User] = {}
        #: Names of fixtures by directory of their `conftest.py`.
        self._fixtures: dict[str, frozenset[str]] = {}
        self._looked = 0
        names = reaching_names(statements_of(program.tree), targets)
        self._frontier: dict[str, frozenset[str]] = {program.path: names}

    def found(self) -> list[_User]:
        """The files that use the function, directly or through others."""
        for depth in range(_CALLS_UP):
            fresh: dict[str, frozenset[str]] = {}
            for path, names in self._frontier.items():
                for dotted in self._project.names_of(path):
                    self._exports[dotted] = names
            for path in self._candidates():
                user = self._user(path, depth)
                if user is not None:
                    self._users[path] = user
                    if not is_test_file(path):
                        fresh[path] = self._names_in(user)
            self._note_fixtures(fresh)
            self._frontier = fresh
            if not fresh or sum(map(is_test_file, self._users)) >= _ENOUGH:
                break
        return list(self._users.values())

    def _candidates(self) -> Iterator[str]:
        """The files that mention what is exported by the files found last, tests first."""
        listed: dict[str, None] = {}
        for path, names in self._frontier.items():
            if os.path.basename(path) == "conftest.py":
                listed |= dict.fromkeys(self._project.mentioning(names, below=os.path.dirname(path)))
            else:
                words = {dotted.rpartition(".")[2] for dotted in self._project.names_of(path)}
                listed |= dict.fromkeys(self._project.mentioning(words, {*names, r"import *"}))
                operators = {name.rpartition(MARK)[2] for name in names if MARK in name}
                listed |= dict.fromkeys(self._project.mentioning(operators, {"ops"}))
        for path in sorted(listed, key=self._order):
            if path == self._program.path or path in self._users:
                continue
            self._looked += 1
            if self._looked > _MAX_PARSED:
                return
            yield path

    def _order(self, path: str) -> tuple[bool, bool, str]:
        own = self._program.imported.name.rpartition(".")[2]
        return (not is_test_file(path), own not in os.path.basename(path), path)

    def _user(self, path: str, depth: int) -> _User | None:
        file = self._project.file(path)
        if file is None:
            return None
        folder = os.path.dirname(path)
        above = (names for base, names in self._fixtures.items() if (folder + os.sep).startswith(base + os.sep))
        given = frozenset[str]().union(*above) if is_test_file(path) else frozenset[str]()
        reach = reach_in(file, self._exports, self._project.root)
        if not reach.names and not reach.lines and not given:
            return None
        return _User(file, reach._replace(names=reach.names | given, hint=self._hint), depth)

    def _names_in(self, user: _User) -> frozenset[str]:
        names = user.reach.names | _users_by_line(user.file, user.reach)
        return reaching_names(user.file.statements, names)

    def _note_fixtures(self, users: Mapping[str, frozenset[str]]) -> None:
        for path, names in users.items():
            if os.path.basename(path) == "conftest.py":
                defined = {node.name for node in self._users[path].file.tree.body if isinstance(node, ast.FunctionDef)}
                self._fixtures[os.path.dirname(path)] = names & defined


def reach_in(file: File, exports: Mapping[str, frozenset[str]], root: str) -> Reach:
    """How a file comes to names that some modules export (by every dotted name of a module)."""
    # Operators are read by their own names wherever they were registered.
    read = frozenset[str]().union(*(statement.loads for statement in file.statements))
    names = {name for exported in exports.values() for name in exported if MARK in name and name in read}
    lines: set[int] = set()
    modules: dict[str, str] = {}
    for statement in file.tree.body:
        for node in ast.walk(statement):
            inside = isinstance(statement, _DEFINITIONS) or is_main_guard(statement)
            own = _imported(node, file.path, exports, root, modules)
            if own and inside:
                lines.add(getattr(node, "lineno", statement.lineno))
            elif own:
                names |= own
    through: set[str] = set()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and _leads(node, modules, exports):
            lines.add(node.lineno)
            through.add(_chain(node)[0])
    return Reach(frozenset(names), frozenset(through), frozenset(lines))


def _imported(
    node: ast.AST, path: str, exports: Mapping[str, frozenset[str]], root: str, modules: dict[str, str]
) -> set[str]:
    """The exported names that an import binds; modules that lead to some are added to `modules`, by their own names."""
    names: set[str] = set()
    if isinstance(node, ast.ImportFrom):
        source = _source(node, path, root)
        known = exports.get(source, frozenset())
        for alias in node.names:
            whole = f"{source}.{alias.name}"
            if alias.name == "*":
                names |= known
            elif alias.name in known:
                names.add(alias.asname or alias.name)
            elif _is_module(whole, exports):
                modules[alias.asname or alias.name] = whole
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname and _is_module(alias.name, exports):
                modules[alias.asname] = alias.name
            elif not alias.asname:
                first = alias.name.partition(".")[0]
                if _is_module(first, exports):
                    modules[first] = first
    return names


def _source(node: ast.ImportFrom, path: str, root: str) -> str:
    """The dotted name of the module that an import takes from; of a relative one, from the root down."""
    if not node.level:
        return node.module or ""
    folder = os.path.dirname(path)
    for _ in range(node.level - 1):
        folder = os.path.dirname(folder)
    parts = os.path.relpath(folder, root).split(os.sep)
    return ".".join([*(part for part in parts if part != os.curdir), *([node.module] if node.module else [])])


def _is_module(dotted: str, exports: Mapping[str, frozenset[str]]) -> bool:
    return any(name == dotted or name.startswith(f"{dotted}.") for name in exports)


def _leads(node: ast.Attribute, modules: Mapping[str, str], exports: Mapping[str, frozenset[str]]) -> bool:
    """Whether `A.b.c` is an exported name."""
    chain = _chain(node)
    if not chain or chain[0] not in modules:
        return False
    owner = ".".join([modules[chain[0]], *chain[1:-1]])
    return chain[-1] in exports.get(owner, ())


def _chain(node: ast.expr) -> list[str]:
    """The names of `a.b.c`; empty for anything else."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        before = _chain(node.value)
        return [*before, node.attr] if before else []
    return []
