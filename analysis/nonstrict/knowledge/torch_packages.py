"""The packages that torch itself consists of, by which a path of a checkout of torch is told.

Source: the folders with an `__init__.py` in `torch/` of torch 2.13, and `_C`, which is compiled.
"""

from __future__ import annotations

#: The names of the packages in `torch/`.
PACKAGES = frozenset({
    "_C", "_awaits", "_custom_op", "_decomp", "_dispatch", "_dynamo", "_export", "_functorch", "_higher_order_ops",
    "_inductor", "_lazy", "_library", "_logging", "_native", "_numpy", "_prims", "_prims_common", "_refs",
    "_strobelight", "_subclasses", "_vendor", "accelerator", "amp", "ao", "autograd", "backends", "compiler", "contrib",
    "cpu", "cuda", "distributed", "distributions", "export", "fft", "func", "futures", "fx", "jit", "linalg", "masked",
    "monitor", "mps", "mtia", "multiprocessing", "nativert", "nested", "nn", "numa", "onnx", "optim", "package",
    "profiler", "quantization", "signal", "sparse", "special", "testing", "utils", "xpu",
})  # fmt: skip
