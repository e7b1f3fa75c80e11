"""The dtypes of tensors, and what torch, NumPy and Python call them."""

from __future__ import annotations

from nonstrict.knowledge.operators import FLOATS, WHOLE

#: Types of Python that stand for a dtype.
PYTHON = {"float": "float64", "int": "int64", "bool": "bool"}
#: Other names of torch for some.
SPELLINGS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
DTYPES = FLOATS | WHOLE | {"complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "uint16", "uint32"}

#: What autocast computes in its dtype, as far as sizes follow from it.
#: Source: the lists in aten/src/ATen/autocast_mode.h of torch 2.13.
LOWERED = frozenset({"linear", "matmul", "mm", "bmm", "conv1d", "conv2d", "conv3d"})


def named_dtype(dotted: str) -> str:
    """The dtype that something of torch, NumPy or Python is; "" for everything else."""
    library, _, name = dotted.partition(".")
    if library == "builtins":
        return PYTHON.get(name, "")
    if library not in ("torch", "numpy"):
        return ""
    name = SPELLINGS.get(name, name) if library == "torch" else name.rstrip("_")
    return name if name in DTYPES else ""
