"""What a containment is made of: its tier, its limits, and the ways in which work in it can end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypedDict

MEBI = 1 << 20
GIBI = 1 << 30
#: What work on a GPU may use of the machine's memory: CUDA and its libraries take a part of it.
GPU_MEMORY = 12 * GIBI
TEMPORARY_PREFIX = "nonstrict-job-"
"""How directories for temporary files of work begin; the process id of its supervisor follows."""


class Tier(str, Enum):
    """How work is kept away from the machine, best first."""

    COPY_ON_WRITE = "copy-on-write"
    """Own namespaces: writes succeed in memory, the machine is untouched, and what was written is listed."""
    DENY = "deny"
    """Landlock and seccomp: writes outside the writable directories fail with `PermissionError`."""
    NONE = "none"
    """Nothing but limits. Only for who asks for it by name."""


class Ending(str, Enum):
    """Why the work ended."""

    DONE = "done"
    """By itself, with a result or an exception."""
    EXITED = "exited"
    """The process left without a result: `os._exit`, `exec`."""
    SIGNAL = "signal"
    """Killed by a signal: a segmentation fault, `abort`, the kernel out of memory."""
    SECONDS = "seconds"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"
    """The result was larger than allowed."""
    TAMPERED = "tampered"
    """Something else than the agent wrote where results are written. What was said of the work counts for nothing."""
    SANDBOX = "sandbox"
    """The containment could not be set up: the work never ran."""


class Exit(TypedDict):
    """How the work ended. `status` is the process's exit status or -1; `signal` a name such as `SIGSEGV` or empty."""

    reason: str
    status: int
    signal: str
    detail: str


@dataclass(frozen=True)
class Containment:
    """One piece of work's surroundings. There is never a network.

    `writable` directories are really written to, through any tier: caches, not the user's project. Of the
    machine's files only some are seen (`sight`): `visible` paths are in addition, and `hidden` ones read as empty
    (copy-on-write) or are refused (deny), as are the places where secrets are usually kept. `directory` is where the
    work starts, which is visible; None keeps the current one. `seconds` are of wall-clock time. `memory` (bytes)
    is what the work may use on top of what the process holds already. With `gpu` only what it really takes counts: CUDA
    maps a great deal more. `scratch` (bytes) bounds the files written in
    memory; `output` (bytes) bounds the result. `printed` is how many of the last bytes of stdout and stderr are
    reported (0: the two are `/dev/null`); `processes` counts those of the work at any one time.
    """

    tier: Tier
    writable: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    directory: str | None = None
    seconds: float = 60.0
    memory: int = 4 * GIBI
    gpu: bool = False
    scratch: int = GIBI
    file_size: int = GIBI
    processes: int = 64
    output: int = 64 * MEBI
    printed: int = 8192
