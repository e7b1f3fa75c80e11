"""Two small processes that watch each other: whichever is killed, the other ends everything that they started.

The client talks to the broker, the child of the two; the parent, the guardian, holds nothing but one end of a pipe and
adopts what the broker leaves behind. If the guardian dies, the broker reads the end of that pipe and ends all.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

from nonstrict_agent.processes import adopt_orphans, end_others

#: How often the guardian looks whether the process that started it is still there, in seconds.
_PULSE = 0.5


def guarded() -> None:
    """Run the broker, guarded where processes can be forked; returns or leaves when it is over."""
    from nonstrict_agent import broker

    reading, writing = _own_streams()
    if not hasattr(os, "fork"):
        broker.serve(reading, writing, None)
        return
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    client = os.getppid()
    broker_lives, guardian_lives = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(broker_lives[0])
        os.close(guardian_lives[1])
        adopt_orphans()
        broker.serve(reading, writing, guardian_lives[0])
        os._exit(0)
    for descriptor in (reading, writing, broker_lives[1], guardian_lives[0]):
        os.close(descriptor)
    _leave(_wait_for(pid, broker_lives[0], client))


def _own_streams() -> tuple[int, int]:
    """The client's pipes, moved away from where stray reads and prints of the process would go."""
    reading, writing = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return reading, writing


def _wait_for(pid: int, lifeline: int, client: int) -> int:
    """Wait until the broker is dead; its wait status. Ends it when the client is dead, whose pipe another may hold."""
    import select

    while True:
        ended = bool(select.select([lifeline], [], [], _PULSE)[0])
        if ended or os.getppid() != client:
            if not ended:
                os.kill(pid, signal.SIGTERM)
                select.select([lifeline], [], [], 2.0)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return os.waitpid(pid, 0)[1]
        # Orphans that died by themselves.
        with contextlib.suppress(ChildProcessError):
            _reap_orphans(pid)


def _reap_orphans(broker: int) -> None:
    from nonstrict_agent.processes import children, reap

    for pid in children():
        if pid != broker:
            reap(pid)


def _leave(status: int) -> None:
    """End what is left, and this process as the broker ended."""
    end_others(())
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)
        time.sleep(0.1)
    sys.stderr.flush()
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)
