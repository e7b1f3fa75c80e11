"""On which device experiments run, and how to tell that code needs a GPU."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from nonstrict.confirm.client import AgentUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
            f"torch {ready.torch} finds no CUDA GPU here: choose the device `cpu` or `auto`, or an interpreter whose "
            "torch finds one"
        )
    return wanted


def needs_gpu(error: str) -> bool:
    """Whether an error says that there is no GPU."""
    return _NO_GPU.search(error) is not None


def visible_gpus(environment: Mapping[str, str], listed: str = "/proc/driver/nvidia/gpus") -> list[str]:
    """The NVIDIA GPUs that programs started from here may use, as `CUDA_VISIBLE_DEVICES` names them."""
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip()]
    try:
        return [str(number) for number in range(len(os.listdir(listed)))]
    except OSError:
        return []


def own_first(gpus: Sequence[str], index: int) -> tuple[tuple[str, str], ...]:
    """The variables with which a worker has a GPU of its own for `cuda`, the others behind it.

    All stay visible: a program that asks for a second GPU finds as many with several workers as with one.
    """
    if not gpus:
        return ()
    first = index % len(gpus)
    return (("CUDA_VISIBLE_DEVICES", ",".join((*gpus[first:], *gpus[:first]))),)
