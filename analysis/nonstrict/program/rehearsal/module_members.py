"""What every module has: its parameters and parts, its mode, conversions, hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.rehearsal import layers
from nonstrict.program.rehearsal.dtypes import dtype_named, dtype_of
from nonstrict.program.rehearsal.things import UNKNOWN, Instance, sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

    Handler = Callable[[Stage, Instance, Sequence[Thing], dict[str, Thing]], Thing]

BEFORE, BEHIND = "_forward_pre_hooks", "_forward_hooks"


def _train(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    mode = given[0] if given else named.get("mode", True)
    for _, one in layers.everything(module):
        one.attributes["training"] = mode
    return module


def _eval(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return _train(stage, module, (False,), {})


def _require(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    needs = given[0] if given else named.get("requires_grad", True)
    for one in layers.parameters(module).values():
        one.requires_grad = needs is not False
    return module


def _compile(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    module.compiled = named.get("disable") is not True
    return None


def _convert(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    dtype = next((told for one in (*given, *named.values()) if (told := dtype_of(one))), "")
    return _converted(module, dtype) if dtype else module


def _converted(module: Instance, dtype: str) -> Thing:
    for one in layers.parameters(module).values():
        one.dtype = dtype
    return module


def _parameters(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter(layers.parameters(module).values())


def _named_parameters(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter(layers.parameters(module).items())


def _modules(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter([one for _, one in layers.everything(module)])


def _named_modules(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter([*layers.everything(module)])


def _children(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter(layers.children(module).values())


def _named_children(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return iter(layers.children(module).items())


def _register(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    several = [*given, *named.values()]
    if len(several) > 1 and isinstance(several[0], str):
        is_container = layers.base_of(module) in layers.CONTAINERS
        (layers.entries(module) if is_container else module.attributes)[several[0]] = several[1]
    return None


def _hook(place: str) -> Handler:
    def register(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
        hooks = [*(sequence(module.attributes.get(place, ())) or ()), *given[:1]]
        module.attributes[place] = tuple(hooks)
        return UNKNOWN

    return register


def _append(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    held = layers.entries(module)
    held[str(len(held))] = given[0] if given else UNKNOWN
    return module


def _extend(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    for one in (stage.iterate(given[0]) or ()) if given else ():
        _append(stage, module, (one,), {})
    return module


def _keys(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return list(layers.entries(module))


def _values(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return list(layers.entries(module).values())


def _items(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return list(layers.entries(module).items())


def _itself(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return module


def _clear(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    for one in layers.parameters(module).values():
        one.grad = None
    return None


def _apply(stage: Stage, module: Instance, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return module


_HANDLERS: dict[str, Handler] = {
    "train": _train,
    "eval": _eval,
    "requires_grad_": _require,
    "compile": _compile,
    "to": _convert,
    "parameters": _parameters,
    "named_parameters": _named_parameters,
    "modules": _modules,
    "named_modules": _named_modules,
    "children": _children,
    "named_children": _named_children,
    **dict.fromkeys(("register_buffer", "register_parameter", "add_module", "register_module"), _register),
    "register_forward_pre_hook": _hook(BEFORE),
    "register_forward_hook": _hook(BEHIND),
    **dict.fromkeys(("append", "add"), _append),
    "extend": _extend,
    "keys": _keys,
    "values": _values,
    "items": _items,
    **dict.fromkeys(("cpu", "cuda", "share_memory"), _itself),
    "zero_grad": _clear,
    "apply": _apply,
}
#: Of containers only.
_OF_CONTAINERS = frozenset({"append", "add", "extend", "keys", "values", "items"})


def has(module: Instance, name: str) -> bool:
    """Whether a name is a method that modules have, or containers of them where this is one."""
    if name in _OF_CONTAINERS:
        return layers.base_of(module) in layers.CONTAINERS
    return name in _HANDLERS or bool(dtype_named(name))


def called(stage: Stage, module: Instance, name: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a method gives that every module has."""
    if name not in _HANDLERS:
        return _converted(module, dtype_named(name))
    return _HANDLERS[name](stage, module, given, named)
