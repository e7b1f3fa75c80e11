"""Makes the part of a user's file that an experiment needs into a module: the real name, the real lines, no more code.

The engine says which top-level statements are kept. They are executed one by one; one that fails is left out as far as
the program can do without what it makes.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import importlib.machinery
import os
import sys
import types
from typing import Any, NamedTuple

from nonstrict_agent import leaving_out, renamed
from nonstrict_agent.leaving_out import leave_out, may_be_left_out, sentence
from nonstrict_agent.project_files import remember_lines
from nonstrict_agent.recorder import EnoughCalls
from nonstrict_agent.stand_ins import loading, uses

#: Names of folders that hold installed packages.
_INSTALLED = ("site-packages", "dist-packages")


class LoadError(Exception):
    """The program could not be executed up to the experiment; the text says where and why."""


class Program(NamedTuple):
    """What is loaded.

    `module` is the dotted name by which it is imported. Its imports are looked for in `folders` first, and in those of
    `further` behind the standard library; `packages` are (dotted name, folder) of those that no such folder holds by
    their name. `kept` are the positions of top-level statements, None for all; `dropped` are
    (line, column) of statements inside functions and blocks that are left out. `cuda` says that there is a GPU to run
    on. In a program that is `in_cells`, what one statement raises does not end it: the next cell is run all the same.
    """

    path: str
    text: str
    root: str
    module: str
    folders: tuple[str, ...]
    further: tuple[str, ...]
    kept: frozenset[int] | None
    dropped: frozenset[tuple[int, int]]
    cuda: bool
    in_cells: bool = False
    packages: tuple[tuple[str, str], ...] = ()


def module_of(program: Program) -> types.ModuleType:
    """An empty module under the name that imports of the project would give it, its packages imported."""
    search(program)
    name = program.module
    module = types.ModuleType(name)
    module.__file__ = program.path
    is_package = os.path.basename(program.path) == "__init__.py"
    package = name.rpartition(".")[0]
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=program.path, is_package=is_package)
    module.__package__ = name if is_package else package
    if is_package:
        module.__path__ = module.__spec__.submodule_search_locations = [os.path.dirname(os.path.abspath(program.path))]
    if package:
        try:
            importlib.import_module(package)
        except Exception as error:
            raise LoadError(f"the package `{package}` cannot be imported: {sentence(error)}") from error
    sys.modules[name] = module
    return module


def search(program: Program) -> None:
    """Let imports look where those of a program do."""
    renamed.install(dict(program.packages))
    first = [one for one in program.folders if one not in sys.path]
    sys.path[0:0] = first
    further = [one for one in (*program.further, program.root) if one and one not in sys.path]
    installed = (index for index, entry in enumerate(sys.path) if os.path.basename(entry) in _INSTALLED)
    place = next(installed, len(sys.path))
    sys.path[place:place] = dict.fromkeys(further)


def load(program: Program) -> types.ModuleType:
    """The module of a program, in which the kept statements are executed; `leaving_out.told` says which failed.

    Raises:
        LoadError: a statement raised, or the text does not parse.
    """
    try:
        tree = ast.parse(program.text, program.path)
    except SyntaxError as error:
        raise LoadError(f"line {error.lineno}: {error.msg}") from error
    flags = _future_flags(tree)
    tree = _Dropped(program.dropped).visit(tree)
    if not program.cuda:
        tree = _OnCpu().visit(tree)
    remember_lines(program.path, program.text)
    module = module_of(program)
    for index, statement in enumerate(tree.body):
        if program.kept is None or index in program.kept:
            for part in _unguarded(statement):
                try:
                    _execute(part, program.path, vars(module), flags)
                except LoadError as error:
                    if not program.in_cells:
                        raise
                    leaving_out.told.append(str(error))
    return module


def _unguarded(statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a main guard, which is only kept where it is what sets the program going."""
    if isinstance(statement, ast.If) and any(
        isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test)
    ):
        return statement.body
    return [statement]


def _future_flags(tree: ast.Module) -> int:
    """The features that a file imports from `__future__`, as `compile` takes them for each of its statements."""
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def _execute(statement: ast.stmt, path: str, namespace: dict[str, Any], flags: int) -> None:
    before = uses()
    try:
        code = compile(ast.Module([statement], []), path, "exec", flags=flags, dont_inherit=True)
        with loading():
            exec(code, namespace)  # noqa: S102 - inside the sandbox
    except EnoughCalls:
        raise
    except BaseException as error:  # `pytest.importorskip` raises none that is an `Exception`
        if not may_be_left_out(statement, error, namespace, own=True, used=uses() > before):
            raise LoadError(f"line {_line(error, path) or statement.lineno}: {sentence(error)}") from error
        leave_out(statement, path, namespace, error)


class _Dropped(ast.NodeTransformer):
    """Leaves statements out; a block that loses all of them passes."""

    def __init__(self, positions: frozenset[tuple[int, int]]) -> None:
        self._positions = positions

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Filter the blocks of a node after those inside it."""
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                continue
            kept = [part for part in block if (part.lineno, part.col_offset) not in self._positions]
            if name == "body" and not kept and not isinstance(node, ast.Module):
                kept = [ast.copy_location(ast.Pass(), block[0])]
            if isinstance(node, ast.Module):
                kept = [
                    ast.copy_location(ast.Pass(), part) if (part.lineno, part.col_offset) in self._positions else part
                    for part in block
                ]
            setattr(node, name, kept)
        return node


class _OnCpu(ast.NodeTransformer):
    """Puts on the CPU what a program asks of a GPU that is not there."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and (node.value == "cuda" or node.value.startswith("cuda:")):
            return ast.copy_location(ast.Constant("cpu"), node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """`f"cuda:{index}"` as a whole; a CPU has no number."""
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and first.value == "cuda:":
            return ast.copy_location(ast.Constant("cpu"), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and len(node.args) <= 1:
            node.func.attr, node.args, node.keywords = "cpu", [], []
        return node


def _line(error: BaseException, path: str) -> int | None:
    """The innermost line of a file that an error came from."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
