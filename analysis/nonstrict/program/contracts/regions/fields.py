"""Fields of dataclasses that keep their default: what no code of the program sets is decided while tracing."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.program.domain.values import NO_CONSTANT, Kind, Value
from nonstrict.program.interpret import expressions
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame

#: What stands behind a name that is assigned to, also by an augmented assignment.
_ASSIGNED = re.compile(r"\s*(?:=(?!=)|(?:[-+*/%@&|^]|\*\*|//|<<|>>)=)")
#: What is given to a class that is called, and the arguments of a construction that gives none by position.
_GIVEN = re.compile(r"\(([^()]*)")
_BY_NAME = re.compile(r"\w+\s*=(?!=)|$")
#: What stands around a class that is handed on or derived from, or bound: others make its objects, or change it.
_OPENING, _CLOSING = re.compile(r"[(,=\[]\s*(?:\w+\.)?$"), re.compile(r"\s*[,)\]]")
_BOUND, _LAST = re.compile(r"=\s*$"), re.compile(r"[ \t]*$", re.MULTILINE)
_LOOKED_BACK = 200
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
    """Whether some code that knows a class may give a field another value: by name, by position, or unseen."""
    known = frame.machine.elsewhere.mentions(cls.module, cls.name)
    return any(_may_set(module, cls.name, field) for module in (cls.module, *known))


def _may_set(module: Module, name: str, field: str) -> bool:
    code = module.source.code
    for start, end in module.outline.places((field,)):
        if _ASSIGNED.match(code, end) or code[start - 1 : start] == code[end : end + 1] in ("'", '"'):
            return True
    for start, end in module.outline.places((name,)):
        given = _GIVEN.match(code, end)
        if given is None:
            handed_on = _OPENING.search(code, max(0, start - _LOOKED_BACK), start) and _CLOSING.match(code, end)
            if handed_on or (_BOUND.search(code, max(0, start - _LOOKED_BACK), start) and _LAST.match(code, end)):
                return True
        elif "*" in given[1] or _BY_NAME.match(given[1].strip()) is None:
            return True
    return False
