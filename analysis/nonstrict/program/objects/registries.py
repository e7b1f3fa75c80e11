"""Containers that a program fills while it is imported, by decorators, by calls and by stores.

`@register("gelu")` puts the function below it into a table of its module, and so do `register("gelu", gelu)` and
`TABLE.update(gelu=gelu)` outside functions. A table is looked into when code asks for what it holds; by then whatever
is imported has been put in.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.models.members import STORING
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, UNKNOWN, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_TABLES = frozenset({Kind.DICT, Kind.LIST})
#: Layers that hold what is put into them.
_OF_MODULES = frozenset({"torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"})
_DICTS = frozenset({"builtins.dict", "collections.OrderedDict", "collections.UserDict"})
#: Where a definition begins, behind its decorators.
_BEGINS = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)\b", re.MULTILINE)
_STORES = ("[", *(f".{method}(" for method in sorted(STORING)))
#: More entries tell nothing new.
_MAX_ENTRIES = 40


class _Ways(NamedTuple):
    """What puts entries into a table: the functions and methods that store there, and the names that lead to them."""

    storing: frozenset[str] = frozenset()
    leading: frozenset[str] = frozenset()


def asked(frame: Frame, table: Value, holder: Value | None = None) -> None:
    """A table is read: where code runs once everything is imported, whatever is put into it is there.

    `holder` is the object or class whose attribute the table is, where it is one.
    """
    if not frame.static or frame.function is not None:
        _fill(frame.machine, table, holder)
    elif holder is None and _is_plain(table):
        _fill_in_loops(frame.machine, table)


def _is_plain(table: Value) -> bool:
    """Whether a value is a list or dict, of modules perhaps, that begins empty."""
    empty = table.heap is not None and table.heap.element is None and not table.heap.open
    return empty and _is_built_in(table)


def _fill_in_loops(machine: Machine, table: Value) -> None:
    """Put into a list what the statements of its module do, loops among them, where nothing else stores in it."""
    place = table.place
    module = machine.project.module(place.file) if place.root is Root.GLOBAL and not place.path else None
    if module is None or place in machine.filled or not any(True for _ in module.outside({place.name})):
        return
    putting = [one for one in module.outline.shell.body if _puts(one, frozenset(), place.name)]
    if any(isinstance(one, ast.For) for one in putting) and not _ways(module, place.name).leading:
        machine.filled.add(place)
        _enter(machine, module, frozenset(), place.name)


def _fill(machine: Machine, table: Value, holder: Value | None) -> None:
    """Evaluate what puts something into a table that a top-level name holds, once."""
    place = table.place
    if place.root is not Root.GLOBAL or place in machine.filled or not _is_table(table):
        return
    machine.filled.add(place)
    module = machine.project.module(place.file)
    if module is None or len(place.path) != (0 if holder is None else 1):
        return
    key = place.path[0][1:] if place.path else place.name
    cls = holder.of_class if holder is not None else None
    if holder is None and not _is_built_in(table):
        cls = table.of_class
    name = "self" if holder is None else key
    ways = _own_ways(cls, name, place.name) if cls is not None else _ways(module, key)
    users = (use.module for word in sorted(ways.leading) for use in machine.elsewhere.users(module, word))
    modules = list(dict.fromkeys((module, *users)))
    entries = [(one, name) for one in modules if ways.storing for name in _decorated(one, ways.storing)]
    if len(entries) > _MAX_ENTRIES:
        _leave_open(table)
    else:
        for one, name in entries:
            machine.global_value(one, name)
    for one in modules:
        _enter(machine, one, ways.storing, key)


def _leave_open(table: Value) -> None:
    """More is put into a table than can be told apart: what it holds is not known."""
    if table.heap is not None:
        table.heap.open = True
        table.heap.store(NO_CONSTANT, UNKNOWN)


def _is_built_in(value: Value) -> bool:
    """Whether a value is a dict or list of Python, or one of modules."""
    return value.kind in _TABLES or (value.kind is Kind.MODULE and value.dotted in _OF_MODULES)


def _is_table(value: Value) -> bool:
    """Whether a value is a dict or list, or an object of a class of the program that is a dict."""
    if _is_built_in(value):
        return True
    cls = value.of_class if value.kind is Kind.OBJECT else None
    return cls is not None and any(base.kind is Kind.EXTERNAL and base.dotted in _DICTS for base in cls.bases)


def _enter(machine: Machine, module: Module, storing: frozenset[str], table: str) -> None:
    """Run the statements of a module outside definitions that store in a table."""
    if not any(True for _ in module.outside(storing | {table})):
        return
    frame = machine.module_frame(module)
    for statement in [one for one in module.outline.shell.body if _puts(one, storing, table)][:_MAX_ENTRIES]:
        saved = dict(frame.env)
        machine.execute(frame, [statement])
        frame.env, frame.done = saved, False


def _puts(statement: ast.stmt, storing: frozenset[str], table: str) -> bool:
    """Whether a statement outside functions calls what stores in a table, or stores there itself."""
    if isinstance(statement, ast.For):
        return any(_puts(inner, storing, table) for inner in statement.body)
    if isinstance(statement, ast.Assign):
        return any(isinstance(to, ast.Subscript) and last_name(to.value) == table for to in statement.targets)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    changes = isinstance(called, ast.Attribute) and called.attr in STORING and last_name(called.value) == table
    return changes or last_name(called) in storing


def _ways(module: Module, table: str) -> _Ways:
    """What stores in a table that is a top-level name of a module."""
    stored = _stores(module.source.code, table)
    if stored is None:
        return _Ways()
    chunks = [chunk for chunk in module.chunks_with({table}) if stored.search(chunk.text)]
    storing, leading = set[str](), set[str]()
    for chunk in chunks:
        leading.add(chunk.name)
        if chunk.is_class:
            storing |= _methods(module.outline.node(chunk), chunk.text, stored)
            leading |= module.assigned_from.get(chunk.name, set())
        else:
            storing.add(chunk.name)
    return _Ways(frozenset(storing), frozenset(leading))


def _own_ways(cls: Class, table: str, holder: str) -> _Ways:
    """What stores in a table that is an attribute of a class or of its instances; `holder` is a name of one."""
    chunks = (chunk for chunk in cls.module.chunks_with({cls.name}) if chunk.is_class and chunk.name == cls.name)
    chunk = next(chunks, None)
    stored = _stores(chunk.text, table) if chunk is not None else None
    if chunk is None or stored is None:
        return _Ways()
    return _Ways(frozenset(_methods(cls.node, chunk.text, stored)), frozenset({cls.name, holder}))


def _stores(code: str, table: str) -> re.Pattern[str] | None:
    """What a store in a table looks like inside of definitions; None if there is none."""
    if not any(f"{table}{how}" in code for how in _STORES):
        return None  # most tables: a look at the text is cheaper than a pattern of their own
    changing = "|".join(sorted(STORING))
    stored = re.compile(rf"^[ \t]+(?:\w+\.)*{re.escape(table)}(?:\[[^\n]*\]\s*=[^=]|\.(?:{changing})\()", re.MULTILINE)
    return stored if stored.search(code) else None


def _methods(node: ast.AST | None, text: str, stored: re.Pattern[str]) -> set[str]:
    """The methods of a class in which a table is stored in."""
    lines = text.split("\n")
    return {
        method.name
        for method in getattr(node, "body", ())
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not (method.name.startswith("__") and method.name.endswith("__"))
        and stored.search("\n".join(lines[method.lineno - 1 : method.end_lineno]))
    }


def _decorated(module: Module, decorators: frozenset[str]) -> Iterator[str]:
    words = "|".join(map(re.escape, sorted(decorators)))
    above = re.compile(rf"^[ \t]*@(?:\w+\.)*(?:{words})\b", re.MULTILINE)
    for chunk in module.chunks_with(decorators):
        begins = _BEGINS.search(chunk.text)
        if begins is not None and above.search(chunk.text, 0, begins.start()):
            yield chunk.name
