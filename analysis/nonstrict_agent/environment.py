"""What is set before torch is imported, where the agent keeps files, and which torch is good enough."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

#: The oldest torch the experiments are written for.
OLDEST_TORCH = (2, 7)


class Directories(NamedTuple):
    """Where the agent keeps files of one tier of isolation, below the directory its user named."""

    #: What the warm-up compiles. No job may write here: the process that all jobs are forked from loads it unprotected.
    warm: str
    #: What jobs compile: a directory for each project, which only its jobs may write and read back.
    projects: str

    def of_job(self, job: Mapping[str, Any]) -> str:
        """Where a job keeps what it compiles, for those of the same project; made if missing, and marked as used.

        Raises:
            OSError: it cannot be made.
        """
        path = os.path.join(self.projects, os.path.basename(job["caches"]))
        os.makedirs(path, exist_ok=True)
        os.utime(path)
        return path


def tier_of(cache: str, tier: str) -> str:
    """The part of a cache that belongs to a tier: what one wrote is read by no other, which may be less isolated."""
    return os.path.join(cache, tier)


def directories(cache: str) -> Directories:
    """The directories below the cache of a tier; made if they are missing.

    Raises:
        OSError: they cannot be made.
    """
    found = Directories(*(os.path.join(cache, name) for name in Directories._fields))
    for path in found:
        os.makedirs(path, exist_ok=True)
    return found


def before_torch(where: Directories, device: str) -> None:
    """Set the variables that torch reads when it is imported, or later.

    One thread each: OpenMP does not survive a fork, and `torch._inductor.config.compile_threads` above 1 starts a
    pool of processes. A CPU process sees no GPU, so that no library of CUDA is ever initialised in it; a CUDA process
    asks NVML whether there is a GPU, which does not initialise CUDA (`torch.cuda.is_available`).
    """
    os.environ.update(
        OMP_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
        TORCHINDUCTOR_COMPILE_THREADS="1",
        PYTORCH_NVML_BASED_CUDA_CHECK="1",
    )
    caches_in(where.warm)
    if device == "cpu":
        os.environ.update(CUDA_VISIBLE_DEVICES="", HIP_VISIBLE_DEVICES="")


def caches_in(directory: str) -> None:
    """Let everything that is compiled from now on be kept below a directory; torch reads these variables every time."""
    os.environ.update(
        TORCHINDUCTOR_CACHE_DIR=os.path.join(directory, "inductor"),
        TRITON_CACHE_DIR=os.path.join(directory, "triton"),
        TORCH_EXTENSIONS_DIR=os.path.join(directory, "extensions"),
    )


def torch_missing(error: BaseException) -> tuple[str, str]:
    """What to tell users whose torch cannot be imported: a reason for programs, and a sentence."""
    advice = (
        "install torch 2.7 or later there, or name another interpreter with --python, `python` in the configuration, "
        "or `nonstrict.interpreter` in an editor"
    )
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return "torch-missing", f"{sys.executable} has no torch; {advice}"
    return "torch-broken", f"torch cannot be imported by {sys.executable} ({type(error).__name__}: {error}); {advice}"


def torch_too_old(torch: ModuleType) -> tuple[str, str] | None:
    """What to tell users whose torch is too old for the experiments; None if it is not."""
    version = str(getattr(torch, "__version__", ""))
    try:
        major, minor = (int(part) for part in version.split(".")[:2])
    except ValueError:
        return "torch-broken", f"{sys.executable} has a torch that does not say its version; install it again"
    if (major, minor) >= OLDEST_TORCH:
        return None
    return (
        "torch-too-old",
        f"{sys.executable} has torch {version}; confirming needs torch 2.7 or later: upgrade it there",
    )
