"""What a `defaultdict` makes for a key that it does not hold."""

from __future__ import annotations

import ast

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import CONTAINERS, UNKNOWN, AbstractObject, Kind, Value
from nonstrict.program.objects import typed
from nonstrict.program.state.frames import Frame

#: Entries that are known by their factory; tensors among them would be made when they are first asked for.
_PLAIN = CONTAINERS | {Kind.NUMBER, Kind.STRING, Kind.BOOL, Kind.OBJECT}


def made_by(frame: Frame, factory: Value) -> Value | None:
    """The entry that a factory makes: a type, a class of the program, or a lambda that makes one."""
    found: Value | None = None
    if factory.kind is Kind.EXTERNAL:
        models = frame.machine.models
        found = typed.result(models, models.result(factory.dotted))
    elif factory.kind is Kind.CLASS:
        found = _instance(frame, factory)
    elif factory.function is not None and isinstance(factory.function.node, ast.Lambda):
        found = of_lambda(frame, factory)
    return found if found is not None and found.kind in _PLAIN else None


def _instance(frame: Frame, factory: Value) -> Value:
    """An instance of its own: nothing is to be stored in what stands for all instances of a class."""
    instance = frame.machine.instance_at(factory.of_class, FRESH) if factory.of_class is not None else UNKNOWN
    made = AbstractObject()
    if instance.heap is not None:
        made.attributes = dict(instance.heap.attributes)
        made.open = instance.heap.open
    return instance._replace(heap=made)


def of_lambda(frame: Frame, factory: Value) -> Value:
    """What `lambda: []` makes when it is called; anything that it does besides is done when it is called."""
    function = factory.function
    if function is None or not isinstance(function.node, ast.Lambda):
        return UNKNOWN
    outside = Frame(frame.machine, function.module, function.offset, Summary(function.qualname), static=True)
    outside.function = function
    return frame.machine.evaluate(outside, function.node.body)
