"""The contained process: gives up everything that its work shall not have, runs the work, writes down the result."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict_agent.isolation import accelerators, landlock, limits, namespaces, seccomp
from nonstrict_agent.isolation.containment import Tier
from nonstrict_agent.isolation.overlay import DEVICES
from nonstrict_agent.isolation.system_calls import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_agent.isolation.containment import Containment
    from nonstrict_agent.isolation.sight import Sight

READY = b"ready\n"
_MESSAGE = 2000
_LESS_URGENT = 10
"""How much nicer work is than its supervisor, which must get a turn among many processes."""
_NODES = [(f"/dev/{name}", landlock.DEVICE) for name in DEVICES]


def run(
    work: Callable[[], Any],
    containment: Containment,
    result: int,
    printed: int,
    temporary: str,
    sight: Sight,
    seal: Callable[[bytes], bytes],
) -> NoReturn:
    """Confines this process, runs `work` and ends. Writes to `result`: `READY`, then one JSON line, sealed.

    `printed` becomes stdout and stderr; `temporary` is an own directory for temporary files, empty where the usual
    one will do. When confining fails, the line is `{"refused": reason}`, and the work is not run.
    """
    try:
        _descriptors(result, printed, keep_output=containment.printed > 0)
        _confine(containment, temporary, sight)
    except SetupError as error:
        _write(result, _line({"refused": str(error)}))
        os._exit(1)
    os.write(result, READY)
    if containment.printed > 0:
        faulthandler.enable(file=2)
    try:
        answer = _line({"result": work()})
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what became of the work
        answer = _line({"raised": {"type": type(error).__name__, "message": _told(error)}})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    _write(result, seal(answer))
    os._exit(0)


def _told(error: BaseException) -> str:
    try:
        return str(error)[:_MESSAGE]
    except Exception:  # noqa: BLE001 - an exception of the work's own making
        return ""


def _line(answer: dict[str, Any], encode: Callable[[Any], str] = json.dumps) -> bytes:
    # As it was imported: the work may have put something else in its place.
    return encode(answer).encode("ascii") + b"\n"


def _write(result: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(result, rest) :]


def _descriptors(result: int, printed: int, *, keep_output: bool) -> None:
    """Closes all that was inherited but the result's; stdin is empty, the other two go to the supervisor.

    Python's streams are the original ones again: others write to descriptors that are closed now.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    for number in (1, 2):
        os.dup2(printed if keep_output else nothing, number)
    close_all_but(result)
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    _forget_helpers()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM, signal.SIGUSR1, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def close_all_but(*kept: int) -> None:
    """Closes the file descriptors from 3 on, except those given."""
    lowest = 3
    for number in sorted(kept):
        os.closerange(lowest, number)
        lowest = max(lowest, number + 1)
    os.closerange(lowest, os.sysconf("SC_OPEN_MAX"))


def _forget_helpers() -> None:
    """The helper processes of `multiprocessing` were reached through descriptors that are closed now.

    It would take whatever gets their numbers next for them, write there, and close it (`ResourceTracker.ensure_running`
    and `ForkServer.ensure_running` in CPython 3.10 to 3.14).
    """
    for module, helper, numbers in (
        ("resource_tracker", "_resource_tracker", ("_fd", "_pid")),
        ("forkserver", "_forkserver", ("_forkserver_address", "_forkserver_alive_fd", "_forkserver_pid")),
    ):
        found = getattr(sys.modules.get(f"multiprocessing.{module}"), helper, None)
        for number in numbers:
            if hasattr(found, number):
                setattr(found, number, None)


def _confine(containment: Containment, temporary: str, sight: Sight) -> None:
    tier = containment.tier
    # A user namespace counts its own.
    others = {Tier.COPY_ON_WRITE: 0, Tier.DENY: limits.threads_of_user(), Tier.NONE: None}[tier]
    if temporary:
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
    if containment.directory is not None and tier is not Tier.COPY_ON_WRITE:
        try:
            os.chdir(containment.directory)
        except OSError as error:
            raise SetupError(f"entering {containment.directory}", error.errno or 0) from error
    limits.limit(containment, others)
    os.nice(_LESS_URGENT)
    if tier is Tier.NONE:
        return
    _first_to_be_killed()
    if len(os.listdir("/proc/self/task")) != 1:
        raise SetupError("the process that was forked has several threads")
    namespaces.drop_capabilities()
    own_namespaces = tier is Tier.COPY_ON_WRITE
    interface = landlock.version()
    if own_namespaces:
        if interface:
            landlock.restrict(_rules_of_copy())
    else:
        landlock.restrict(_rules_of_denial((*containment.writable, temporary), sight))
    confined_signals = own_namespaces or interface >= landlock.SIGNALS_SINCE
    seccomp.restrict(namespaces=own_namespaces, signals_to=None if confined_signals else os.getpid())


def _first_to_be_killed() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        return


def _rules_of_copy() -> list[tuple[str, int]]:
    """Everything is a copy, except what the kernel and devices make of writes."""
    everything = landlock.everything(landlock.version())
    own = [(f"/{name}", everything) for name in os.listdir("/") if name not in {"proc", "sys", "dev"}]
    return [("/", landlock.READ), *own, ("/dev/shm", everything), *_NODES, *_accelerators()]  # noqa: S108 - a rule


def _rules_of_denial(writable: tuple[str, ...], sight: Sight) -> list[tuple[str, int]]:
    everything = landlock.everything(landlock.version())
    writing = [(path, everything) for path in writable]
    tops = [f"/{name}" for name in os.listdir("/")]
    opened = [path for path in tops if path != "/dev" and sight.is_open(path)]
    reading = landlock.reading([*opened, *sight.shown], sight.hidden)
    return [*reading, ("/dev", landlock.READ_DIR), *writing, *_NODES, *_accelerators()]


def _accelerators() -> list[tuple[str, int]]:
    names = (name for name in sorted(os.listdir("/dev")) if name.startswith(accelerators.NAMES))
    return [(f"/dev/{name}", landlock.DEVICE) for name in names]
