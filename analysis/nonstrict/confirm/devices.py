"""On which device experiments run, and how to tell that code needs a GPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nonstrict.confirm.client import AgentUnavailable

if TYPE_CHECKING:
    from nonstrict.confirm.answers import Ready

#: What torch, Triton and the CUDA runtime say where there is no GPU.
_NO_GPU = re.compile(
    r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs|CUDA-capable|libcuda|0 active drivers"
    r"|(?i:cuda\S* (?:is|are) not available|requires? (?:a )?(?:cuda|gpu))"
)


def device_for(wanted: str, ready: Ready) -> str:
    """The device for a choice of `auto`, `cpu` or `cuda`: a GPU if there is one that torch can use.

    Raises:
        AgentUnavailable: a GPU is asked for, and there is none.
    """
    if wanted == "auto":
        return "cuda" if ready.cuda else "cpu"
    if wanted == "cuda" and not ready.cuda:
        raise AgentUnavailable(
            f"torch {ready.torch} finds no CUDA GPU here: leave `--device cuda` out, or choose another "
            "interpreter (`--python`; `nonstrict.interpreter` in an editor)"
        )
    return wanted


def needs_gpu(error: str) -> bool:
    """Whether an error says that there is no GPU."""
    return _NO_GPU.search(error) is not None
