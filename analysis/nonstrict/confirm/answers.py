"""What comes from the agent: the messages of its processes, and what they say of jobs and of itself."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The longest line accepted from the agent, in bytes: what one result may weigh, with room for what encloses it.
LONGEST_LINE = 80 << 20
#: How long the agent may take to end its processes after it was asked to, in seconds.
GRACE = 5.0


class Change(NamedTuple):
    """A file that a run wrote, deleted, ..."""

    #: "written", "deleted" or another word of the agent's isolation.
    kind: str
    path: str
    #: In bytes, of what was written.
    size: int


class JobResult(NamedTuple):
    """What became of one job."""

    #: What the job returned, None if it failed before it could return anything.
    value: dict[str, Any] | None
    #: "" or one of timeout, crash, memory, processes, sandbox, size, tampered, cancelled, dead.
    failure: str
    #: A sentence for people: "ended by SIGSEGV".
    detail: str
    #: What the run changed on disk, or would have if it had not been isolated.
    changes: tuple[Change, ...]
    #: Wall clock from the start of the job's process to its end; 0 if it never started.
    seconds: float
    #: How many further changes there were.
    changes_left_out: int = 0
    #: The end of what its process printed outside any capture, for bug reports.
    printed: str = ""
    #: The most memory that it used, in MiB; 0 if unknown.
    memory: float = 0


class State(NamedTuple):
    """What the agent is doing, for those who wait."""

    #: starting, importing, warming, ready; later heating, warm (kernels compile fast), restarting, unavailable, closed.
    name: str
    #: For people: "importing torch", "compiling a first kernel".
    text: str
    #: Since the agent was started.
    seconds: float
    #: The event as it came: "zygote" ("cpu" or "cuda"), "took" (seconds of the step that ended), "torch", ...
    details: dict[str, Any]


class Ready(NamedTuple):
    """What runs at the other end."""

    torch: str
    python: str
    #: The isolation in use: "copy-on-write", "deny" or "none".
    tier: str
    #: "fork" (jobs are forked from a warm process) or "workers" (each has a process of its own).
    mode: str
    #: From the start of the agent until it was ready.
    seconds: float
    #: Whether jobs for the device "cuda" are worth a try: torch was built for it, and there is a driver.
    cuda: bool


def pipe_of(stream: IO[bytes] | None) -> IO[bytes]:
    """A pipe that a process was started with."""
    if stream is None:
        raise TypeError("the process was started without this pipe")
    return stream


def messages(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """The JSON objects the agent writes, one a line; ends with the agent, or where it writes something else."""
    with pipe_of(process.stdout) as stream:
        rest = bytearray()
        while True:
            with contextlib.suppress(InterruptedError):
                chunk = stream.read(1 << 20)
                if not chunk:
                    return
                seen = len(rest)
                rest += chunk
                if chunk.find(b"\n") < 0:
                    if len(rest) > LONGEST_LINE:
                        process.kill()
                        return
                    continue
                end = rest.rindex(b"\n", seen)
                lines, rest = rest[:end].split(b"\n"), rest[end + 1 :]
                for line in lines:
                    message = _object(line)
                    if message is None:
                        process.kill()
                        return
                    yield message


def _object(line: bytes | bytearray) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", message) if isinstance(message, dict) else None


def ending(process: subprocess.Popen[bytes]) -> str:
    """Why there are no more messages, as a sentence."""
    try:
        status = process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"the agent was ended by {signal.Signals(-status).name}; start it again"
    return "the agent was closed" if status == 0 else f"the agent ended with status {status}; start it again"


def result_of(message: dict[str, Any]) -> JobResult:
    """What a message of the agent says about a job."""
    value = message.get("value")
    return JobResult(
        cast("dict[str, Any]", value) if isinstance(value, dict) else None,
        str(message.get("failure", "")),
        str(message.get("detail", "")),
        tuple(Change(*change) for change in message.get("changes", ())),
        float(message.get("seconds", 0.0)),
        int(message.get("changes_left_out", 0)),
        str(message.get("printed", "")),
        float(message.get("memory_mb", 0)),
    )


def message_of(result: JobResult) -> dict[str, Any]:
    """A message that says the same of a job as `result_of` reads."""
    told = result._asdict()
    told["memory_mb"] = told.pop("memory")
    return told
