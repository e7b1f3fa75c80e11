"""Measurements for `generate_operators.py`: what functions of NumPy make of arrays, sizes and chance."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

#: What a call on unsuitable arguments may raise.
REFUSALS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError)
#: What makes an array of sizes and hands nothing on unless it is told to by `like=`.
MAKERS = (np.zeros, np.empty, np.ones, np.full)
#: What draws one of what it is given, which need not be a number.
CHOOSING = frozenset({"choice"})


def described() -> dict[str, Any]:
    """What `nonstrict.knowledge.arrays` answers: three tables by the names of functions."""
    functions = {name: function for name in dir(np) if _is_of_arrays(function := getattr(np, name))}
    state = np.random.RandomState(0)
    drawing = {name: _drawn(getattr(state, name)) for name in dir(state) if hasattr(np.random, name)}
    drawing = {name: told for name, told in drawing.items() if told is not None and name not in CHOOSING}
    drawing |= dict.fromkeys(("ranf", "sample"), drawing["random_sample"])  # other names of it
    return {
        "kept": " ".join(name for name, function in functions.items() if _keeps_shape(function)),
        "sized": " ".join(name for name, function in functions.items() if _is_sized(function)),
        "drawn": dict(sorted(drawing.items())),
    }


def _is_of_arrays(function: Any) -> bool:
    """Whether something is a function that NumPy's protocols hand to other kinds of arrays: it computes, or makes one.

    Source: NEP 13 (`__array_ufunc__`), NEP 18 (`__array_function__`) and NEP 35 (`like=`).
    """
    return isinstance(function, np.ufunc) or hasattr(function, "_implementation") or function in MAKERS


def _result(function: Any, *given: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given)
        except REFUSALS:
            return None


def _keeps_shape(function: Any) -> bool:
    """Whether the result has the shape of the only operand, and its dtype if that is a floating-point one.

    A number that stands behind the operand, an axis for instance, makes no difference.
    """
    shapes = ((2, 3), (4,), (1, 3, 2), (3, 1), ())
    dtypes = (np.float32, np.float64)
    operands = [np.full(shape, value, dtype) for shape in shapes for dtype in dtypes for value in (0.5, 0)]
    alone, with_number = ([_keeps(function, one, *given) for one in operands] for given in ((), (1,)))
    return sum(one is not None for one in alone) > len(shapes) and False not in (*alone, *with_number)


def _keeps(function: Any, operand: Any, *given: int) -> bool | None:
    """Whether the result of one call has the form of its operand; None if NumPy refuses the call."""
    made = _result(function, operand, *given)
    return _form(made) == _form(operand) if made is not None else None


def _form(made: Any) -> tuple[Any, ...]:
    return (made.shape, made.dtype) if isinstance(made, (np.ndarray, np.generic)) else ()


def _is_sized(function: Any) -> bool:
    """Whether the first argument is the shape of the array that is made."""
    made = [_result(function, size) if function is not np.full else _result(function, size, 1.0) for size in SIZES]
    return all(isinstance(one, np.ndarray) and one.shape == size for one, size in zip(made, SIZES, strict=True))


SIZES = ((2, 3), (4,), (1, 2, 3))


def _drawn(function: Any) -> tuple[int, str] | None:
    """How many arguments stand before the size of what a function draws, and the type of one number that it draws."""
    for count in range(4):
        for given in ((1, 2, 3)[:count], (1, 1, 1)[:count], (0.5,) * count):
            one, several = _result(function, *given), _result(function, *given, 2)
            if isinstance(one, (int, float, np.number)) and isinstance(several, np.ndarray) and several.shape == (2,):
                return count, "int" if isinstance(one, (int, np.integer)) else "float"
    return None
