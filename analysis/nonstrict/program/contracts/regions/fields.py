"""Fields of dataclasses that keep their default: what no text of the program sets is decided while tracing."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import NO_CONSTANT, Kind, Value
from nonstrict.program.interpret import expressions
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.frames import Frame

#: The arguments of a construction that gives none by position.
_BY_NAME = re.compile(r"\w+\s*=(?!=)|$")
_DECIDED = frozenset({Kind.BOOL, Kind.NUMBER, Kind.STRING})


def default(frame: Frame, test: ast.expr) -> Value | None:
    """The constant that a field holds in every object of its class; None if there is none, or that is not sure."""
    if not isinstance(test, ast.Attribute):
        return None
    holder = expressions.evaluate(frame, test.value)
    if holder.kind is not Kind.OBJECT or holder.of_class is None or not classes.is_dataclass(holder.of_class):
        return None
    held = holder.heap.attributes.get(test.attr) if holder.heap is not None else None
    if held is not None and held.kind not in _DECIDED:
        return None  # something else was stored there
    found = classes.own_member(frame.machine, holder.of_class, test.attr)
    known = found is not None and found.kind in _DECIDED and found.const is not NO_CONSTANT
    return found if known and not _is_set(frame, holder.of_class, test.attr) else None


def _is_set(frame: Frame, cls: Class, field: str) -> bool:
    """Whether some text that knows a class may give a field another value: by name, by position, or unseen."""
    known = frame.machine.elsewhere.mentions(cls.module, cls.name)
    return any(_may_set(module.source.code, cls.name, field) for module in (cls.module, *known))


def _may_set(code: str, name: str, field: str) -> bool:
    assigned = re.search(rf"\b{field}\s*(?:=(?!=)|[-+*/|&]=)|[\"']{field}[\"']", code)
    # A class that is handed on or derived from is made, or changed, by others.
    handed_on = re.search(rf"[(,=\[]\s*(?:\w+\.)?{name}\s*[,)\]]|=\s*{name}\s*$", code, re.MULTILINE)
    given = (match.group(1).strip() for match in re.finditer(rf"\b{name}\(([^()]*)", code))
    return bool(assigned or handed_on) or any("*" in text or _BY_NAME.match(text) is None for text in given)
