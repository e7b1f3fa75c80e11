"""Containers that decorators fill: `@register("gelu")` puts the function below it into a table of its module.

A table is looked into when code asks for what it holds; by then whatever is imported has been put in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nonstrict.program.places import Origin
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.values import Value

_TABLES = frozenset({Kind.DICT, Kind.LIST})
_STORES = ("[", ".append(", ".setdefault(", ".update(")
#: More entries tell nothing new.
_MAX_ENTRIES = 40


def fill(machine: Machine, table: Value) -> None:
    """Evaluate the functions and classes that decorators put into a table that a top-level name holds, once."""
    place = table.place
    if table.kind not in _TABLES or place.origin is not Origin.GLOBAL or place in machine.filled:
        return
    machine.filled.add(place)
    module = machine.project.module(place.owner)
    decorators = _decorators(module, place.name) if module is not None else set[str]()
    if module is None or not decorators:
        return
    modules = [module, *(use.module for word in decorators for use in machine.elsewhere.users(module, word))]
    for user in dict.fromkeys(modules):
        for entry in list(_decorated(user, decorators))[:_MAX_ENTRIES]:
            machine.global_value(user, entry)


def _decorators(module: Module, name: str) -> set[str]:
    """The functions of a module that store in a table, and may be decorators: they define or return a function."""
    code = module.source.code
    if not any(f"{name}{how}" in code for how in _STORES):
        return set()  # most tables: a look at the text is cheaper than a pattern of their own
    stored = re.compile(
        rf"^[ \t]+{re.escape(name)}(?:\[[^\n]*\]\s*=[^=]|\.(?:append|setdefault|update)\()", re.MULTILINE
    )
    if not stored.search(code):
        return set()
    return {
        chunk.name
        for chunk in module.chunks_with({name})
        if not chunk.is_class and stored.search(chunk.text) and re.search(r"\breturn\b", chunk.text)
    }


def _decorated(module: Module, decorators: set[str]) -> Iterator[str]:
    words = "|".join(map(re.escape, sorted(decorators)))
    above = re.compile(rf"^@(?:\w+\.)*(?:{words})\b", re.MULTILINE)
    for chunk in module.chunks_with(decorators):
        if above.search(chunk.text):
            yield chunk.name
