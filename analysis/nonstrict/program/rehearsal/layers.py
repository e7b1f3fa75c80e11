"""Modules of `torch.nn`: what their constructors set, and which sizes their results have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import nn_module
from nonstrict.program.rehearsal import torch_calls
from nonstrict.program.rehearsal.tensors import needs_gradients
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Compiled,
    Definition,
    External,
    Instance,
    Tensor,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.knowledge.operators import ModuleClass
    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

    Forward = Callable[[Stage, Instance, Sequence[Thing]], Thing]

LIBRARY = "torch.nn."
_ENTRIES = "_modules"
CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
_CONVOLUTIONS = {"Conv1d": 1, "Conv2d": 2, "Conv3d": 3}
_TRANSPOSED = {"ConvTranspose1d": 1, "ConvTranspose2d": 2, "ConvTranspose3d": 3}
_CELLS = frozenset({"RNNCell", "GRUCell", "LSTMCell"})
#: Layers whose results have other sizes than what they are given, which nothing here tells.
_OF_OTHER_SIZES = ("LSTM", "GRU", "RNN", "Transformer", "Fold", "Unfold", "Unflatten", "Bilinear")
#: By the beginning of their names, what the constructors of others are told that decides on sizes.
_TOLD = {
    "Adaptive": ("output_size",),
    "MaxPool": ("kernel_size", "stride", "padding"),
    "AvgPool": ("kernel_size", "stride", "padding"),
    "Upsample": ("size", "scale_factor"),
}


def is_module(thing: Thing) -> bool:
    """Whether a thing is a module: of torch, or of a class of the program that derives from one."""
    if not isinstance(thing, Instance):
        return False
    line = thing.of.line if isinstance(thing.of, Definition) else [thing.of]
    return any(isinstance(one, External) and one.dotted.startswith(LIBRARY) for one in line)


def name_of(module: Instance) -> str:
    """The class of torch that a module is of, without the name of the library; "" for one of the program."""
    return module.of.dotted.rpartition(".")[2] if isinstance(module.of, External) else ""


def base_of(module: Instance) -> str:
    """The same; of a class of the program what it derives from."""
    line = module.of.line if isinstance(module.of, Definition) else [module.of]
    return next((one.dotted.rpartition(".")[2] for one in line if isinstance(one, External)), "")


def entries(module: Instance) -> dict[Thing, Thing]:
    """What a container of modules holds, by its keys."""
    held = plain_dict(module.attributes.setdefault(_ENTRIES, {}))
    return held if held is not None else {}


def children(module: Instance) -> dict[str, Instance]:
    """The modules directly inside of one, by name."""
    held = {**module.attributes, **{str(key): one for key, one in entries(module).items()}}
    inside = {name: one.target if isinstance(one, Compiled) else one for name, one in held.items()}
    return {name: one for name, one in inside.items() if isinstance(one, Instance) and is_module(one)}


def everything(module: Instance, prefix: str = "") -> Iterator[tuple[str, Instance]]:
    """A module and all inside of it, by dotted name."""
    yield prefix.rstrip("."), module
    for name, child in children(module).items():
        yield from everything(child, f"{prefix}{name}.")


def parameters(module: Instance) -> dict[str, Tensor]:
    """The parameters of a module and of all inside of it, by dotted name, each once."""
    found: dict[str, Tensor] = {}
    for name, one in everything(module):
        held = {**dict(one.attributes.items()), **{str(k): v for k, v in entries(one).items()}}
        for attribute, thing in held.items():
            if isinstance(thing, Tensor) and thing.parameter and not any(thing is known for known in found.values()):
                found[f"{name}.{attribute}".lstrip(".")] = thing
    return found


# -- constructors -------------------------------------------------------------------------------------------------


def construct(stage: Stage, module: Instance, dotted: str, given: Sequence[Thing], named: dict[str, Thing]) -> None:
    """Set what the constructor of a class of torch sets."""
    name, held = dotted.rpartition(".")[2], module.attributes
    held.setdefault("training", True)
    known = nn_module(dotted)
    for attribute, at in known.keeps if known is not None else ():
        thing = named.get(attribute, given[at] if 0 <= at < len(given) else UNKNOWN)
        if thing is not UNKNOWN:
            held[attribute] = thing
    if name in CONTAINERS:
        _fill(stage, module, name, given)
    elif name in ("Linear", "Bilinear"):
        sizes = _numbers(given, named, "in_features", "out_features")
        _set_parameters(held, named, given, 2, (sizes[1], sizes[0]), (sizes[1],))
    elif name == "Embedding":
        count, width = _numbers(given, named, "num_embeddings", "embedding_dim")
        held["weight"] = _parameter((count, width))
    elif name in _CONVOLUTIONS or name in _TRANSPOSED:
        _convolution(held, given, named, (_CONVOLUTIONS | _TRANSPOSED)[name])
    elif name in _CELLS:
        inner, hidden = _numbers(given, named, "input_size", "hidden_size")
        held |= {"hidden_size": hidden, "weight_ih": _parameter((None, inner)), "weight_hh": _parameter((None, hidden))}
    elif told := next((names for start, names in _TOLD.items() if name.startswith(start)), ()):
        held.update(dict(zip(told, given, strict=False)) | named)
    elif known is not None and known.has_parameters:
        size = next((one for one in given if isinstance(one, int)), None)
        held["weight"] = _parameter((size,))
        held["bias"] = _parameter((size,))


def _parameter(shape: tuple[int | None, ...]) -> Tensor:
    known = tuple(one for one in shape if one is not None)
    return Tensor(known if len(known) == len(shape) else None, "float32", requires_grad=True, parameter=True)


def _numbers(given: Sequence[Thing], named: dict[str, Thing], *names: str) -> list[int | None]:
    told = [named.get(name, given[at] if at < len(given) else None) for at, name in enumerate(names)]
    return [one if isinstance(one, int) else None for one in told]


def _set_parameters(
    held: dict[str, Thing],
    named: dict[str, Thing],
    given: Sequence[Thing],
    at: int,
    weight: tuple[int | None, ...],
    bias: tuple[int | None, ...],
) -> None:
    has_bias = named.get("bias", given[at] if at < len(given) else True)
    held["weight"] = _parameter(weight)
    held["bias"] = _parameter(bias) if has_bias is not False else None


def _convolution(held: dict[str, Thing], given: Sequence[Thing], named: dict[str, Thing], number: int) -> None:
    names = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation")
    defaults: dict[str, Thing] = {"stride": 1, "padding": 0, "dilation": 1}
    for at, name in enumerate(names):
        held[name] = named.get(name, given[at] if at < len(given) else defaults.get(name, UNKNOWN))
    channels = [one if isinstance(one, int) else None for one in (held["out_channels"], held["in_channels"])]
    kernel = _spread(held["kernel_size"], number)
    held["weight"] = _parameter((*channels, *kernel) if kernel is not None else (None,))
    held["bias"] = _parameter((channels[0],)) if named.get("bias", True) is not False else None


def _spread(thing: Thing, number: int) -> tuple[int, ...] | None:
    several = [thing] * number if isinstance(thing, int) else sequence(thing)
    known = [one for one in several or () if isinstance(one, int)]
    return tuple(known) if len(known) == number else None


def _fill(stage: Stage, module: Instance, name: str, given: Sequence[Thing]) -> None:
    held = entries(module)
    only = given[0] if len(given) == 1 else None
    table = plain_dict(only)
    if table is not None:
        held.update(table)
        return
    several = list(given)
    if name in ("ModuleList", "ParameterList") and given:
        found = stage.iterate(given[0])
        several = list(found) if found is not None else []
    held.update({str(at): one for at, one in enumerate(several)})


# -- what they compute --------------------------------------------------------------------------------------------


def forward(stage: Stage, module: Instance, given: Sequence[Thing]) -> Thing:
    """What a module of torch gives for some arguments."""
    name, first = name_of(module) or base_of(module), given[0] if given else UNKNOWN
    if name == "Sequential":
        return UNKNOWN  # it is run module by module
    gradients = needs_gradients(stage, (*given, *parameters(module).values()), "")
    if not isinstance(first, Tensor):
        return Tensor(None, "", gradients)
    result = _applied(stage, module, name, first, given)
    for one in sequence(result) or (result,):
        if isinstance(one, Tensor):
            one.requires_grad = gradients
    return result


def _applied(stage: Stage, module: Instance, name: str, first: Tensor, given: Sequence[Thing]) -> Thing:
    held, known = module.attributes, nn_module(f"{LIBRARY}{name}")
    if name in _TRANSPOSED:
        return Tensor(_unconvolved(held, first.shape, _TRANSPOSED[name]), _of_autocast(stage, first))
    if name in _CELLS and name != "LSTMCell" and isinstance(size := held.get("hidden_size"), int):
        return Tensor((*first.shape[:-1], size) if first.shape else None, first.dtype)
    if name == "MultiheadAttention":
        return (Tensor(first.shape, first.dtype), UNKNOWN)
    if name == "Flatten":
        return torch_calls.called(stage, "torch.flatten", (first, 1), {})
    if name == "Upsample":
        return Tensor(_scaled(first.shape, held.get("scale_factor")), first.dtype)
    if name == "Linear":
        return torch_calls.called(stage, "torch.nn.functional.linear", (first, held.get("weight")), {})
    if known is not None and known.passes:
        return _by_function(stage, module, known, first, given)
    is_same = known is not None and not name.startswith(_OF_OTHER_SIZES)
    return Tensor(first.shape, first.dtype, layout=first.layout) if is_same else Tensor(None, "")


def _by_function(stage: Stage, module: Instance, known: ModuleClass, first: Tensor, given: Sequence[Thing]) -> Thing:
    """What the function gives that a layer hands its attributes on to."""
    dotted = known.passes[0].operator
    places = {one.at: one.name for one in known.passes if one.operator == dotted and isinstance(one.at, int)}
    arguments: list[Thing] = [first, *given[1:]]
    weights = [one for name in ("weight", "bias") if (one := module.attributes.get(name)) is not None]
    arguments += weights[: max(min(places, default=1) - len(arguments), 0)]
    named: dict[str, Thing] = {}
    for at in sorted(places):
        if places[at] in module.attributes and at == len(arguments):
            arguments.append(module.attributes[places[at]])
        elif places[at] in module.attributes:
            named[places[at]] = module.attributes[places[at]]
    reduction = module.attributes.get("reduction")
    if isinstance(reduction, str):
        named["reduction"] = reduction
    return torch_calls.called(stage, dotted, arguments, named)


def _of_autocast(stage: Stage, first: Tensor) -> str:
    return str(stage.settings["autocast"] or first.dtype)


def _unconvolved(held: dict[str, Thing], shape: tuple[int, ...] | None, number: int) -> tuple[int, ...] | None:
    told = [_spread(held.get(name), number) for name in ("kernel_size", "stride", "padding")]
    channels = held.get("out_channels")
    if shape is None or len(shape) <= number or None in told or not isinstance(channels, int):
        return None
    kernel, stride, padding = (one or () for one in told)
    spatial = [(size - 1) * stride[at] - 2 * padding[at] + kernel[at] for at, size in enumerate(shape[-number:])]
    return (*shape[: -number - 1], channels, *spatial)


def _scaled(shape: tuple[int, ...] | None, factor: Thing) -> tuple[int, ...] | None:
    if shape is None or not isinstance(factor, (int, float)):
        return None
    return (*shape[:2], *(int(size * factor) for size in shape[2:]))
