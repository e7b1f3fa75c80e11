"""Measurements for `generate_operators.py`: what the results of operators share with argument 0, and keep of it."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from typing import TYPE_CHECKING, Any, TypeGuard

import operator_probes as probes
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

if TYPE_CHECKING:
    from collections.abc import Iterator

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128, torch.int64)
MORE_DTYPES = (*DTYPES, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


#: Methods that are given a function: anything else ends the process.
CALLING = frozenset({"apply_", "map_", "map2_"})


def is_safe(function: Any) -> bool:
    """Whether a function may be run at all."""
    name = str(getattr(function, "__name__", ""))
    return name not in probes.UNSAFE | CALLING and not name.startswith(probes.UNSAFE_FAMILIES)


#: What is given for an argument of each type; those of one type differ, as dimensions have to that are exchanged.
GIVEN: dict[str, tuple[Any, ...]] = {
    "int": (0, 1, 2),
    "number": (2, 0.5, 3),
    "float": (0.5, 0.25),
    "bool": (True, False),
    "str": ("mean", "sum"),
    "List[int]": ([1, 0], [0], [1], [-1]),
}


def arguments(function: Any, schemas: list[Any], first: torch.Tensor, *, method: bool) -> Iterator[list[Any]]:
    """What may stand behind `first`: several values for every way to call a method, nothing behind that of a function.

    Functions that have no method trust what they are given more often, and end the process over it.
    """
    for types in probes.calls(function, schemas, method=method):
        if not types and made(function, [first.clone()]) is None:
            yield [0.25]  # one of several options is wanted: `clamp`
        if not types or (method and all(kind == "Tensor" or kind in GIVEN for kind in types)):
            for turn in range(4) if types else range(1):
                given = {kind: itertools.islice(itertools.cycle(values), turn, None) for kind, values in GIVEN.items()}
                other = first.flip(-1) if first.dim() and turn else first.clone()
                yield [other.clone() if kind == "Tensor" else next(given[kind]) for kind in types]


def made(function: Any, given: list[Any], named: dict[str, Any] | None = None) -> Any:
    """The result of one call with these very arguments; None where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*given, **(named or {}))
        except (*probes.REFUSALS, BufferError):
            return None


def is_plain(result: Any) -> TypeGuard[torch.Tensor]:
    """Whether something is a tensor whose elements lie in memory, one behind the other."""
    return isinstance(result, torch.Tensor) and not result.is_nested and result.layout is torch.strided


# -- the operand itself, a view of it, or a copy ---------------------------------------------------------------------


def casts(function: Any) -> bool:
    """Whether a function returns its operand itself where this has the dtype and the device asked for, else a copy."""
    return is_safe(function) and (_casts_dtype(function) or _moves(function))


def _casts_dtype(function: Any) -> bool:
    asked: list[tuple[list[Any], dict[str, Any]]] = [([], {}), ([torch.float32], {}), ([torch.ones(2, 3)], {})]
    for given, named in (*asked, ([], {"dtype": torch.float32})):
        operands = [torch.arange(6).reshape(2, 3).to(dtype) for dtype in MORE_DTYPES]
        found = [(one, made(function, [one, *given], named)) for one in operands]
        tensors = [(one, result) for one, result in found if is_plain(result)]
        same = [one.dtype for one, result in tensors if result is one]
        copied = [result.dtype for one, result in tensors if not _shares(one, result) and result.shape == one.shape]
        if len(tensors) == len(MORE_DTYPES) == len(same) + len(copied) and {*copied} == {*same}:
            return True
    return False


def _moves(function: Any) -> bool:
    """Whether a tensor that is on its device stays itself, and one of another is copied: asked of fake tensors."""
    with FakeTensorMode():
        here, there = torch.ones(2, 3), torch.ones(2, 3, device="cuda")
        results = [(one, made(function, [one])) for one in (here, there)]
    same = [one.device.type for one, result in results if result is one]
    moved = [result.device.type for one, result in results if isinstance(result, torch.Tensor) and result is not one]
    return same == moved and len(same) == 1


def lays_out(function: Any) -> bool:
    """Whether a function shares the memory of its operand where the layout of this allows, and else makes a copy."""
    plain, mixed = torch.arange(9.0).reshape(3, 3), torch.arange(9).reshape(3, 3) * (1 + 1j)
    pairs = ((plain, plain.t()), (mixed, mixed.conj()), (plain, mixed.conj().imag))
    ways: list[list[Any]] = [[], [[-1]], [torch.ones(9)]]
    return is_safe(function) and any(
        {_shares(one, result) for one in pair if is_plain(result := made(function, [one, *given]))} == {True, False}
        for pair, given in itertools.product(pairs, ways)
    )


def _shares(one: torch.Tensor, other: torch.Tensor) -> bool:
    with contextlib.suppress(*probes.REFUSALS):
        return one.untyped_storage()._cdata == other.untyped_storage()._cdata
    return False


def permutes(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether a result is a view of the whole operand with its dimensions in another order."""
    if not is_safe(function):
        return False
    found: list[bool] = []
    for shape in ((2, 3), (2, 3, 4)):
        for given in arguments(function, schemas, torch.ones(shape), method=method):
            operand = torch.ones(shape)
            result = made(function, [operand, *given])
            if is_plain(result):
                whole = sorted(result.shape) == sorted(shape) and _shares(operand, result)
                found.append(whole and sorted(result.stride()) == sorted(operand.stride()))
                found += [False] if result is operand else []
    moved = (made(function, [torch.ones(2, 3), *given]) for given in ([], [0, 1], [[1, 0]]))
    return bool(found) and all(found) and any(isinstance(one, torch.Tensor) and one.shape == (3, 2) for one in moved)


# -- what a method in place changes ----------------------------------------------------------------------------------

_ASKED: tuple[list[Any], ...] = ([], [0], [0, 1], [[6]], [torch.ones(6)], [[6], [1]])


def changes_form(function: Any) -> set[str]:
    """`rebinds` if a method changes what its tensor is and not what it holds, `reshapes` if also its shape."""
    found = set[str]()
    if not is_safe(function):
        return found
    for given, shape in itertools.product(_ASKED, ((2, 3), (1, 3))):
        leaf = torch.arange(1.0, 1 + math.prod(shape)).reshape(shape)
        for operand in (leaf, leaf.clone().requires_grad_() * 2, leaf.clone()):
            values, before = operand.detach().clone().flatten(), _form(operand)
            result = made(function, [operand, *given])
            if (result is None or result is operand) and _form(operand) != before:
                kept = operand.detach().flatten()[: values.numel()]
                found |= {"reshapes"} if operand.shape != shape else set[str]()
                same = kept.numel() and torch.equal(kept.sort()[0], values[: kept.numel()].sort()[0])
                found |= {"rebinds"} if same else set[str]()
    return found


def _form(tensor: torch.Tensor) -> tuple[Any, ...]:
    settings = (tensor.requires_grad, tensor.retains_grad, tensor.is_leaf)
    return (tensor.shape, tensor.stride(), tensor.untyped_storage()._cdata, *settings)


# -- dtypes of lists, gradients, constants ----------------------------------------------------------------------------


def joins(function: Any) -> bool:
    """Whether a function makes one tensor of a list of tensors, of the dtype to which theirs are promoted."""
    dtypes = (torch.float32, torch.float64, torch.int64, torch.bool)
    found = [
        (made(function, [[torch.ones(2, 2).to(one), torch.ones(2, 2).to(other)]]), torch.promote_types(one, other))
        for one, other in itertools.product(dtypes, dtypes)
    ]
    return is_safe(function) and all(is_plain(result) and result.dtype is dtype for result, dtype in found)


def detaches(function: Any, schemas: list[Any], *, method: bool) -> bool:
    """Whether a floating-point result needs no gradients, or has no formula for them, though the operand needs some."""
    found: list[bool] = []
    for shape in ((3, 3), (3,), (1, 3, 4, 4)):
        for given in arguments(function, schemas, torch.ones(shape), method=method) if is_safe(function) else ():
            operand = torch.ones(shape).requires_grad_() * 1
            result = made(function, [operand, *given])
            pieces = result if isinstance(result, (tuple, list)) else [result]
            tensors = [one for one in pieces if is_plain(one) and one.is_floating_point()]
            found += [_has_no_gradient(one, operand) for one in tensors]
    return bool(found) and all(found)


def _has_no_gradient(result: torch.Tensor, operand: torch.Tensor) -> bool:
    if not result.requires_grad:
        return True
    try:
        torch.autograd.grad(result.sum(), operand, retain_graph=True, allow_unused=True)
    except RuntimeError as refused:
        return "not implemented" in str(refused)
    return False


#: Tensors of one element, one of which is a mask and one a position.
_SINGLE: tuple[Any, ...] = (0.5, [0.5], 1, 0, [0], True)


def folds(function: Any, schemas: list[Any], known: set[str], *, method: bool) -> set[str]:
    """`folds` if the results for tensors of one element that the tracer knows are such, `folds_tensors` if for no more.

    `known` are the flags that are told already: what takes sizes may be asked for more elements, which say nothing,
    what joins tensors is given one, and what makes tensors of numbers such.
    """
    if not is_safe(function) or "random" in known:
        return set()
    found, of_tensors, grows = list[bool](), list[bool](), "takes_sizes" in known
    for value in _SINGLE:
        with FakeTensorMode():
            first = torch.tensor(value)
            ways = [[first, *one] for one in arguments(function, schemas, first, method=method or bool(schemas))]
            told = _known(function, ways, grows=grows)
            ways = [[first, first], [first, 1], *([[first, torch.float64]] if method else [])] if told else []
            ways += [[[first]]] if "joins" in known else []
            ways += [[value]] if "of_data" in known and not method else []
            found += [*told, *_known(function, ways, grows=grows)]
            of_tensors += _known(function, [[first, first], [first, first, first]] if told else [], grows=grows)
    if found and all(found):
        return {"folds"}
    return {"folds_tensors"} if of_tensors and all(of_tensors) else set()


def _known(function: Any, ways: list[list[Any]], *, grows: bool) -> list[bool]:
    """Of each tensor that calls give, whether the tracer knows its element."""
    results = (made(function, given) for given in ways)
    pieces = (one for result in results for one in (result if isinstance(result, (tuple, list)) else [result]))
    tensors = [one for one in pieces if isinstance(one, FakeTensor)]
    return [one.constant is not None for one in tensors if one.numel() <= 1 or not grows]
