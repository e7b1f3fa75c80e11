"""What a module puts on `sys.path` while it is imported, as far as it is written out there.

Statements are read in the order in which they run: those outside functions, functions of the module where they call
them (`add_path(lib)`), loops over what is written out, and the modules that they import, which may do the same
(`import _init_paths`).
"""

from __future__ import annotations

import ast
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import children
from nonstrict.facts.words import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.linking.disk import Disk

#: Modules that import modules that change the path are followed so far, and functions that call functions.
_MAX_NESTED = 3
_MAX_ROUNDS = 16
#: The modules that a line imports.
_IMPORTED = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t(]+|import[ \t]+)([\w. \t,]*)", re.MULTILINE)
_BLOCKS = ("body", "orelse", "finalbody")
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Additions(NamedTuple):
    """Absolute folders that a file puts before and behind what is on `sys.path`."""

    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


def changes_path(code: str) -> bool:
    """Whether a text may put something on `sys.path`."""
    begins = next((end for _, end in places(code, ("sys",))), None)
    found = begins is not None and any(start >= begins for start, _ in places(code, ("path",)))
    return found or any(True for _ in places(code, ("addsitedir",)))


def additions(
    module: Module, around: list[str], imported: Callable[[str, str], Module | None], disk: Disk
) -> Additions:
    """The folders that a module, and the modules that it imports, put on `sys.path`.

    Relative folders are meant from the working directory: it may be any of those `around`. `imported` gives the module
    of a dotted name below a folder if that module may change the path.
    """
    before: list[str] = []
    behind: list[str] = []
    reached: dict[str, int] = {}

    def follow(module: Module, depth: int) -> None:
        reached[module.path] = depth
        if depth > _MAX_NESTED or not (changes_path(module.source.code) or _leads(module, around, imported)):
            return
        for change in PathReader(module).run(module.outline.shell.body):
            if isinstance(change, _Put):
                bases = [os.path.dirname(os.path.abspath(module.path)), *around]
                found = _folder(change.folder, bases, disk)
                before[:0] = [found] if found is not None and change.first else []
                behind.extend([found] if found is not None and not change.first else [])
            else:
                found = (imported(folder, change) for folder in (*before, *around))
                other = next((one for one in found if one is not None), None)
                # Python runs a module once. From a shorter way to it more is seen of what it imports.
                if other is not None and reached.get(other.path, depth + 2) > depth + 1:
                    follow(other, depth + 1)

    follow(module, 0)
    return Additions(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(behind)))


def _leads(module: Module, around: list[str], imported: Callable[[str, str], Module | None]) -> bool:
    """Whether a module imports one that may change the path."""
    for start, names in _IMPORTED.findall(module.source.code):
        parts = [next(iter(name.split()), "") for name in names.split(",")]
        for dotted in [start, *(f"{start}.{part}" for part in parts)] if start else parts:
            if dotted and any(imported(folder, dotted) is not None for folder in around):
                return True
    return False


def _folder(value: str, bases: list[str], disk: Disk) -> str | None:
    """The folder that a path means, seen from the first of some folders where it exists."""
    folders = [value] if os.path.isabs(value) else [os.path.join(base, value) for base in bases]
    return next((folder for folder in map(os.path.normpath, folders) if disk.is_folder(folder)), None)


class _Put(NamedTuple):
    """A path that is put on `sys.path`, first or last."""

    folder: str
    first: bool


class PathReader:
    """Reads paths that a file computes from its own place and from literals."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._file = os.path.abspath(module.path)
        self._bound: dict[str, str | None] = {}
        self._nested = 0

    def run(self, body: Iterable[ast.stmt]) -> Iterator[_Put | str]:
        """What statements put on `sys.path` one after the other, and the names of the modules that they import."""
        for statement in body:
            if isinstance(statement, ast.Import):
                yield from (one.name for one in statement.names)
            elif isinstance(statement, ast.ImportFrom):
                yield from self._imported(statement)
            elif isinstance(statement, (ast.For, ast.AsyncFor)):
                yield from self._loop(statement)
            elif not isinstance(statement, _DEFINITION):
                yield from self._plain(statement)

    def _imported(self, statement: ast.ImportFrom) -> Iterator[str]:
        if not statement.level and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{one.name}" for one in statement.names if one.name != "*")

    def _plain(self, statement: ast.stmt) -> Iterator[_Put | str]:
        for expression, first in self._put(statement):
            yield from self._known(expression, first=first)
        for call in _calls(statement):
            for expression, first in self._called(call):
                yield from self._known(expression, first=first)
            yield from self._own(call)
        if isinstance(statement, ast.Assign) and self._nested:
            self._bound |= {
                one.id: self.text(statement.value) for one in statement.targets if isinstance(one, ast.Name)
            }
        for block in _BLOCKS:
            yield from self.run(getattr(statement, block, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from self.run(handler.body)

    def _known(self, expression: ast.expr, *, first: bool) -> Iterator[_Put]:
        value = self.text(expression)
        if value is not None:
            yield _Put(value, first)

    def _loop(self, statement: ast.For | ast.AsyncFor) -> Iterator[_Put | str]:
        """The rounds of a loop over elements that are written out."""
        if isinstance(statement.target, ast.Name):
            for element in _elements(self.written(statement.iter))[:_MAX_ROUNDS]:
                self._bound[statement.target.id] = self.text(element)
                yield from self.run(statement.body)

    def written(self, node: ast.expr) -> ast.expr:
        """The expression that a name of the module stands for."""
        bindings = self._module.bindings.get(node.id, []) if isinstance(node, ast.Name) else []
        bound = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return bound if isinstance(bound, ast.expr) else node

    def _own(self, call: ast.Call) -> Iterator[_Put | str]:
        """What a function of the module does that is called by its name."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        chunk = next((one for one in self._module.outline.chunks if one.name == name and not one.is_class), None)
        if chunk is None or self._nested >= _MAX_NESTED or not changes_path(f"sys {chunk.text}"):
            return
        node = self._module.outline.glimpse(chunk)
        if not isinstance(node, ast.FunctionDef):
            return
        parameters = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        named = [(one.arg, one.value) for one in call.keywords if one.arg is not None]
        given = {
            parameter: self.text(value) for parameter, value in (*zip(parameters, call.args, strict=False), *named)
        }
        outer = self._bound
        self._bound = {**dict.fromkeys(parameters, None), **given}
        self._nested += 1
        yield from self.run(node.body)
        self._bound, self._nested = outer, self._nested - 1

    def _put(self, node: ast.stmt) -> Iterator[tuple[ast.expr, bool]]:
        """The folders that an assignment puts on `sys.path`, and whether they go first."""
        if isinstance(node, ast.AugAssign) and self.dotted(node.target) == "sys.path":
            yield from ((one, False) for one in _elements(node.value))
        elif isinstance(node, ast.Assign) and self._is_path(node.targets):
            if isinstance(node.value, ast.BinOp):
                yield from ((one, True) for one in reversed(_elements(node.value.left)))
                yield from ((one, False) for one in _elements(node.value.right))
            elif isinstance(node.value, (ast.List, ast.Tuple)):
                yield from self._listed(node.value.elts)
        elif isinstance(node, ast.Assign) and self._is_start(node.targets):
            yield from ((one, True) for one in reversed(_elements(node.value)))

    def _listed(self, elements: list[ast.expr]) -> Iterator[tuple[ast.expr, bool]]:
        """`sys.path = [a, *sys.path, b]`."""
        whole = (
            index for index, one in enumerate(elements) if isinstance(one, ast.Starred) and self._is_path([one.value])
        )
        middle = next(whole, len(elements))
        yield from ((one, True) for one in reversed(elements[:middle]))
        yield from ((one, False) for one in elements[middle + 1 :])

    def _is_start(self, targets: list[ast.expr]) -> bool:
        """Whether what is assigned goes before everything else: `sys.path[0:0] = [...]`."""
        return any(
            isinstance(one, ast.Subscript)
            and self._is_path([one.value])
            and isinstance(one.slice, ast.Slice)
            and isinstance(one.slice.upper, ast.Constant)
            and one.slice.upper.value == 0
            for one in targets
        )

    def _is_path(self, targets: list[ast.expr]) -> bool:
        return any(self.dotted(target) == "sys.path" for target in targets)

    def _called(self, node: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
        name = self.dotted(node.func)
        if name == "sys.path.insert" and len(node.args) > 1:
            yield node.args[1], True
        elif name in ("sys.path.append", "site.addsitedir") and node.args:
            yield node.args[0], False
        elif name == "sys.path.extend" and node.args:
            yield from ((one, False) for one in _elements(node.args[0]))

    def text(self, node: ast.expr) -> str | None:
        """The path that an expression computes; None if that is not known."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.BinOp):
            return self._joined(node)
        if isinstance(node, ast.Attribute):
            if self.dotted(node) in ("os.curdir", "os.path.curdir"):
                return "."
            if self.dotted(node) in ("os.pardir", "os.path.pardir"):
                return ".."
            return self._parent(node.value, 1) if node.attr == "parent" else None
        if isinstance(node, ast.Subscript):
            of, index = node.value, node.slice
            if isinstance(of, ast.Attribute) and of.attr == "parents" and isinstance(index, ast.Constant):
                return self._parent(of.value, index.value + 1) if isinstance(index.value, int) else None
            return None
        return self._result(node) if isinstance(node, ast.Call) else None

    def _named(self, name: str) -> str | None:
        if name in self._bound:
            return self._bound[name]
        bindings = self._module.bindings.get(name, [])
        if name == "__file__" and not bindings:
            return self._file
        if len(bindings) != 1 or bindings[0].kind != "assign" or not isinstance(bindings[0].node, ast.expr):
            return None
        self._bound[name] = None  # of itself it cannot be made
        found = self.text(bindings[0].node)
        del self._bound[name]
        return found

    def _joined(self, node: ast.BinOp) -> str | None:
        left, right = self.text(node.left), self.text(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Div):
            return os.path.join(left, right)
        return left + right if isinstance(node.op, ast.Add) else None

    def _parent(self, node: ast.expr, levels: int) -> str | None:
        found = self.text(node)
        for _ in range(levels if found is not None else 0):
            found = os.path.dirname(found or "")
        return found

    def _result(self, node: ast.Call) -> str | None:
        """What a function of `os.path`, a constructor or a method of a path returns."""
        name = self.dotted(node.func)
        given = [self.text(argument) for argument in node.args]
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
        base = self.text(node.func.value)
        if base is not None and node.func.attr in _OWN:
            return os.path.normpath(base)
        return os.path.join(base, *known) if base is not None and node.func.attr == "joinpath" else None

    def dotted(self, node: ast.AST) -> str:
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


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls in a statement, in order, but not those in its blocks."""
    blocks = {id(inner) for name in (*_BLOCKS, "handlers") for inner in getattr(statement, name, ())}
    pending = [statement]
    found: list[ast.Call] = []
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            found.append(node)
        pending += [one for one in children(node) if id(one) not in blocks and not isinstance(one, _DEFINITION)]
    return iter(sorted(found, key=lambda node: (node.lineno, node.col_offset)))
