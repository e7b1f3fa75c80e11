"""How much memory of a GPU the work of one experiment may take."""

from __future__ import annotations

import contextlib

#: Of what is free when the work first touches the GPU: others who use it go on.
_SHARE = 0.9


def bound_memory() -> None:
    """Let torch's allocator refuse what is more, as it does where there is no more: by `torch.OutOfMemoryError`.

    The bound is set once CUDA is initialised, which is the program's to do (`torch.cuda._lazy_call`, of torch 2.7 to
    2.15). Memory that is not of torch's allocator is not counted: the context of CUDA, what libraries take by
    themselves. The bound is that of the first GPU, which is a worker's own; to ask another one would take memory there.
    """
    import torch

    later = getattr(torch.cuda, "_lazy_call", None)
    if later is not None:
        later(_bound)


def _bound() -> None:
    import torch

    # A program goes on where its GPU does not tell.
    with contextlib.suppress(Exception):
        free, total = torch.cuda.mem_get_info(0)
        torch.cuda.set_per_process_memory_fraction(share_of(free, total), 0)


def share_of(free: int, total: int) -> float:
    """The part of all memory of a GPU that one experiment may take.

    >>> share_of(40, 80)
    0.45
    """
    return min(1.0, _SHARE * free / total) if total > 0 else 1.0
