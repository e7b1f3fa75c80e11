"""How the tensor that a fake returns visibly differs from the one that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.marks.tensor_forms import DTYPES

if TYPE_CHECKING:
    from nonstrict.program.contracts.marks.form_tables import Form


def difference(real: Form, fake: Form) -> str:
    """How a fake's tensor visibly differs from the real one, as the end of a sentence; "" if nothing tells."""
    shapes = _ranks(real, fake) or _resized(real, fake) or _shapes(real, fake)
    return shapes or _dtypes(real.dtype, fake.dtype) or _devices(real.device, fake.device)


def _ranks(real: Form, fake: Form) -> str:
    if real.rank is None or fake.rank is None or real.rank.of != fake.rank.of or real.rank == fake.rank:
        return ""
    more = real.rank.more - fake.rank.more
    if fake.like:
        return f"has the shape of an argument where the function's has {'more' if more > 0 else 'fewer'} dimensions"
    if real.like:
        return f"has {'fewer' if more > 0 else 'more'} dimensions than the argument whose shape the function's has"
    return (
        f"has {abs(more)} dimension{'s' if abs(more) > 1 else ''} {'fewer' if more > 0 else 'more'} than the function's"
    )


def _resized(real: Form, fake: Form) -> str:
    if real.resized is not None and fake.like in real.resized.of:
        return f"has the shape of an argument where the function's is {real.resized.how} in one dimension"
    if fake.resized is not None and real.like in fake.resized.of:
        return f"is {fake.resized.how} in one dimension than the argument whose shape the function's has"
    return ""


def _shapes(real: Form, fake: Form) -> str:
    if real.dims is not None and fake.dims is not None:
        if len(real.dims) != len(fake.dims):
            return f"has {_count(len(fake.dims))} where the function's has {_count(len(real.dims))}"
        for index, (left, right) in enumerate(zip(real.dims, fake.dims, strict=True)):
            if _differ(left, right):
                return f"differs in dimension {index}"
    if real.dims == () and fake.like:
        return f"has the shape of an argument where the function's has {_count(0)}"
    if real.like and fake.dims is not None:
        if fake.dims and all(size.isdigit() for size in fake.dims):
            return "has a fixed shape where the function's has that of an argument"
        for index, size in enumerate(fake.dims):
            if _differ(f"{real.like}.shape[{index}]", size):
                return f"differs in dimension {index}"
        if fake.dims == ():
            return f"has {_count(0)} where the function's has the shape of an argument"
    return ""


def _count(dimensions: int) -> str:
    return "no dimensions" if not dimensions else f"{dimensions} dimension{'s' if dimensions > 1 else ''}"


def _differ(left: str, right: str) -> bool:
    """Whether two sizes surely differ: other numbers, or one is the other plus, minus or times a number."""
    if left.isdigit() and right.isdigit():
        return left != right
    for plain, other in ((left, right), (right, left)):
        for operator, neutral in (("Add", "0"), ("Sub", "0"), ("Mult", "1"), ("FloorDiv", "1")):
            start = f"({plain} {operator} "
            if "?" not in plain and other.startswith(start):
                number = other[len(start) : -1]
                return number.isdigit() and number != neutral
    return False


def _dtypes(real: str, fake: str) -> str:
    """Only dtypes that are named tell: what follows an argument may be any."""
    if real == "numpy":
        # An argument of that dtype is what would make the two alike.
        real = "" if fake.startswith("like") else "float64"
    named = real in DTYPES
    if named and fake in DTYPES and real != fake:
        return f"is {fake} where the function's is {real}"
    if named and (fake.startswith("like") or fake == "default") and not (fake == "default" and real == "float32"):
        of = "the default dtype" if fake == "default" else "the dtype of an argument"
        return f"has {of} where the function's is {real}"
    return ""


def _devices(real: str, fake: str) -> str:
    """Devices that are named; no function returns tensors without data that does not say so."""
    if fake and real and fake != real:
        return f"is on the device `{fake}` where the function's is on `{real}`"
    return "is on the device `meta` where the function's has data" if fake == "meta" and not real else ""


def is_default(real: Form, fake: Form) -> bool:
    """Whether the fake's tensor has the default dtype where the real one has that of an argument."""
    return real.dtype.startswith("like") and fake.dtype == "default"
