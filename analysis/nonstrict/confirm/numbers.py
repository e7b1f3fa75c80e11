"""Whether two recorded values are the same number: the tolerances of `torch.testing.assert_close`, without torch."""

from __future__ import annotations

import base64
import math
from array import array
from typing import Any, NamedTuple

#: Relative and absolute tolerance by dtype, from the documentation of `torch.testing.assert_close`.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_FLOATING = ("float", "bfloat", "complex")
_MAX_SHOWN = 4


class Difference(NamedTuple):
    """How two recorded values differ.

    `largest` is the largest absolute difference, `relative` that difference by the largest number of both tensors; both
    are infinite where no number says it. `gradient` says that they differ in whether a gradient is required.
    """

    eager: str
    compiled: str
    largest: float
    relative: float = math.inf
    gradient: bool = False


def difference(eager: dict[str, Any], compiled: dict[str, Any]) -> Difference | None:
    """Compare two values as `nonstrict_agent.observe.values.encode` writes them; None if they agree."""
    if len(eager["leaves"]) != len(compiled["leaves"]) or eager["structure"] != compiled["structure"]:
        return Difference(_shown_value(eager), _shown_value(compiled), math.inf)
    found = (leaf_difference(a, b) for a, b in zip(eager["leaves"], compiled["leaves"], strict=True))
    return next((one for one in found if one is not None), None)


def leaf_difference(eager: dict[str, Any], compiled: dict[str, Any]) -> Difference | None:
    """Compare two leaves."""
    if "dtype" not in eager or "dtype" not in compiled:
        same = eager == compiled or _equal_numbers(eager, compiled)
        return None if same else Difference(shown(eager), shown(compiled), math.inf)
    for part in ("dtype", "shape", "grad"):
        if eager[part] != compiled[part]:
            return Difference(_described(eager), _described(compiled), math.inf, gradient=part == "grad")
    if _class_of(eager) != _class_of(compiled):
        return Difference(f"a {_class_of(eager)}", f"a {_class_of(compiled)}", math.inf)
    if eager.get("hash") == compiled.get("hash") or "data" not in eager or "data" not in compiled:
        return None
    left, right = _numbers(eager), _numbers(compiled)
    tolerances = _TOLERANCES.get(eager["dtype"], (0.0, 0.0))
    largest, place = 0.0, -1
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        gap = _gap(a, b, *tolerances)
        if gap > largest:
            largest, place = gap, index
    if place < 0:
        return None
    scale = max((abs(number) for number in (*left, *right) if math.isfinite(number)), default=0.0)
    relative = largest / scale if scale and not math.isinf(largest) else math.inf
    return Difference(_around(left, place), _around(right, place), largest, relative)


def varies(values: list[dict[str, Any]]) -> bool:
    """Whether some recorded values differ among one another."""
    return any(difference(values[0], other) is not None for other in values[1:])


def shown(leaf: dict[str, Any]) -> str:
    """A leaf for people."""
    if "dtype" not in leaf:
        return leaf["repr"]
    if "data" not in leaf:
        return _described(leaf)
    numbers = _numbers(leaf)
    if len(numbers) == 1:
        return _number(numbers[0])
    text = ", ".join(_number(number) for number in numbers[:_MAX_SHOWN])
    return f"[{text}{', ...' if len(numbers) > _MAX_SHOWN else ''}]"


def _gap(a: float, b: float, relative: float, absolute: float) -> float:
    """The difference of two numbers where it is out of tolerance, else 0."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    gap = abs(a - b)
    if math.isnan(gap) or math.isinf(gap):
        return math.inf
    return gap if gap > absolute + relative * abs(a) else 0.0


def _numbers(leaf: dict[str, Any]) -> array[Any]:
    floating = leaf["dtype"].startswith(_FLOATING)
    numbers: array[Any] = array("d" if floating else "q")
    numbers.frombytes(base64.b64decode(leaf["data"]))
    return numbers


def _around(numbers: array[Any], place: int) -> str:
    """The number that differs, or a few where all are few."""
    if len(numbers) <= _MAX_SHOWN and len(set(numbers)) > 1:
        return f"[{', '.join(_number(number) for number in numbers)}]"
    return _number(numbers[place])


def _number(number: float) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _class_of(leaf: dict[str, Any]) -> str:
    """The class of a tensor; which of a program's own leaves is a parameter makes no other value."""
    name = leaf.get("class", "Tensor")
    return "Tensor" if name in {"Parameter", "Buffer"} else name


def _described(leaf: dict[str, Any]) -> str:
    if "dtype" not in leaf:
        return leaf["repr"]
    sizes = ", ".join(map(str, leaf["shape"]))
    return f"{leaf['dtype']}[{sizes}]{' that requires a gradient' if leaf['grad'] else ''}"


def _shown_value(value: dict[str, Any]) -> str:
    leaves = value["leaves"]
    if len(leaves) == 1:
        return _described(leaves[0])
    text = ", ".join(_described(leaf) for leaf in leaves[:_MAX_SHOWN])
    return f"({text}{', ...' if len(leaves) > _MAX_SHOWN else ''})"


def _equal_numbers(eager: dict[str, Any], compiled: dict[str, Any]) -> bool:
    """Whether two Python numbers agree to the precision of float32, which is what compiled code computes in."""
    if "float" not in {eager.get("type"), compiled.get("type")}:
        return False
    try:
        return math.isclose(float(eager["repr"]), float(compiled["repr"]), rel_tol=1.3e-6, abs_tol=1e-5)
    except (KeyError, ValueError):
        return False
