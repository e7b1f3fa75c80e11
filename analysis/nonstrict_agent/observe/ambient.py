"""The modes and settings of a process that a function may read or change: of torch, of Python, of the environment."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import sys
import warnings


def ambient_state() -> dict[str, str]:
    """The present modes by name. Random state is hashed; environment variables are one hash."""
    import torch

    state = {
        "grad mode": str(torch.is_grad_enabled()),
        "inference mode": str(torch.is_inference_mode_enabled()),
        "default dtype": str(torch.get_default_dtype()),
        "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
        "float32 matmul precision": torch.get_float32_matmul_precision(),
        "number of threads": str(torch.get_num_threads()),
        "working directory": _working_directory(),
        "environment variables": _hash(repr(sorted(os.environ.items()))),
        "module search path": _hash(repr(sys.path)),
        "recursion limit": str(sys.getrecursionlimit()),
        "warning filters": str(len(warnings.filters)),
        "root logger's level": str(logging.getLogger().level),
        "random state": _hash(repr(random.getstate())),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        # Numbers by their bytes: NumPy takes milliseconds to write 624 of them.
        parts = (part.tobytes() if hasattr(part, "tobytes") else part for part in numpy.random.get_state())
        state["NumPy's random state"] = _hash(repr(list(parts)))
    return state


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
