"""Leaves out a statement of a module that fails: stand-ins take the place of what it would have made.

The same for every file of a project. What the program deals with itself, by a handler around the statement or around
an import of its module, is the program's; what torch refuses, or a call that is compared raises, is an observation.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import sys
import types
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nonstrict_agent.stand_ins import MissingModuleError, StandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

#: A sentence for each statement that was left out.
told: list[str] = []

_AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
#: Files of the agent through which a module of the project is imported.
_IMPORTING = frozenset({os.path.join(_AGENT, "project_files.py"), os.path.abspath(__file__)})
#: Files of the agent that an error may come through without being one of a call that is compared.
_LOADING = _IMPORTING | {os.path.join(_AGENT, name) for name in ("loading.py", "stand_ins.py", "renamed.py")}
_IMPORT_SYSTEM = "<frozen importlib"
_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: Statements that are there for what they bind, and those of them that bind a value which is reached by its name alone.
_VALUES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With)
_MAKING = (*_VALUES, *_IMPORTS, ast.If, ast.Try)
#: Errors of statements that the program cannot do without.
_needed: list[BaseException] = []
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def leave_out(statement: ast.stmt, path: str, namespace: dict[str, Any], error: BaseException, where: str = "") -> None:
    """Bind what a statement would have made to stand-ins, and tell of it; `where` begins the place of the statement."""
    reason = f"{where}line {statement.lineno}: {sentence(error)}"
    if isinstance(statement, _IMPORTS):
        for alias in statement.names:
            _import_again(statement, alias, path, namespace, error)
    else:
        for name in (*bound_names(statement), *_changed_names(statement, namespace)):
            namespace[name] = StandIn(name, f"could not be made: {reason}")
    told.append(f"left out: {reason}")


def _import_again(
    statement: ast.Import | ast.ImportFrom, alias: ast.alias, path: str, namespace: dict[str, Any], error: BaseException
) -> None:
    """Import one of the names of a statement, where others may be what fails; a stand-in if it cannot be imported."""
    outer = alias.name.split(".")[0]
    is_from = isinstance(statement, ast.ImportFrom)
    single = ast.ImportFrom(statement.module, [alias], statement.level) if is_from else ast.Import([alias])
    if len(statement.names) > 1 and (not is_from or _is_imported(statement, namespace)):
        try:
            tree = ast.Module([ast.copy_location(single, statement)], [])
            exec(compile(tree, path, "exec", dont_inherit=True), namespace)  # noqa: S102 - inside the sandbox
        except (Exception, SystemExit) as again:  # noqa: BLE001 - the reason is kept
            error = again
        else:
            return
    if not is_from and not alias.asname and outer in sys.modules:
        namespace[outer] = sys.modules[outer]  # the package is there, if not all of it
    elif alias.name != "*":
        source = f"{statement.module or ''}.{alias.name}".strip(".") if is_from else alias.name
        told_of = str(error) or type(error).__name__
        bound = alias.asname or (alias.name if is_from else outer)
        namespace[bound] = StandIn(source, f"could not be imported: {told_of}")


def _is_imported(statement: ast.ImportFrom, namespace: dict[str, Any]) -> bool:
    """Whether the module is there that a statement imports from."""
    name = "." * statement.level + (statement.module or "")
    try:
        return importlib.util.resolve_name(name, namespace.get("__package__") or "") in sys.modules
    except ImportError:
        return False


def bound_names(statement: ast.stmt) -> Collection[str]:
    """The names that a top-level statement binds, without those inside functions and classes."""
    names: set[str] = set()
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, _DEFINITIONS):
            names.add(node.name)
            continue
        if isinstance(node, _IMPORTS):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        pending.extend(ast.iter_child_nodes(node))
    return names


def _changed_names(statement: ast.stmt, namespace: dict[str, Any]) -> Iterator[str]:
    """The variables whose values a statement would have changed; what modules hold is not the statement's alone."""
    found = (root.id for root, is_below in _roots(statement) if is_below)
    return (name for name in found if not isinstance(namespace.get(name), types.ModuleType))


def _roots(statement: ast.stmt) -> Iterator[tuple[ast.Name, bool]]:
    """The variables that a statement stores something in, or calls for what that does; whether it is below them."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, _DEFINITIONS):
            continue
        target: ast.expr | None = None
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            target = node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            target = node.value.func
        whole = target
        while isinstance(target, (ast.Attribute, ast.Subscript, ast.Call)):
            target = target.func if isinstance(target, ast.Call) else target.value
        if isinstance(target, ast.Name):
            yield target, target is not whole
        pending.extend(ast.iter_child_nodes(node))


def may_be_left_out(
    statement: ast.stmt, error: BaseException, namespace: dict[str, Any], *, own: bool, used: bool
) -> bool:
    """Whether a program may go on without what a statement would have made, unless that is used.

    `own` says that it stands in the program's own file, where what a definition raises, and a statement that makes
    nothing, is what the program does; `used`, that it used stand-ins, which then are the reason. What torch refuses is
    an observation there; elsewhere only a value, for which a stand-in can be, may be missing. Nothing that sets
    something of torch may.
    """
    if any(error is one for one in _needed):
        return False
    if used or isinstance(error, MissingModuleError):
        return True
    if not isinstance(error, (Exception, SystemExit)) or _comes_through(error, _AGENT):
        return False
    if _sets_torch(statement, namespace):
        _needed.append(error)
        return False
    if own and not (isinstance(statement, _MAKING) and bound_names(statement)):
        return False
    # A file that is missing is no refusal of torch, even where torch opens it.
    refused = not isinstance(error, (OSError, ImportError)) and _comes_through(error, _folder_of_torch())
    return not refused or (not own and isinstance(statement, _VALUES))


def _sets_torch(statement: ast.stmt, namespace: dict[str, Any]) -> bool:
    """Whether a statement changes something of torch, or calls it for what it does."""
    values = [namespace.get(root.id) for root, _ in _roots(statement)]
    modules = (one.__name__ for one in values if isinstance(one, types.ModuleType))
    # What is made by torch is the program's.
    owners = (getattr(one, "__module__", "") for one in values if isinstance(one, (types.FunctionType, type)))
    return any(str(name).partition(".")[0] == "torch" for name in (*modules, *owners))


def _folder_of_torch() -> str:
    return os.path.join(os.path.dirname(str(getattr(sys.modules.get("torch"), "__file__", ""))), "")


def _comes_through(error: BaseException, folder: str) -> bool:
    """Whether files of a folder are among those that an error came through, but for those that load the program."""
    return any(name.startswith(folder) and name not in _LOADING for name in _files_of(error))


def _files_of(error: BaseException) -> Iterator[str]:
    """The files that an error came through, from the statement that failed inwards."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename
        trace = trace.tb_next


def is_handled(error: BaseException, frame: types.FrameType | None, is_user: Callable[[str], bool]) -> bool:
    """Whether the program may deal with an error itself, in the frames from one outwards: then it is not ours.

    Only files of the project, whose handlers can be read, are sure not to.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_AGENT) and name not in _IMPORTING:
            return False
        if is_user(name):
            if _is_handled_in(error, frame):
                return True
        elif not name.startswith(_IMPORT_SYSTEM) and name not in {*_IMPORTING, importlib.__file__}:
            return True
        frame = frame.f_back
    return False


def _is_handled_in(error: BaseException, frame: types.FrameType) -> bool:
    """Whether a handler around the line that a frame is at takes an error; any `with` may."""
    around = _around(frame.f_code.co_filename, frame.f_lineno)
    return any(isinstance(one, (ast.With, ast.AsyncWith)) or _takes(one, error, frame) for one in around)


def _takes(node: ast.AST, error: BaseException, frame: types.FrameType) -> bool:
    for handler in getattr(node, "handlers", ()):
        if handler.type is None:
            return True
        try:
            code = compile(ast.Expression(handler.type), "<handler>", "eval")
            kinds = eval(code, frame.f_globals, frame.f_locals)  # noqa: S307 - inside the sandbox
            if isinstance(error, kinds):
                return True
        except Exception:  # noqa: BLE001 - nothing is known of it
            return True
    return False


def _around(path: str, line: int) -> list[ast.AST]:
    """The `try` and `with` statements whose bodies hold a line, up to the function that it belongs to."""
    tree = _tree_of(path, "".join(linecache.getlines(path)))
    found: list[ast.AST] = []
    node: ast.AST | None = tree
    while node is not None:
        if isinstance(node, _SCOPES):
            found = []
        node = next((child for child in _parts(node) if holds(child, line)), None)
        if isinstance(node, ast.stmt) and hasattr(node, "body"):
            inside = any(holds(one, line) for one in getattr(node, "body", []))
            if inside and (hasattr(node, "handlers") or isinstance(node, (ast.With, ast.AsyncWith))):
                found.append(node)
    return found


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The statements and handlers in a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield child


def holds(node: ast.AST, line: int) -> bool:
    """Whether a line is one of a statement's, with its decorators."""
    return _first_line(node) <= line <= (getattr(node, "end_lineno", None) or 0)


def _first_line(node: ast.AST) -> int:
    own = [one.lineno for one in getattr(node, "decorator_list", ())]
    return min([getattr(node, "lineno", 0), *own])


@lru_cache(maxsize=64)
def _tree_of(path: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, path)
    except SyntaxError:
        return ast.Module([], [])


def sentence(error: BaseException) -> str:
    """The type of an error and the first line of what it says."""
    text = str(error).strip().split("\n")[0][:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
