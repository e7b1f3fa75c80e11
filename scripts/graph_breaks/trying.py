"""Tries one construct in a process of its own: compiled with `fullgraph=True`, or run as plain Python.

A crash, an exit or a hang costs only that process. It works in a scratch directory without a terminal, and an audit
hook refuses everything that would reach beyond it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import linecache
import logging
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._dynamo.exc import TorchDynamoException
from torch._logging._internal import set_logs

from graph_breaks import surroundings

if TYPE_CHECKING:
    from collections.abc import Callable

TIME_LIMIT = 20.0
# A number that no construct uses by accident.
ANSWER = 1000


class Outcome(NamedTuple):
    """What one try ended with.

    `state` is `ok`, `broke` (Dynamo refused), `failed` (any other exception), `died` (no answer). `type` is torch's
    graph-break type or the name of the exception; `message` the text of the exception.
    """

    state: str
    type: str = ""
    message: str = ""
    #: the graph may break, and the whole function ran without one
    falls_back: bool = False


def tried(code: str, *, compiled: bool, in_pieces: bool = False) -> Outcome:
    """The outcome of one construct, tried in a forked process; `in_pieces` where the graph may break."""
    text = _asked(lambda _: json.dumps(run_in_pieces(code) if in_pieces else run(code, compiled=compiled)))
    return Outcome(*json.loads(text)) if text else Outcome("died")


def accepted(ways: tuple[str, ...], wanted: int = 3) -> list[str]:
    """The first of these ways that plain Python runs, tried one after the other in one forked process.

    Those that torch logs a warning about are misuse, and count only where there are no others.
    """

    def answer(writer: int) -> str:
        found = 0
        misused: list[str] = []
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        for code in ways:
            signal.setitimer(signal.ITIMER_REAL, 1.0)
            runs, warned = _runs(code)
            if runs and warned:
                misused.append(json.dumps(code))
            elif runs:
                os.write(writer, (json.dumps(code) + "\n").encode())
                found += 1
            if found == wanted:
                break
        return "" if found else "\n".join(misused[:wanted])

    # What was written before a death counts.
    return [json.loads(line) for line in _asked(answer).splitlines()]


def _runs(code: str) -> tuple[bool, bool]:
    """Whether plain Python runs a construct, and whether torch logs a warning meanwhile."""
    warned = _Warned()
    logger = logging.getLogger("torch")
    logger.addHandler(warned)
    try:
        return run(code, compiled=False).state == "ok", warned.records > 0
    except BaseException:  # noqa: BLE001 -- SystemExit, KeyboardInterrupt and the like are refusals too
        return False, False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        logger.removeHandler(warned)


class _Warned(logging.Handler):
    """Counts what is logged as a warning, or as worse."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.records += 1


def _asked(answer: Callable[[int], str]) -> str:
    """What `answer` writes or returns in a forked process; nothing where that process died."""
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        child = os.fork()
        if child == 0:
            _answer(writer, scratch, answer)
        os.close(writer)
        try:
            return _read_all(reader, child)
        finally:
            os.close(reader)
            os.waitpid(child, 0)


def _read_all(reader: int, child: int) -> str:
    """What the child writes; it and its own children are ended when the time is over."""
    parts: list[bytes] = []
    end = time.monotonic() + TIME_LIMIT
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
        part = os.read(reader, 65536) if ready else b""
        parts.append(part)
        if not part:
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return b"".join(parts).decode()


def _answer(writer: int, scratch: str, answer: Callable[[int], str]) -> None:
    """Runs in the child: one answer down the pipe, and the end."""
    try:
        os.setpgid(0, 0)
        writer = _only_open_file(writer)
        os.chdir(scratch)
        tempfile.tempdir = os.getcwd()
        surroundings.FILE = tempfile.TemporaryFile("w+")  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CPU, (int(TIME_LIMIT), int(TIME_LIMIT)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        forbid_reaching_out()
        text = answer(writer)
    except BaseException as error:  # noqa: BLE001 -- SystemExit and the like are answers too
        text = json.dumps(Outcome("failed", type(error).__name__, str(error)[:2000]))
    os.write(writer, text.encode())
    os._exit(0)


def _only_open_file(writer: int) -> int:
    """Closes whatever was inherited, the pipes of the pool among it; returns where the answer's pipe is now."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    kept = os.dup2(writer, ANSWER)
    os.closerange(3, ANSWER)
    os.closerange(ANSWER + 1, 4096)
    return kept


# Audit events (Python's "Audit events table") of things that a construct must not do outside its process.
FORBIDDEN = re.compile(
    r"subprocess\.|os\.(system|exec|posix_spawn|spawn|fork|forkpty|kill|killpg|chown|chmod|chroot|startfile|putenv_)|"
    r"socket\.(connect|bind|sendto|sendmsg|getaddrinfo|gethostby|getnameinfo|sethostname)|shutil\.(rmtree|move|chown)|"
    r"(ftplib|http|imaplib|nntplib|poplib|smtplib|telnetlib|urllib|webbrowser|syslog|pty)\."
)
CHANGES_FILES = re.compile(r"os\.(remove|rename|rmdir|mkdir|link|symlink|truncate|utime|setxattr|removexattr)$|open$")


def forbid_reaching_out() -> None:
    """Makes this process raise PermissionError when it is about to start programs, use the network or change files."""
    scratch = os.path.realpath(os.getcwd())

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if FORBIDDEN.match(event):
            raise PermissionError(event)
        if CHANGES_FILES.match(event) and not _may(event, arguments, scratch):
            raise PermissionError(event)

    sys.addaudithook(watch)


def _may(event: str, arguments: tuple[Any, ...], scratch: str) -> bool:
    """Whether a file event stays in the scratch directory, or only reads."""
    if event == "open" and isinstance(arguments[2], int):
        writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if not writes:
            return True
    paths = [os.fsdecode(path) for path in arguments[:2] if isinstance(path, (str, bytes))]
    return all(os.path.realpath(path).startswith((scratch, os.devnull)) for path in paths if path not in _MODES)


_MODES = frozenset({"r", "w", "a", "x", "rb", "wb", "ab", "xb", "r+", "w+", "r+b", "w+b", "rb+", "wb+"})


def run(code: str, *, compiled: bool) -> Outcome:
    """Runs a construct in this very process."""
    region, arguments = build(code)
    function: Callable[..., Any] = torch.compile(region, fullgraph=True, backend="eager") if compiled else region
    try:
        function(*arguments)
    except TorchDynamoException as error:
        return Outcome("broke", getattr(error, "gb_type", "") or exception_name(error), own_text(error))
    except Exception as error:  # noqa: BLE001 -- whatever user code may raise
        if compiled and _raised_by_dynamo(error):
            return Outcome("broke", type(error).__name__, own_text(error))
        return Outcome("failed", type(error).__name__, str(error)[:2000])
    return Outcome("ok")


class _Told(logging.Handler):
    """What torch logs about breaks, without what it does about them."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "__graph_breaks" in record.name:
            _, _, reason = record.getMessage().partition("Graph Break Reason: ")
            before, _, rest = reason.partition(":\n\n")
            self.reasons.append(rest if before.startswith(_ABOUT_RESUMING) else reason)


_ABOUT_RESUMING = ("Encountered graph break when", "Failed to handle graph break gracefully.")


def run_in_pieces(code: str) -> Outcome:
    """Runs a construct in this very process with `torch.compile`, where the graph may break."""
    region, arguments = build(code)
    graphs: list[int] = []
    told = _Told()
    set_logs(graph_breaks=True)
    logging.getLogger("torch._dynamo").addHandler(told)

    def counting(module: torch.fx.GraphModule, _: list[Any]) -> torch.fx.GraphModule:
        graphs.append(sum(node.op.startswith("call_") for node in module.graph.nodes))
        return module

    failure: Exception | None = None
    try:
        torch.compile(region, backend=counting)(*arguments)
    except Exception as error:  # noqa: BLE001 -- whatever user code may raise
        failure = error
    if told.reasons:
        text = own_text(told.reasons[0])
        return Outcome("broke", text.partition("\n")[0].strip(), text, falls_back=failure is None and not any(graphs))
    if failure is not None:
        return Outcome("failed", type(failure).__name__, str(failure)[:2000])
    return Outcome("ok") if any(graphs) else Outcome("broke", falls_back=True)


def exception_name(error: BaseException) -> str:
    """What to call an exception that is no graph break of torch's registry."""
    if re.search(r"data-dependent expression|torch\._check\*", str(error)):
        return "GuardOnDataDependentSymNode"
    found = re.match(r"(PendingUnbackedSymbolNotFound)\b", str(error))
    return found.group() if found else type(error).__name__


def own_text(error: BaseException | str) -> str:
    """The message of an exception of Dynamo, or what it logged, without the trace of user code below it."""
    return str(error).partition("\nfrom user code:")[0].strip()[:4000]


def _raised_by_dynamo(error: BaseException) -> bool:
    """Whether an exception was raised while compiling, not by the code that came of it."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(frame.filename.endswith("convert_frame.py") for frame in frames)


def build(code: str) -> tuple[Callable[..., Any], list[Any]]:
    """The region with this code, and its arguments.

    Raises:
        SyntaxError: the code is not Python.
    """
    mentioned = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)} | {"x"}
    used = [name for name in surroundings.ARGUMENTS if name in mentioned]
    names: dict[str, Any] = {**sys.modules, **vars(surroundings)}
    if code.startswith(("def region(", "async def region(")):
        text = code
    else:
        body = f"kept = ({code})" if _is_expression(code) else code
        lines = "\n".join("    " + line for line in body.split("\n"))
        text = f"def region({', '.join(used)}):\n{lines}\n    return x + 1\n"
    # A function without a source is called through one of torch's (`eval_frame.py`: `filename is None`).
    linecache.cache["<construct>"] = (len(text), None, text.splitlines(keepends=True), "<construct>")
    exec(compile(text, "<construct>", "exec"), names)  # noqa: S102 -- the constructs of this folder
    return names["region"], [surroundings.ARGUMENTS[name]() for name in used]


def _is_expression(code: str) -> bool:
    try:
        compile(code, "<construct>", "eval")
    except SyntaxError:
        return False
    return True
