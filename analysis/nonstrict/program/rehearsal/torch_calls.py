"""Calls of torch: what makes tensors, what computes with them, and what changes a setting."""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from nonstrict.knowledge.markers import MARKERS, TRACE_QUESTIONS
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.rehearsal.applied import applied
from nonstrict.program.rehearsal.dtypes import dtype_of
from nonstrict.program.rehearsal.tensors import MOST_NUMBERS, sizes_of
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Closure,
    Compiled,
    External,
    Instance,
    Method,
    Partial,
    Setting,
    Tensor,
    is_tuple,
    plain_dict,
    plain_list,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Contracts of functions of which only the operators are recorded: what else they do happens while they are traced.
_TRACED = frozenset({"nonstrict", "in-graph", "leaf", "constant-result"})
#: The setting that holds while such a function runs.
TRACED = "traced"
_GRADIENTS = {"torch.no_grad": False, "torch.inference_mode": False, "torch.enable_grad": True}
#: `torch.randint(low, high, size)`; the first of two numbers is 0 where only one is given.
_DRAWS = "torch.randint"
#: What a machine does not have on which a rehearsal is played.
_MISSING = frozenset(
    {"torch.cuda.is_available", "torch.cuda.is_bf16_supported", "torch.backends.mps.is_available"}
    | {"torch.distributed.is_available", "torch.distributed.is_initialized", "torch.xpu.is_available"}
)


def called(stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a call of a function of torch gives."""
    if dotted in MARKERS:
        return _marked(MARKERS[dotted].kind, dotted, given, named)
    if dotted in TRACE_QUESTIONS:
        return stage.inside > 0
    if dotted in _GRADIENTS:
        return _gradients(given, dotted)
    if dotted in _HANDLERS:
        return _HANDLERS[dotted](stage, given, named)
    if dotted in _MISSING:
        return False
    made = _made(stage, dotted, given, named)
    return _computed(stage, dotted, given, named) if made is None else made


def _marked(kind: str, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """What a marker gives: a compiled function, or one that is traced apart."""
    if kind == "compiled":
        return _compiled(given, named)
    if not given:
        return Partial(External(dotted), (), named)
    first = given[0]
    return with_setting(first, Setting(TRACED, True)) if kind in _TRACED and isinstance(first, Closure) else first


def _compiled(given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    if named.get("disable") is True:
        return given[0] if given else UNKNOWN
    target = given[0] if given else named.get("model")
    if target is None:
        return Partial(External("torch.compile"), (), named)
    return Compiled(target) if isinstance(target, (Closure, Method, Instance, Partial)) else target


def _gradients(given: Sequence[Thing], dotted: str) -> Thing:
    """A context manager, or a function that is run in one."""
    setting = Setting("grad", _GRADIENTS[dotted])
    if given and isinstance(given[0], Closure):
        return with_setting(given[0], setting)
    return setting


def with_setting(function: Closure, setting: Setting) -> Closure:
    """A function that runs with a setting of torch."""
    settings = (*function.settings, (setting.name, setting.value))
    made = Closure(function.node, function.scope, function.owner, function.defaults, function.keyword_defaults)
    made.binding, made.generates, made.manages = function.binding, function.generates, function.manages
    made.settings = settings
    return made


def _set_gradients(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """`torch.set_grad_enabled`: it holds from the call on, and where it is entered for a block."""
    on = given[0] if given else named.get("mode", UNKNOWN)
    before = stage.settings["grad"]
    stage.settings["grad"] = on is not False
    return Setting("grad", on, before)


def _autocast(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    dtype = dtype_of(named.get("dtype", given[1] if len(given) > 1 else None)) or "bfloat16"
    return Setting("autocast", dtype if named.get("enabled", True) is not False else "")


def _set_dtype(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    stage.settings["dtype"] = dtype_of(given[0] if given else named.get("d")) or "float32"
    return None


def _are_gradients_on(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return stage.settings["grad"]


def _is_tensor(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    return isinstance(given[0], Tensor) if given and given[0] is not UNKNOWN else UNKNOWN


def _mark(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    """Mark dimensions of a tensor: no size of them is guarded."""
    tensor, index = (given[0] if given else named.get("t")), named.get("index", given[1] if len(given) > 1 else None)
    if isinstance(tensor, Tensor):
        several = [index] if isinstance(index, int) else sequence(index) or []
        rank = len(tensor.shape or ()) or 1
        tensor.marked |= {one % rank for one in several if isinstance(one, int)}
    return None


def _parameter(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    data = given[0] if given else named.get("data")
    needs = named.get("requires_grad", given[1] if len(given) > 1 else True) is not False
    if not isinstance(data, Tensor):
        return Tensor(None, "", needs, parameter=True)
    return Tensor(data.shape, data.dtype, needs, parameter=True, layout=data.layout)


def _gradients_of(stage: Stage, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    inputs = sequence(given[1]) if len(given) > 1 else None
    if inputs is None and len(given) > 1:
        inputs = [given[1]]
    found = [Tensor(one.shape, one.dtype) if isinstance(one, Tensor) else UNKNOWN for one in inputs or ()]
    return tuple(found) if found else UNKNOWN


_HANDLERS: dict[str, Callable[[Stage, Sequence[Thing], dict[str, Thing]], Thing]] = {
    **dict.fromkeys(("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"), _set_gradients),
    **dict.fromkeys(("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast"), _autocast),
    "torch.set_default_dtype": _set_dtype,
    "torch.is_grad_enabled": _are_gradients_on,
    "torch.is_tensor": _is_tensor,
    "torch.autograd.grad": _gradients_of,
    **dict.fromkeys(("torch.nn.Parameter", "torch.nn.parameter.Parameter"), _parameter),
    **dict.fromkeys(
        (
            f"torch._dynamo.{place}{name}"
            for place in ("", "decorators.")
            for name in ("mark_dynamic", "maybe_mark_dynamic", "mark_unbacked")
        ),
        _mark,
    ),
}


# -- what is made -------------------------------------------------------------------------------------------------


def _made(stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Tensor | None:
    """A tensor that is made of sizes or numbers; None for what computes with tensors."""
    name = dotted.rpartition(".")[2]
    dtype, default = dtype_of(named.get("dtype")), str(stage.settings["dtype"])
    needs = named.get("requires_grad") is True
    if name in ("tensor", "as_tensor", "asarray", "from_numpy"):
        return _of_data(given, dtype, default, needs=needs)
    if name in ("arange", "linspace", "logspace", "randperm"):
        return _numbered(stage, name, given, named, dtype)
    if dotted == _DRAWS:
        return _drawn(stage, given, named, dtype)
    operator = torch_function(dotted)
    if operator is None or not (operator.sized or operator.sizes):
        return None
    if operator.sized and any(isinstance(one, Tensor) for one in given[:1]):
        return None
    numbers = next((at for at in sorted(operator.sizes, reverse=True) if at < len(given)), 0)
    sizes = named.get("size")
    told = [sizes] if sizes is not None else given[numbers:] if operator.spread else given[numbers : numbers + 1]
    shape = sizes_of(list(told)) if told else None
    if name == "full" and not dtype:
        filled = given[1] if len(given) > 1 else named.get("fill_value")
        dtype = "int64" if type(filled) is int else "bool" if isinstance(filled, bool) else default
    return Tensor(shape, dtype or operator.result_dtype("", len(given), ()).replace("default", default), needs)


def _of_data(given: Sequence[Thing], dtype: str, default: str, *, needs: bool) -> Tensor:
    data = given[0] if given else UNKNOWN
    if isinstance(data, Tensor):
        return Tensor(data.shape, dtype or data.dtype, needs, numbers=data.numbers)
    flat: list[float] = []
    shape = _shape_of(data, flat)
    if shape is None:
        return Tensor(None, dtype, needs)
    whole = all(isinstance(one, int) for one in flat)
    truths = bool(flat) and all(isinstance(one, bool) for one in flat)
    told = "bool" if truths else "int64" if whole and flat else default
    kept = tuple(flat) if len(flat) == prod(shape) <= MOST_NUMBERS else None
    return Tensor(shape, dtype or told, needs, numbers=kept)


def _shape_of(data: Thing, flat: list[float]) -> tuple[int, ...] | None:
    if isinstance(data, (int, float)):
        flat.append(data)
        return ()
    several = sequence(data)
    inner = [_shape_of(one, flat) for one in several or ()]
    if several is None or (inner and (None in inner or len({*inner}) > 1)):
        return None
    return (len(inner), *(inner[0] or ())) if inner else (0,)


def _numbered(stage: Stage, name: str, given: Sequence[Thing], named: dict[str, Thing], dtype: str) -> Tensor:
    numbers = [one for one in given if isinstance(one, (int, float))]
    if name in ("linspace", "logspace"):
        steps = named.get("steps", given[2] if len(given) > 2 else UNKNOWN)
        ends = [named.get("start", given[0] if given else UNKNOWN), named.get("end", given[1] if len(given) > 1 else 0)]
        if not isinstance(steps, int):
            return Tensor(None, dtype or str(stage.settings["dtype"]))
        start, end = (one if isinstance(one, (int, float)) else None for one in ends)
        told = None
        if start is not None and end is not None and 1 < steps <= MOST_NUMBERS and name == "linspace":
            told = tuple(start + (end - start) * at / (steps - 1) for at in range(steps))
        return Tensor((steps,), dtype or str(stage.settings["dtype"]), numbers=told)
    if len(numbers) != len(given) or not numbers:
        return Tensor(None, dtype or "int64")
    whole = all(isinstance(one, int) for one in numbers)
    told_dtype = dtype or ("int64" if whole else str(stage.settings["dtype"]))
    if not whole:
        return Tensor(None, told_dtype)
    entries = range(*(int(one) for one in numbers))
    order = list(entries) if len(entries) <= MOST_NUMBERS else None
    if name == "randperm" and order is not None:
        stage.random.shuffle(order)
    return Tensor((len(entries),), told_dtype, numbers=tuple(order) if order is not None else None)


def _drawn(stage: Stage, given: Sequence[Thing], named: dict[str, Thing], dtype: str) -> Tensor:
    at = next((index for index, one in enumerate(given) if not isinstance(one, int)), len(given))
    size = named.get("size", given[at] if at < len(given) else None)
    shape = sizes_of([size]) if size is not None and sequence(size) is not None else None
    bounds = [one for one in (*given[:at], named.get("low"), named.get("high")) if isinstance(one, int)]
    low, high = (bounds[0], bounds[1]) if len(bounds) > 1 else (0, bounds[0] if bounds else 0)
    if shape is None or prod(shape) > MOST_NUMBERS or high <= low:
        return Tensor(shape, dtype or "int64")
    numbers = tuple(stage.random.randrange(low, high) for _ in range(prod(shape)))
    return Tensor(shape, dtype or "int64", numbers=numbers)


# -- what is computed ---------------------------------------------------------------------------------------------


def _computed(stage: Stage, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> Thing:
    name, things = dotted.rpartition(".")[2], [*given, *named.values()]
    operator = torch_function(dotted)
    if operator is None and not _has_tensors(things):
        return UNKNOWN
    first = [] if given else [one for key in ("input", "tensors", "x") if (one := named.get(key)) is not None]
    return applied(stage, name, operator, [*given, *first], named)


def _has_tensors(things: Sequence[Thing]) -> bool:
    return any(isinstance(one, Tensor) for one in things)


def parameters_in(thing: Thing) -> list[Tensor]:
    """The tensors that an optimizer is given: parameters in a list, or in groups of them."""
    found: list[Tensor] = []
    for one in sequence(thing) or ():
        table = plain_dict(one)
        if isinstance(one, Tensor):
            found.append(one)
        elif table is not None and (inner := table.get("params")) is not None:
            found += [inner] if isinstance(inner, Tensor) else parameters_in(inner)
        elif is_tuple(one) and isinstance(one[-1], Tensor):  # of `named_parameters()`
            found.append(one[-1])
    return found


def optimizer_state(thing: Thing, defaults: dict[Thing, Thing]) -> dict[str, Thing]:
    """The attributes of an optimizer for some parameters: groups with the defaults in them, and no state yet."""
    given = plain_list(thing) or sequence(thing) or []
    grouped = [dict(table) for one in given if (table := plain_dict(one)) is not None]
    groups: list[Thing] = [
        {**defaults, **{key: value for key, value in one.items() if key != "params"}, "params": parameters_in([one])}
        for one in grouped
    ]
    if not grouped:
        groups = [{"params": parameters_in(given), **defaults}]
    return {"param_groups": groups, "state": defaultdict(dict), "defaults": dict(defaults)}
