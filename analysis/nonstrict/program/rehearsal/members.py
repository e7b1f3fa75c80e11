"""Attributes: what objects, classes, modules and tensors hold under a name."""

from __future__ import annotations

import math
import random
import string
import sys
from typing import TYPE_CHECKING

from nonstrict.program.rehearsal import containers, layers, module_members, tensor_members
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Closure,
    Compiled,
    Definition,
    External,
    Instance,
    Method,
    Partial,
    Scope,
    Super,
    Tensor,
)
from nonstrict.program.rehearsal.torch_calls import TRACED

if TYPE_CHECKING:
    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Modules of Python whose numbers and texts are what they are everywhere.
_CONSTANTS = {"math": math, "string": string, "sys": sys}


def member(stage: Stage, thing: Thing, name: str) -> Thing:
    """What an attribute holds; a method with its receiver."""
    if isinstance(thing, Compiled):
        return member(stage, thing.target, name)
    if isinstance(thing, Instance):
        return _of_object(stage, thing, name)
    if isinstance(thing, Tensor):
        found = tensor_members.attribute(stage, thing, name)
        known = found is not UNKNOWN or name in ("shape", "ndim", "dtype", "device", "grad", "data")
        return found if known else Method(External(f"torch.Tensor.{name}"), thing)
    if isinstance(thing, Definition):
        return _of_class(thing, name)
    if isinstance(thing, Super):
        return _behind(thing, name)
    if isinstance(thing, External):
        if thing.dotted in _CONSTANTS and hasattr(_CONSTANTS[thing.dotted], name):
            value: object = getattr(_CONSTANTS[thing.dotted], name)
            return value if isinstance(value, (int, float, str)) else External(f"{thing.dotted}.{name}")
        return External(f"{thing.dotted}.{name}")
    if isinstance(thing, Scope):
        return thing.names.get(name, UNKNOWN)
    if isinstance(thing, Partial):
        return {"func": thing.function, "keywords": thing.keywords, "args": thing.positional}.get(name, UNKNOWN)
    if isinstance(thing, Closure):
        return thing.name if name in ("__name__", "__qualname__") else UNKNOWN
    return Method(External(name), thing) if containers.has(thing, name) else UNKNOWN


def _of_object(stage: Stage, thing: Instance, name: str) -> Thing:
    if name in thing.attributes:
        return thing.attributes[name]
    if name == "__class__":
        return thing.of
    if isinstance(thing.of, Definition):
        found = thing.of.member(name)
        if found is not UNKNOWN:
            return _bound(stage, thing, found)
    if layers.is_module(thing):
        held = layers.entries(thing)
        if name in held:
            return held[name]
        if module_members.has(thing, name) or name in ("forward", "__call__"):
            return Method(External(f"{layers.LIBRARY}Module.{name}"), thing)
        return UNKNOWN
    if isinstance(thing.attributes.get("generator"), random.Random):
        return Method(External(f"random.Random.{name}"), thing)
    if isinstance(thing.of, Definition) and thing.of.member("__getattr__") is not UNKNOWN:
        return stage.call(thing.of.member("__getattr__"), (thing, name), {}, stage.here, stage.nowhere)
    dotted = thing.of.dotted if isinstance(thing.of, External) else _outside(thing.of)
    return Method(External(f"{dotted}.{name}"), thing) if dotted else UNKNOWN


def _outside(cls: Definition) -> str:
    """What a class inherits from that is not of the program; "" if nothing."""
    return next((one.dotted for one in cls.line if isinstance(one, External)), "")


def _bound(stage: Stage, receiver: Thing, found: Thing) -> Thing:
    """What a class has, as its object has it."""
    if isinstance(found, Compiled) and isinstance(found.target, Closure):
        return Compiled(Method(found.target, receiver))
    if not isinstance(found, Closure):
        return found
    if found.binding == "property":
        return stage.call(found, (receiver,), {}, stage.here, stage.nowhere)
    if found.binding == "static":
        return found
    owner = receiver.of if isinstance(receiver, Instance) else receiver
    return Method(found, owner if found.binding == "class" else receiver)


def _of_class(cls: Definition, name: str) -> Thing:
    if name == "__name__":
        return cls.name
    found = cls.member(name)
    if isinstance(found, Closure) and found.binding == "class":
        return Method(found, cls)
    if found is UNKNOWN and (dotted := _outside(cls)):
        return External(f"{dotted}.{name}")
    return found


def _behind(thing: Super, name: str) -> Thing:
    receiver = thing.receiver
    found = receiver.of.member(name, thing.behind) if isinstance(receiver.of, Definition) else UNKNOWN
    if isinstance(found, Closure):
        return found if found.binding == "static" else Method(found, receiver)
    dotted = _outside(receiver.of) if isinstance(receiver.of, Definition) else ""
    return Method(External(f"{dotted}.{name}"), receiver) if found is UNKNOWN and dotted else found


def keep(stage: Stage, thing: Thing, name: str, value: Thing) -> None:
    """Set an attribute. What a function sets that is traced apart, no later call of a region is seen to find."""
    if stage.settings.get(TRACED):
        value = UNKNOWN
    if isinstance(thing, Compiled):
        keep(stage, thing.target, name, value)
    elif isinstance(thing, Instance):
        setter = thing.of.member(f"{name}.setter") if isinstance(thing.of, Definition) else UNKNOWN
        if isinstance(setter, Closure):
            stage.call(setter, (thing, value), {}, stage.here, stage.nowhere)
        elif layers.is_module(thing) and name in layers.entries(thing):
            layers.entries(thing)[name] = value
        else:
            thing.attributes[name] = value
    elif isinstance(thing, Tensor):
        tensor_members.keep(thing, name, value)
    elif isinstance(thing, (Definition, Scope)):
        thing.names[name] = value


def put(stage: Stage, holder: Instance, key: Thing, value: Thing) -> None:
    """Set an entry of an object: of a container of modules, or as its class says."""
    if isinstance(holder.of, Definition) and holder.of.member("__setitem__") is not UNKNOWN:
        stage.call(member(stage, holder, "__setitem__"), (key, value), {}, stage.here, stage.nowhere)
    elif layers.is_module(holder):
        held = layers.entries(holder)
        if isinstance(key, int) and -len(held) <= key < len(held):
            held[list(held)[key]] = value
        elif isinstance(key, str):
            held[key] = value
    else:
        holder.attributes[f"[{key!r}]"] = value
