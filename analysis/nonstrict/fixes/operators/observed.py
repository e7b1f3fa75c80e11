"""What recorded calls of a function tell of its results: which size of an argument each size of a result is.

A size is told where it varied from call to call and always was that of an argument. What never varied may be a
coincidence: such a fake is for a person to look at.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

_DTYPE = re.compile(r"(?:b?float|u?int|complex|bool)[0-9a-z_]*")
_NUMBERS = ("bool", "int", "float", "str")
#: Calls that a comment shows, and the longest line it may be (characters).
_SHOWN, _LONGEST = 2, 110


class Tensor(NamedTuple):
    """What is recorded of a tensor; `strided` says that it was not contiguous."""

    shape: tuple[int, ...]
    dtype: str
    device: str
    strided: bool


class Call(NamedTuple):
    """A call: the tensors and numbers that parameters were given, and the types of the latter.

    `results` are the tensors that came back, None where that is not known; `structure` is "tensor", "tuple" or "list".
    """

    tensors: Mapping[str, Tensor]
    numbers: Mapping[str, Any]
    results: tuple[Tensor, ...] | None
    structure: str


class Observed(NamedTuple):
    """The results as an expression; `certain` if every size of them is told."""

    results: tuple[str, ...]
    structure: str
    certain: bool


class _Size(NamedTuple):
    text: str
    certain: bool


def call_of(function: ast.FunctionDef, spec: Mapping[str, Any], result: Mapping[str, Any] | None) -> Call | None:
    """A recorded call in terms of the parameters; None where it does not fit them."""
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    positional, keywords = spec.get("args"), spec.get("kwargs")
    if not isinstance(positional, list) or not isinstance(keywords, dict):
        return None
    listed = cast("list[Any]", positional)
    if len(listed) > len(names):
        return None
    given = {**dict(zip(names, listed, strict=False)), **cast("dict[str, Any]", keywords)}
    if not set(given) <= {*names, *(one.arg for one in arguments.kwonlyargs)}:
        return None
    tensors = {name: tensor for name, one in given.items() if (tensor := _tensor(one)) is not None}
    numbers = {name: one["value"] for name, one in given.items() if _is_number(one)}
    return Call(tensors, numbers, *_results(result))


def _results(spec: Mapping[str, Any] | None) -> tuple[tuple[Tensor, ...] | None, str]:
    if spec is None:
        return None, ""
    kind = str(spec.get("kind"))
    items: list[Any] = spec["items"] if kind in ("tuple", "list") and isinstance(spec.get("items"), list) else [spec]
    found = [tensor for one in items if (tensor := _tensor(one)) is not None]
    return (tuple(found), kind) if found and len(found) == len(items) else (None, "")


def _tensor(spec: Any) -> Tensor | None:
    fields = cast("dict[str, Any]", spec) if isinstance(spec, dict) else {}
    shape, dtype = fields.get("shape"), str(fields.get("dtype"))
    if fields.get("kind") != "tensor" or not isinstance(shape, list) or not _DTYPE.fullmatch(dtype):
        return None
    sizes = cast("list[Any]", shape)
    if not all(type(size) is int and size >= 0 for size in sizes):
        return None
    return Tensor(tuple(sizes), dtype, str(fields.get("device")), "strides" in fields)


def _is_number(spec: Any) -> bool:
    fields = cast("dict[str, Any]", spec) if isinstance(spec, dict) else {}
    return fields.get("kind") == "literal" and type(fields.get("value")).__name__ in _NUMBERS


def tensors_in(calls: Sequence[Call]) -> frozenset[str]:
    """The parameters that were given a tensor by every call."""
    names = {name for call in calls for name in call.tensors}
    return frozenset(name for name in names if all(name in call.tensors for call in calls))


def types_in(calls: Sequence[Call]) -> dict[str, str]:
    """The types of the parameters that were numbers or texts of one type whenever they were given; ints are floats."""
    found: dict[str, set[str]] = {}
    for call in calls:
        for name, value in call.numbers.items():
            found.setdefault(name, set()).add(type(value).__name__)
        for name in call.tensors:
            found.setdefault(name, set()).add("")
    joined = {name: {"float"} if types == {"int", "float"} else types for name, types in found.items()}
    return {name: next(iter(types)) for name, types in joined.items() if len(types) == 1 and "" not in types}


def observed(torch: str, names: Sequence[str], calls: Sequence[Call]) -> Observed | None:
    """What calls tell of the results; None where they do not agree. `torch` is how the file writes the module."""
    told = [call for call in calls if call.results is not None]
    structures = {(call.structure, len(call.results or ())) for call in told}
    if len(structures) != 1:
        return None
    structure, count = next(iter(structures))
    given = tensors_in(told)
    inputs = [name for name in names if name in given]
    found = [_result(torch, inputs, told, number) for number in range(count)]
    known = [one for one in found if one is not None]
    if len(known) != count:
        return None
    return Observed(tuple(one.text for one in known), structure, all(one.certain for one in known))


def _result(torch: str, inputs: Sequence[str], calls: Sequence[Call], number: int) -> _Size | None:
    """One result in terms of the arguments."""
    outs = [call.results[number] for call in calls if call.results is not None]
    if len({len(out.shape) for out in outs}) != 1 or not inputs:
        return None
    plain = not any(out.strided for out in outs)
    for name in inputs:
        given = [call.tensors[name] for call in calls]
        if all(one.shape == out.shape for one, out in zip(given, outs, strict=True)):
            like = _like(torch, name, given, outs)
            if like is not None:
                sure = plain and _varies(given) and not _may_be_another(inputs, calls, name)
                return like._replace(certain=like.certain and sure)
    base = _base(inputs, calls, outs)
    sizes = [_size(inputs, calls, outs, index) for index in range(len(outs[0].shape))]
    known = [size for size in sizes if size is not None]
    if base is None or len(known) != len(sizes):
        return None
    shape = ", ".join(size.text for size in known)
    dtype = f", dtype={torch}.{outs[0].dtype}" if base[1] else ""
    text = f"{base[0]}.new_empty(({shape}{',' if len(known) == 1 else ''}){dtype})"
    moved = any(call.tensors[base[0]].device != out.device for call, out in zip(calls, outs, strict=True))
    varied = any(_varies([call.tensors[name] for call in calls]) for name in inputs)
    return _Size(text, plain and varied and not moved and all(size.certain for size in known))


def _like(torch: str, name: str, given: Sequence[Tensor], outs: Sequence[Tensor]) -> _Size | None:
    """A result of the shape of an argument."""
    pairs = list(zip(given, outs, strict=True))
    moved = any(one.device != out.device for one, out in pairs)
    restrided = any(one.strided != out.strided for one, out in pairs)
    if all(one.dtype == out.dtype for one, out in pairs):
        dtype = ""
    elif len({out.dtype for out in outs}) == 1:
        dtype = f", dtype={torch}.{outs[0].dtype}"
    else:
        return None
    text = f"{name}.new_empty({name}.shape{dtype})" if restrided else f"{torch}.empty_like({name}{dtype})"
    return _Size(text, not moved)


def _may_be_another(inputs: Sequence[str], calls: Sequence[Call], name: str) -> bool:
    """Whether a size of an argument that never varied may stand for that of another one: 16 of (2, 16) @ (16, 16)."""
    shapes = [call.tensors[name].shape for call in calls]
    fixed = [sizes for sizes in zip(*shapes, strict=True) if len(set(sizes)) == 1]
    return any(sum(True for _ in _own(inputs, calls, sizes)) > 1 for sizes in fixed)


def _varies(given: Sequence[Tensor]) -> bool:
    """Whether a tensor came in several sizes, so that no size of it passes for another one."""
    told_apart = any(len(set(one.shape)) == len(one.shape) for one in given)
    return len({one.shape for one in given}) > 1 and told_apart


def _base(inputs: Sequence[str], calls: Sequence[Call], outs: Sequence[Tensor]) -> tuple[str, bool] | None:
    """The argument whose dtype and device a result has, and whether its dtype has to be said all the same."""
    for name in inputs:
        if all(call.tensors[name].dtype == out.dtype for call, out in zip(calls, outs, strict=True)):
            return name, False
    return (inputs[0], True) if len({out.dtype for out in outs}) == 1 else None


# -- sizes ------------------------------------------------------------------------------------------------------------


def _size(inputs: Sequence[str], calls: Sequence[Call], outs: Sequence[Tensor], index: int) -> _Size | None:
    """One size of a result: that of an argument, a number that was given, a product or sum of sizes, or a constant."""
    values = [out.shape[index] for out in outs]
    varied = len(set(values)) > 1
    own = list(_own(inputs, calls, values))
    if own:
        best = min(own, key=lambda one: (one[1] != index, inputs.index(one[0]), one[1]))
        rivals = sum(one[0] == best[0] for one in own)
        return _Size(f"{best[0]}.shape[{best[1]}]", varied and rivals == 1)
    numbers = [
        name for name in calls[0].numbers if all(_gives(call, name, value) for call, value in _zip(calls, values))
    ]
    if numbers:
        return _Size(numbers[0], varied and len(numbers) == 1)
    if varied:
        made = list(dict.fromkeys(_made(inputs, calls, values)))
        return _Size(made[0], len(made) == 1) if made else None
    return _Size(str(values[0]), _all_vary(inputs, calls))


def _gives(call: Call, name: str, value: int) -> bool:
    given = call.numbers.get(name)
    return type(given) is int and given == value


def _zip(calls: Sequence[Call], values: Sequence[int]) -> Iterator[tuple[Call, int]]:
    return zip(calls, values, strict=True)


def _own(inputs: Sequence[str], calls: Sequence[Call], values: Sequence[int]) -> Iterator[tuple[str, int]]:
    """The arguments and their dimensions that always had some sizes."""
    for name in inputs:
        for number in range(min(len(call.tensors[name].shape) for call in calls)):
            same_rank = len({len(call.tensors[name].shape) for call in calls}) == 1
            if same_rank and all(call.tensors[name].shape[number] == value for call, value in _zip(calls, values)):
                yield name, number


def _made(inputs: Sequence[str], calls: Sequence[Call], values: Sequence[int]) -> Iterator[str]:
    """Products of two sizes of one argument, and sums of the same size of two, that are some sizes."""
    for name in inputs:
        shapes = [call.tensors[name].shape for call in calls]
        for one, other in combinations(range(min(map(len, shapes))), 2):
            if all(shape[one] * shape[other] == value for shape, value in zip(shapes, values, strict=True)):
                yield f"{name}.shape[{one}] * {name}.shape[{other}]"
    for first, second in combinations(inputs, 2):
        pairs = [(call.tensors[first].shape, call.tensors[second].shape) for call in calls]
        for number in range(min(min(len(one), len(other)) for one, other in pairs)):
            if all(one[number] + other[number] == value for (one, other), value in zip(pairs, values, strict=True)):
                yield f"{first}.shape[{number}] + {second}.shape[{number}]"


def _all_vary(inputs: Sequence[str], calls: Sequence[Call]) -> bool:
    """Whether every size that was given varied: what stayed is a constant of the function then."""
    for name in inputs:
        shapes = [call.tensors[name].shape for call in calls]
        if len(set(map(len, shapes))) != 1 or any(len(set(sizes)) == 1 for sizes in zip(*shapes, strict=True)):
            return False
    numbers = [tuple(sorted(call.numbers.items())) for call in calls]
    return not any(numbers)


# -- for readers ------------------------------------------------------------------------------------------------------


def shown(names: Sequence[str], calls: Sequence[Call]) -> list[str]:
    """Some calls as comments: `# e.g. x float32 (2, 3) -> float32 (2,)`."""
    lines: list[str] = []
    for call in calls:
        given = [f"{name} {_text(call.tensors[name])}" for name in names if name in call.tensors]
        if not given:
            continue
        results = ", ".join(map(_text, call.results)) if call.results is not None else ""
        line = f"# e.g. {', '.join(given)}{f' -> {results}' if results else ''}"
        if len(line) <= _LONGEST and line not in lines:
            lines.append(line)
    return lines[:_SHOWN]


def _text(tensor: Tensor) -> str:
    return f"{tensor.dtype} {tensor.shape}"
