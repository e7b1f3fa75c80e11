"""Errors that say nothing about a program: those of a sandbox around it, and of a GPU without memory for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the sandbox forbids (EPERM, EACCES, EROFS, EXDEV-like copies of foreign files), and a network that is not there
#: (EADDRNOTAVAIL, ENETDOWN, ENETUNREACH, ECONNREFUSED, EHOSTUNREACH; names that are not resolved), by number on Linux.
_NUMBERS = re.compile(r"\[Errno (?:1|13|30|75|99|100|101|111|113|-2|-3|-5)\]")
#: What torch and CUDA say of memory of a GPU (torch 2.7 to 2.15; `OutOfMemoryError` is a `RuntimeError`).
_GPU_IS_FULL = re.compile(
    r"\b(?:CUDA|HIP) (?:error: )?out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY"
)
_OF_SYSTEM = frozenset({"PermissionError", "ConnectionRefusedError", "OSError", "gaierror", "error"})


def refused_by_sandbox(error: Mapping[str, Any]) -> str:
    """The refusal of the system in the chain of an error, as a sentence; empty if there is none.

    The system gives a number, which what a program raises by itself has not.
    """
    for link in error["links"]:
        if link["type"] in _OF_SYSTEM and _NUMBERS.search(link["message"]):
            return f"{link['type']}: {link['message']}".split("\n", 1)[0]
    return ""


def out_of_gpu_memory(error: Mapping[str, Any]) -> str:
    """What says in the chain of an error that a GPU has no memory left, as a sentence; empty if nothing does."""
    for link in error["links"]:
        if _GPU_IS_FULL.search(link["message"]):
            return str(link["message"]).split("\n", 1)[0]
    return ""


def out_of_gpu_memory_in(trace: Mapping[str, Any]) -> str:
    """The same of an arm."""
    parts = [*trace.get("calls", ()), trace.get("stop"), trace.get("gradients"), {"error": trace.get("load_error")}]
    errors: list[Any] = [part.get("error") for part in parts if part]
    return next((told for one in errors if one and not isinstance(one, str) and (told := out_of_gpu_memory(one))), "")
