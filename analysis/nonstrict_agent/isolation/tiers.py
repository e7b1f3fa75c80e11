"""The face of isolation: which tiers this machine offers, choosing one, and running work inside it.

    tier = choose("auto")                                  # in the broker, once; tries for real
    prepare()                                              # in the zygote, once
    pid = os.fork()                                        # in the zygote, which has one thread
    if pid == 0:
        contained(work, Containment(tier, writable=(cache,)), result_fd)   # never returns
    ...
    end(pid)                                               # to cancel; afterwards `os.waitpid(pid, 0)`

`result_fd` receives at most two JSON lines, then end of file:

    {"result": VALUE}                                      # what `work` returned, or instead
    {"raised": {"type": "ValueError", "message": "..."}}
    {"changes": [["written", "/abs/path", 120], ...], "changes_left_out": 0,
     "exit": {"reason": "done", "status": 0, "signal": "", "detail": ""},
     "memory_mb": 512, "seconds": 0.41, "setup_ms": 21.5, "printed": "last output", "tier": "copy-on-write"}

The second line is always there unless the process was killed from outside. Its `exit.reason` is an `Ending`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from nonstrict_agent.isolation.containment import Containment, Ending, Tier
from nonstrict_agent.isolation.secrets import secret_places

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Containment",
    "Ending",
    "IsolationUnavailableError",
    "Offer",
    "Tier",
    "choose",
    "contained",
    "end",
    "prepare",
    "probe",
    "remove_leftovers",
    "secret_places",
]


class IsolationUnavailableError(Exception):
    """No tier, or not the wanted one, works on this machine; the message says why and what to do."""


class Offer(NamedTuple):
    """Whether a tier works here. `reason` is a sentence for users when it does not, and empty when it does."""

    tier: Tier
    available: bool
    reason: str


_CONFINED = (Tier.COPY_ON_WRITE, Tier.DENY)
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_TRIAL = "import sys; sys.path.insert(0, sys.argv[1]); from nonstrict_agent.isolation.probing import main; main()"
_TRIAL_SECONDS = 60


@functools.cache
def probe() -> tuple[Offer, ...]:
    """Tries copy-on-write and deny in a throw-away process of this interpreter (about 0.3 s); remembered."""
    try:
        refusals = _tried()
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        refusals = {tier.value: f"Trying it failed: {error}." for tier in _CONFINED}
    return tuple(Offer(tier, not refusals[tier.value], refusals[tier.value]) for tier in _CONFINED)


def _tried() -> dict[str, str]:
    if sys.platform != "linux":
        return {tier.value: "Isolation is made of what only Linux has." for tier in _CONFINED}
    trial = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _TRIAL, _ROOT],
        capture_output=True,
        timeout=_TRIAL_SECONDS,
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(trial.stdout)


def choose(wanted: str = "auto") -> Tier:
    """The tier to use. `wanted`: `auto` (the best that works; never `none`) or the value of a `Tier`.

    Raises:
        IsolationUnavailableError: nothing works, or the wanted tier does not.
    """
    if wanted == Tier.NONE.value:
        return Tier.NONE
    offers = {offer.tier.value: offer for offer in probe()}
    if wanted == "auto":
        for offer in offers.values():
            if offer.available:
                return offer.tier
        reasons = " ".join(f"{offer.tier.value}: {offer.reason}" for offer in offers.values())
        raise IsolationUnavailableError(
            f"code cannot be run apart from this machine, so it is not run. {reasons} "
            "Choose the isolation `none` only for code that you would run anyway."
        )
    if wanted not in offers:
        known = ", ".join(["auto", *(tier.value for tier in Tier)])
        raise IsolationUnavailableError(f"there is no isolation called `{wanted}`; known are {known}")
    if not offers[wanted].available:
        raise IsolationUnavailableError(f"the isolation `{wanted}` does not work here. {offers[wanted].reason}")
    return Tier(wanted)


def contained(work: Callable[[], Any], containment: Containment, result_fd: int) -> NoReturn:
    """Runs `work` inside `containment`, writes what became of it to `result_fd`, and ends this process.

    To be called in a freshly forked process with one thread, whose parent's forking thread lives on. `work` returns
    something that `json.dumps` takes. All other file descriptors are closed; stdin is `/dev/null`, stdout and stderr
    go nowhere but into `printed`. The process becomes a session leader: `end` of its id, or the death of its parent,
    ends everything that the work started. The process's own exit status says nothing.
    """
    try:
        from nonstrict_agent.isolation.supervisor import serve

        serve(work, containment, result_fd)
    finally:
        os._exit(1)


def end(pid: int) -> None:
    """Ends at once a process that called `contained`, with everything that the work started. Does not wait for it.

    To be called before the process was waited for, or its id may be another's; that it has ended is fine.
    """
    for kill in (os.killpg, os.kill):  # the second for a process that has not become a session leader yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def remove_leftovers() -> None:
    """Removes temporary directories of contained processes that were ended before they could do so themselves."""
    import shutil
    import tempfile

    from nonstrict_agent.isolation.containment import TEMPORARY_PREFIX

    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            number = entry.name.removeprefix(TEMPORARY_PREFIX).partition("-")[0]
            ours = entry.name.startswith(TEMPORARY_PREFIX) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
            if ours and number.isdecimal() and not _lives(int(number)):
                shutil.rmtree(entry.path, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def prepare() -> None:
    """Imports what `contained` needs, so that forked processes share it instead of doing so each (about 15 ms)."""
    import nonstrict_agent.isolation.supervisor  # noqa: F401 # pyright: ignore[reportUnusedImport]
