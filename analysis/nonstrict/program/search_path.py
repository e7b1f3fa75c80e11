"""The folders in which Python looks for what a file imports, as far as the file and the folders around it tell.

Which folders are on `sys.path` depends on how a program is started: the folder of the script comes first, the working
directory with `-m` and with test runners, both usually folders of the project. All folders around the file up to the
root of the project count, the nearest first, each with its `src`; what the file itself puts on `sys.path` goes before
or behind them.
"""

from __future__ import annotations

import ast
import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.modules import Module

#: What stands in the root of a project: no import leads out of it.
_PROJECT = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
#: How many folders above a file count where nothing marks the root of a project.
_MAX_ABOVE = 5
_RELATIVE = re.compile(r"^[ \t]*from[ \t]+(\.+)", re.MULTILINE)
_CHANGES = re.compile(r"\bpath\b")
_MAX_DEPTH = 12


class Additions(NamedTuple):
    """Absolute folders that a file puts before and behind what is on `sys.path`."""

    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


def relative_level(code: str) -> int:
    """How many packages a file lies in at least, for its relative imports to lead anywhere."""
    return max((len(dots) for dots in _RELATIVE.findall(code)), default=0) if "from ." in code else 0


def search_path(module: Module, root: str, ends: frozenset[str]) -> tuple[str, ...]:
    """The absolute folders from which the absolute imports of a file are looked up, in order.

    `root` is the folder that holds the outermost package of the file, or the file itself; `ends` are folders from which
    nothing leads up: those of installed packages.
    """
    around = _around(root, ends)
    added = _additions(module, around)
    # A file that imports by the name of a folder that it lies in is not run from within that folder.
    named = [above for below, above in pairwise(around) if _names(module.source.code, os.path.basename(below))]
    with_sources = [one for folder in (*named, *around) for one in (folder, os.path.join(folder, "src"))]
    return tuple(dict.fromkeys((*added.before, *with_sources, *added.behind)))


def _around(root: str, ends: frozenset[str]) -> list[str]:
    """A folder and those above it, up to the root of the project or one of `ends`."""
    around = [root]
    while not _is_project(around[-1]) and around[-1] not in ends and len(around) <= _MAX_ABOVE:
        parent = os.path.dirname(around[-1])
        if os.path.dirname(parent) == parent:
            break
        around.append(parent)
    return around


def _names(code: str, folder: str) -> bool:
    """Whether a text imports by the name of a folder."""
    if f"from {folder}" not in code and f"import {folder}" not in code:
        return False
    return re.search(rf"^[ \t]*(?:from|import)[ \t]+{re.escape(folder)}\.", code, re.MULTILINE) is not None


def _is_project(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in _PROJECT)


def _additions(module: Module, around: list[str]) -> Additions:
    """What the statements of a file outside functions put on `sys.path`, as far as it is written out there.

    Relative folders are meant from the working directory: it may be any of those `around`.
    """
    code = module.source.code
    if "sys" not in code or _CHANGES.search(code) is None:
        return Additions()
    reader = _Reader(module)
    before: list[str] = []
    behind: list[str] = []
    statements = (node for node in walk(module.outline.shell) if isinstance(node, (ast.stmt, ast.Call)))
    for node in sorted(statements, key=lambda node: (node.lineno, node.col_offset)):
        for expression, first in reader.put(node):
            value = reader.text(expression)
            if value is not None:
                bases = [os.path.dirname(os.path.abspath(module.path)), *around]
                folders = [value] if os.path.isabs(value) else [os.path.join(base, value) for base in bases]
                found = next((folder for folder in map(os.path.normpath, folders) if os.path.isdir(folder)), None)
                if found is not None:
                    before[:0] = [found] if first else []
                    behind += [] if first else [found]
    return Additions(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(behind)))


class _Reader:
    """Reads paths that a file computes from its own place and from literals."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._file = os.path.abspath(module.path)

    def put(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        """The folders that a statement or call puts on `sys.path`, and whether they go first."""
        if isinstance(node, ast.Call):
            yield from self._called(node)
        elif isinstance(node, ast.AugAssign) and self._dotted(node.target) == "sys.path":
            yield from ((one, False) for one in _elements(node.value))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and self._is_path(node.targets):
            yield from ((one, True) for one in reversed(_elements(node.value.left)))
            yield from ((one, False) for one in _elements(node.value.right))

    def _is_path(self, targets: list[ast.expr]) -> bool:
        return any(self._dotted(target) == "sys.path" for target in targets)

    def _called(self, node: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
        name = self._dotted(node.func)
        if name == "sys.path.insert" and len(node.args) > 1:
            yield node.args[1], True
        elif name in ("sys.path.append", "site.addsitedir") and node.args:
            yield node.args[0], False
        elif name == "sys.path.extend" and node.args:
            yield from ((one, False) for one in _elements(node.args[0]))

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """The path that an expression computes; None if that is not known."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._named(node.id, depth)
        if isinstance(node, ast.BinOp):
            return self._joined(node, depth)
        if isinstance(node, ast.Attribute):
            if self._dotted(node) in ("os.curdir", "os.path.curdir"):
                return "."
            if self._dotted(node) in ("os.pardir", "os.path.pardir"):
                return ".."
            return self._parent(node.value, 1, depth) if node.attr == "parent" else None
        if isinstance(node, ast.Subscript):
            of, index = node.value, node.slice
            if isinstance(of, ast.Attribute) and of.attr == "parents" and isinstance(index, ast.Constant):
                return self._parent(of.value, index.value + 1, depth) if isinstance(index.value, int) else None
            return None
        return self._result(node, depth) if isinstance(node, ast.Call) else None

    def _named(self, name: str, depth: int) -> str | None:
        bindings = self._module.bindings.get(name, [])
        if name == "__file__" and not bindings:
            return self._file
        if len(bindings) != 1 or bindings[0].kind != "assign" or not isinstance(bindings[0].node, ast.expr):
            return None
        return self.text(bindings[0].node, depth + 1)

    def _joined(self, node: ast.BinOp, depth: int) -> str | None:
        left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Div):
            return os.path.join(left, right)
        return left + right if isinstance(node.op, ast.Add) else None

    def _parent(self, node: ast.expr, levels: int, depth: int) -> str | None:
        found = self.text(node, depth + 1)
        for _ in range(levels if found is not None else 0):
            found = os.path.dirname(found or "")
        return found

    def _result(self, node: ast.Call, depth: int) -> str | None:
        """What a function of `os.path`, a constructor or a method of a path returns."""
        name = self._dotted(node.func)
        given = [self.text(argument, depth + 1) for argument in node.args]
        known = [one for one in given if one is not None]
        if len(known) != len(given):
            return None
        if name in ("os.getcwd", "pathlib.Path.cwd"):
            return "."
        if name in _JOINING and known:
            return os.path.join(*known)
        if name in _KEEPING and len(known) == 1:
            return known[0]
        if name == "os.path.dirname" and len(known) == 1:
            return os.path.dirname(known[0])
        if name in ("os.path.abspath", "os.path.realpath", "os.path.normpath") and len(known) == 1:
            return os.path.normpath(known[0])
        if name or not isinstance(node.func, ast.Attribute):
            return None
        base = self.text(node.func.value, depth + 1)
        if base is not None and node.func.attr in _OWN:
            return os.path.normpath(base)
        return os.path.join(base, *known) if base is not None and node.func.attr == "joinpath" else None

    def _dotted(self, node: ast.AST) -> str:
        """The dotted name that a chain of attributes stands for by the imports of the file; "" for anything else."""
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        bindings = self._module.bindings.get(node.id, [])
        if not bindings:
            return ".".join((f"builtins.{node.id}", *reversed(steps)))
        binding = bindings[0]
        if binding.kind != "import" or binding.level:
            return ""
        origin = f"{binding.module}.{binding.attribute}" if binding.attribute else binding.module
        return ".".join((origin, *reversed(steps)))


_JOINING = frozenset({"os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"})
_KEEPING = frozenset({"builtins.str", "os.fspath", "os.path.expanduser"})
#: Methods of a path that give the same path.
_OWN = frozenset({"resolve", "absolute", "as_posix", "expanduser", "__str__", "__fspath__"})


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, (ast.List, ast.Tuple)) else []
