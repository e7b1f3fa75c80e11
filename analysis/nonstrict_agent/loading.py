"""Makes the part of a user's file that an experiment needs into a module: the real name, the real lines, no more code.

The engine says which top-level statements are kept. They are executed one by one; an import that fails binds its names
to an object that raises only when it is used. Texts of unsaved buffers stand in for files on the disk.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import importlib.machinery
import linecache
import os
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict_agent import renamed
from nonstrict_agent.recorder import EnoughCalls

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


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


class Loaded(NamedTuple):
    """The module, and a sentence for each import that failed and each statement that was left out for it."""

    module: types.ModuleType
    missing: list[str]


def install_overlays(texts: Mapping[str, str]) -> None:
    """Let imports read unsaved buffers instead of files, without reading or writing bytecode for them."""
    buffers = {os.path.abspath(path): text for path, text in texts.items()}

    class BufferLoader(importlib.machinery.SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            """The buffer of a path, else the file."""
            text = buffers.get(os.path.abspath(path))
            return super().get_data(path) if text is None else text.encode("utf-8", "surrogatepass")

        def path_stats(self, path: str) -> Any:
            """Refuse where a buffer stands for the file: bytecode is looked up by these."""
            if os.path.abspath(path) in buffers:
                raise OSError("an unsaved buffer has no bytecode")
            return super().path_stats(path)

    if buffers:
        hook = importlib.machinery.FileFinder.path_hook(
            (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
            (BufferLoader, importlib.machinery.SOURCE_SUFFIXES),
            (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
        )
        sys.path_hooks.insert(0, hook)
        sys.path_importer_cache.clear()
    for path, text in buffers.items():
        remember_lines(path, text)


def remember_lines(path: str, text: str) -> None:
    """Let tracebacks and `inspect` see a text instead of the file; an entry without a time is never checked again."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


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
            raise LoadError(f"the package `{package}` cannot be imported: {_sentence(error)}") from error
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


def load(program: Program, missing: list[str] | None = None) -> Loaded:
    """Execute the kept statements of a program.

    `missing` is a list that is filled, also where no result comes because the program is stopped.

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
    loaded = Loaded(module_of(program), [] if missing is None else missing)
    namespace = vars(loaded.module)
    for index, statement in enumerate(tree.body):
        if program.kept is None or index in program.kept:
            for part in _unguarded(statement):
                try:
                    _execute(part, program.path, namespace, loaded.missing, flags)
                except LoadError as error:
                    if not program.in_cells:
                        raise
                    loaded.missing.append(str(error))
    return loaded


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


def _execute(statement: ast.stmt, path: str, namespace: dict[str, Any], missing: list[str], flags: int) -> None:
    try:
        code = compile(ast.Module([statement], []), path, "exec", flags=flags, dont_inherit=True)
        exec(code, namespace)  # noqa: S102 - inside the sandbox
    except ImportError as error:
        importing = isinstance(statement, (ast.Import, ast.ImportFrom, ast.Try, ast.If))
        if not importing and not isinstance(error, MissingModuleError):
            raise LoadError(f"line {_line(error, path) or statement.lineno}: {_sentence(error)}") from error
        missing.append(f"line {statement.lineno}: {error}")
        for name in bound_names(statement):
            namespace.setdefault(name, Missing(name, error))
    except EnoughCalls:
        raise
    except BaseException as error:  # `pytest.importorskip` raises none that is an `Exception`
        raise LoadError(f"line {_line(error, path) or statement.lineno}: {_sentence(error)}") from error


def bound_names(statement: ast.stmt) -> Collection[str]:
    """The names that a top-level statement binds, without those inside functions and classes."""
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        pending.extend(ast.iter_child_nodes(node))
    return names


class MissingModuleError(ImportError):
    """A module that could not be imported is needed after all."""


class Missing:
    """What a failed import is bound to: it raises the reason when it is used."""

    def __init__(self, name: str, error: BaseException) -> None:
        self.__dict__.update(_name=name, _error=error)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        raise MissingModuleError(f"`{self._name}` could not be imported: {self._error}")

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        """Refuse to be called."""
        raise MissingModuleError(f"`{self._name}` could not be imported: {self._error}")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """Refuse to be a base class."""
        raise MissingModuleError(f"`{self._name}` could not be imported: {self._error}")


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


def _sentence(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _line(error: BaseException, path: str) -> int | None:
    """The innermost line of a file that an error came from."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
