"""Whether, and how, a class is known to torch's pytrees: asked for classes that cross the boundary, and only then."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.pytrees import PLAIN_DECORATORS, WORDS, is_plain_base
from nonstrict.program import classes
from nonstrict.program.marks import roots
from nonstrict.program.values import NAMED_TUPLE, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.boundary.pytrees import Registration
    from nonstrict.program.definitions import Class
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_REGISTERS = re.compile(r"\b(?:" + "|".join(sorted(WORDS)) + r")\b")
#: How many helpers may stand between a registration and torch's function.
_LAYERS = 2
_METACLASSES = frozenset({"ABCMeta", "type", "EnumMeta", "EnumType"})
_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple", NAMED_TUPLE})
_TYPED_DICTS = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def is_named_tuple(cls: Class) -> bool:
    """Whether instances are named tuples, which pytrees know without registration."""
    return any(
        (isinstance(base, str) and base in _NAMED_TUPLES)
        or (not isinstance(base, str) and any(value.ref == NAMED_TUPLE for value in base.bases))
        for base in classes.lineage(cls)
    )


def is_typed_dict(cls: Class) -> bool:
    """Whether instances are plain dicts."""
    return bool(classes.external_bases(cls) & _TYPED_DICTS)


def registrations(machine: Machine, cls: Class) -> list[Registration] | None:
    """The registrations of a class; None if it cannot be told whether there are any."""
    found = machine.registrations
    _search(machine, cls)
    if cls in found.of:
        return None if all(one.kind == "other" for one in found.of[cls]) else found.of[cls]
    if _is_abstract(cls) or not _is_plain(machine, cls) or any(cls in classes.lineage(other) for other in found.of):
        return None
    if _handed_on(machine, cls):
        return None
    mentions = (machine.project.module(path) for path in sorted(found.unresolved))
    if any(module is None or re.search(rf"\b{cls.name}\b", module.source.code) for module in mentions):
        return None
    return []


def is_foreign(machine: Machine, names: Iterable[str]) -> bool:
    """Whether the project registers a class from outside the program that goes by one of some names.

    Names are compared by their last part, whatever its case: knowledge says `path` where the class is `pathlib.Path`.
    """
    wanted = {name.rpartition(".")[2].lower() for name in names}
    for path, words in _files(machine, None).items():
        module = machine.project.module(path) if path not in machine.registrations.searched else None
        if module is not None and any(re.search(rf"\b{name}\b", module.source.code, re.IGNORECASE) for name in wanted):
            machine.registrations.searched.add(path)
            _interpret(machine, module, words)
    return any(known.rpartition(".")[2].lower() in wanted for known in machine.registrations.foreign)


def _is_abstract(cls: Class) -> bool:
    """Whether what is said to be of a class is of another one, which may be registered: a protocol, or abstract."""
    if any(isinstance(base.ref, str) and base.ref.rpartition(".")[2] == "Protocol" for base in cls.bases):
        return True
    methods = (one for one in cls.node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return any(last_name(mark) == "abstractmethod" for method in methods for mark in method.decorator_list)


def _is_plain(machine: Machine, cls: Class) -> bool:
    """Whether nothing but a registration that was seen can make pytrees know a class."""
    for base in classes.lineage(cls):
        if isinstance(base, str):
            if not is_plain_base(base):
                return False
        elif not _decorated_plainly(machine, base) or _hooks_subclasses(base) or not _bases_known(base):
            return False
    return cls.module.path in machine.own_files or not machine.own_files


def _bases_known(cls: Class) -> bool:
    return all(value.kind in (Kind.CLASS, Kind.EXTERNAL) for value in cls.bases)


def _decorated_plainly(machine: Machine, cls: Class) -> bool:
    frame = cls.closure or machine.module_frame(cls.module)
    for decorator in cls.node.decorator_list:
        callee = machine.evaluate(frame, decorator.func if isinstance(decorator, ast.Call) else decorator)
        known = callee.kind is Kind.EXTERNAL and callee.ref in PLAIN_DECORATORS
        if not known and (callee.kind not in (Kind.FUNCTION, Kind.CLASS) or _may_register(callee.ref.node)):
            return False
    return True


def _may_register(node: ast.AST) -> bool:
    """Whether a function of the program calls something that may register what it is given."""
    return any("regist" in last_name(inner).lower() for inner in walk(node) if isinstance(inner, ast.Call))


def _handed_on(machine: Machine, cls: Class) -> bool:
    """Whether the class's module hands it, at the top level, to a function that no file of the run defines."""
    for statement in cls.module.outline.shell.body:
        if not isinstance(statement, (ast.Expr, ast.For)) or not _names(statement, cls.name):
            continue
        loops = isinstance(statement, ast.For) and _names(statement.iter, cls.name)
        for call in (inner for inner in walk(statement) if isinstance(inner, ast.Call)):
            if not loops and not _passes(call, cls.name):
                continue
            callee = machine.evaluate(machine.module_frame(cls.module), call.func)
            seen = callee.kind in (Kind.FUNCTION, Kind.CLASS) and callee.ref.module.path in machine.own_files
            if not seen and not (callee.kind is Kind.EXTERNAL and str(callee.ref).startswith("builtins.")):
                return True
    return False


def _passes(call: ast.Call, name: str) -> bool:
    """Whether a call is given a class itself, and not only an object of it."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    constructed = {inner.func for part in given for inner in walk(part) if isinstance(inner, ast.Call)}
    return any(
        isinstance(inner, ast.Name) and inner.id == name and inner not in constructed
        for part in given
        for inner in walk(part)
    )


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in walk(node))


def _hooks_subclasses(cls: Class) -> bool:
    """Whether a class may register those derived from it."""
    for keyword in cls.node.keywords:
        if keyword.arg == "metaclass" and last_name(keyword.value) not in _METACLASSES:
            return True
    for statement in cls.node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init_subclass__":
            return _may_register(statement)
    return False


# -- where classes are registered ---------------------------------------------------------------------------------


def _search(machine: Machine, cls: Class) -> None:
    """Interpret what registers classes in the files that mention a class by name."""
    for path, words in _files(machine, cls.module).items():
        if path in machine.registrations.searched:
            continue
        module = machine.project.module(path)
        if module is not None and (module is cls.module or cls.name in module.source.code):
            machine.registrations.searched.add(path)
            _interpret(machine, module, words)


def _interpret(machine: Machine, module: Module, words: frozenset[str]) -> None:
    roots.run_shell(machine, module, set(words))
    for chunk in module.chunks_with(words):
        node = module.outline.node(chunk)
        if node is not None and roots.applies(node, words):
            roots.evaluate_chunk(machine, module, chunk, node, set(words))


def _files(machine: Machine, own: Module | None) -> dict[str, frozenset[str]]:
    """The files that hold a registration, or a call of a helper that registers what it is given, with the words."""
    found = machine.registrations.files
    if found is None:
        found = machine.registrations.files = {}
        words = set(WORDS)
        for path in machine.elsewhere.holding(words):
            found[path] = WORDS
        for _ in range(_LAYERS):
            helpers = set[str]().union(*(_helpers(machine, path, words) for path in found)) - words
            if not helpers:
                break
            words |= helpers
            for path in (*found, *machine.elsewhere.holding(helpers)):
                found[path] = frozenset(words)
    if own is not None and own.path not in found and _REGISTERS.search(own.source.code):
        found[own.path] = WORDS | _helpers(machine, own.path, set(WORDS))
    return found


def _helpers(machine: Machine, path: str, words: set[str]) -> set[str]:
    """The functions at the top level of a file that register what they are given."""
    module = machine.project.module(path)
    if module is None:
        return set()
    found: set[str] = set()
    for chunk in module.chunks_with(words):
        node = None if chunk.is_class else module.outline.node(chunk)
        if isinstance(node, ast.FunctionDef) and (node.args.args or node.args.vararg) and roots.applies(node, words):
            found.add(chunk.name)
    return found
