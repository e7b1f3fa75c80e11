"""How dtype and device of the tensor that a fake returns visibly differ from those of the one it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.dtypes import DTYPES

if TYPE_CHECKING:
    from nonstrict.program.contracts.marks.form_tables import Form


def difference(real: Form, fake: Form) -> str:
    """How a fake's tensor visibly differs in dtype or device, as the end of a sentence; "" if nothing tells."""
    return _dtypes(real.dtype, fake.dtype) or _devices(real.device, fake.device)


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
