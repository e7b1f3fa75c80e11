"""Imports of the project's files: unsaved buffers are read in place of files, and what fails in one is left out."""

from __future__ import annotations
import __future__

import ast
import importlib.machinery
import linecache
import os
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

from nonstrict_agent import leaving_out
from nonstrict_agent.stand_ins import is_compared, loading, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType, ModuleType


def install_project(root: str, path: str, texts: Mapping[str, str]) -> None:
    """Let imports read unsaved buffers, without reading or writing bytecode for them, and survive what fails.

    `path` is the file of the program below `root`, `texts` are the buffers by path.
    """
    buffers = {os.path.abspath(name): text for name, text in texts.items()}
    is_user = user_files(root, path)

    class ProjectLoader(_ProjectLoader):
        """The loader of one project."""

    ProjectLoader.buffers, ProjectLoader.is_user, ProjectLoader.root = buffers, staticmethod(is_user), root
    hook = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (ProjectLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    )
    folders = {os.path.dirname(name) for name in buffers}

    def of_project(folder: str) -> Any:
        if not is_user(os.path.join(os.path.abspath(folder), "module.py")) and folder not in folders:
            raise ImportError("a folder of no file of the project")
        return hook(folder)

    sys.path_hooks.insert(0, of_project)
    sys.path_importer_cache.clear()
    for name, text in buffers.items():
        remember_lines(name, text)


def remember_lines(path: str, text: str) -> None:
    """Let tracebacks and `inspect` see a text instead of the file; an entry without a time is never checked again."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)


def user_files(root: str, path: str) -> Callable[[str], bool]:
    """Says of a file name whether it is the user's: below the project, and in no folder of installed packages."""
    base = os.path.join(os.path.abspath(root), "")
    installed = [os.path.join(sysconfig.get_path(name), "") for name in ("purelib", "platlib", "stdlib")]
    agent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")

    def is_user(name: str) -> bool:
        if name == path:
            return True
        if not name.startswith(base) or name.startswith(agent):
            return False
        return not any(name.startswith(folder) for folder in installed) and f"{os.sep}site-packages{os.sep}" not in name

    return is_user


class _ProjectLoader(importlib.machinery.SourceFileLoader):
    """Loads a file of the project as far as it can be loaded."""

    buffers: Mapping[str, str]
    is_user: Callable[[str], bool]
    root: str

    def get_data(self, path: str) -> bytes:
        """The buffer of a path, else the file."""
        text = self.buffers.get(os.path.abspath(path))
        return super().get_data(path) if text is None else text.encode("utf-8", "surrogatepass")

    def path_stats(self, path: str) -> Any:
        """Refuse where a buffer stands for the file: bytecode is looked up by these."""
        if os.path.abspath(path) in self.buffers:
            raise OSError("an unsaved buffer has no bytecode")
        return super().path_stats(path)

    def exec_module(self, module: ModuleType) -> None:
        """Execute a module; where a statement fails, and the program does not deal with it, go on behind it.

        Not while calls are compared: an import that fails in one is part of what it does.
        """
        code = None if is_compared() else self.get_code(module.__name__)
        if code is None:
            super().exec_module(module)
            return
        with loading():
            rest = self._run(code, module, None)
            while rest:
                statement = rest.pop(0)
                single = compile(ast.Module([statement], []), self.path, "exec", _flags(code), dont_inherit=True)
                self._run(single, module, statement)

    def _run(self, code: CodeType, module: ModuleType, statement: ast.stmt | None) -> list[ast.stmt]:
        """Run a statement, None for the whole file; returns what is left to run of that."""
        namespace, before = vars(module), uses()
        try:
            exec(code, namespace)  # noqa: S102 - inside the sandbox
        except (Exception, SystemExit) as error:
            body = [statement] if statement is not None else self._statements(error, code)
            handled = leaving_out.is_handled(error, sys._getframe(1), self.is_user)
            used = statement is not None and uses() > before
            if not body or handled or not leaving_out.may_be_left_out(body[0], error, namespace, own=False, used=used):
                raise
            where = os.path.relpath(self.path, self.root)
            leaving_out.leave_out(body[0], self.path, namespace, error, f"{where}, ")
            return body[1:]
        return []

    def _statements(self, error: BaseException, code: CodeType) -> list[ast.stmt]:
        """The statements of the file from the one that failed on; none if that is not clear."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not code:
            trace = trace.tb_next
        if trace is None:
            return []
        line = trace.tb_lineno
        tree = ast.parse(self.get_data(self.path), self.path)
        found = [index for index, one in enumerate(tree.body) if leaving_out.holds(one, line)]
        return tree.body[found[0] :] if len(found) == 1 else []


def _flags(code: CodeType) -> int:
    """The features from `__future__` that a code was compiled with."""
    flags = 0
    for name in __future__.all_feature_names:
        flags |= getattr(__future__, name).compiler_flag
    return code.co_flags & flags
