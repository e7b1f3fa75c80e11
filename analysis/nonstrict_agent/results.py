"""What a job's process wrote, read with suspicion, as the message that the client gets."""

from __future__ import annotations

import time
from typing import Any

from nonstrict_agent.framing import FramingError, Lines

#: The most a job may write into its result pipe, in bytes: more than isolation lets through.
LARGEST = 72 << 20

#: How isolation says that a run ended, and how clients are told.
_FAILURES = {
    "done": "",
    "exited": "crash",
    "signal": "crash",
    "seconds": "timeout",
    "memory": "memory",
    "processes": "processes",
    "output": "size",
    "sandbox": "sandbox",
    "tampered": "tampered",
}


class Run:
    """One job: what was asked, and what has come back so far."""

    def __init__(self, number: int, job: dict[str, Any], seconds: float, priority: int) -> None:
        self.number = number
        self.job = job
        self.seconds = seconds
        self.priority = priority
        #: How often its process, or the one it was to be forked from, was lost with it.
        self.losses = 0
        #: Set when it is to end for a reason that its process does not know: a failure and its sentence.
        self.verdict: tuple[str, str] | None = None
        self.begin()

    def begin(self) -> None:
        """Its process starts, perhaps for the second time."""
        self.started = 0.0
        #: Whether its end was demanded already because its time is over.
        self.extended = False
        self.lines: list[dict[str, Any]] = []
        self._pieces = Lines(LARGEST)
        self._size = 0

    def take(self, piece: bytes) -> bool:
        """Take in what its process wrote; False if that is nothing that isolation writes, and it should be ended."""
        self._size += len(piece)
        if self._size > LARGEST:
            self.verdict = ("size", f"its result is larger than {LARGEST >> 20} MiB")
            return False
        try:
            self.lines += self._pieces.feed(piece)
        except FramingError:
            self.verdict = ("crash", "it wrote something else than a result")
            return False
        return True

    def is_complete(self) -> bool:
        """Whether its process has written its last line."""
        return any("exit" in line for line in self.lines)

    def result(self) -> dict[str, Any]:
        """The message for the client; nothing is missing from it whatever the process wrote."""
        value = next((line["result"] for line in self.lines if "result" in line), None)
        raised = next((line["raised"] for line in self.lines if "raised" in line), None)
        report = next((line for line in self.lines if "exit" in line), {})
        failure, detail = self.verdict or _ending(report, value, raised)
        return {
            "event": "result",
            "id": self.number,
            "value": value if isinstance(value, dict) else None,
            "failure": failure,
            "detail": detail,
            "changes": _changes(report.get("changes")),
            "changes_left_out": _number(report.get("changes_left_out")),
            "printed": str(report.get("printed", "")),
            "memory_mb": _number(report.get("memory_mb")),
            "setup_ms": _number(report.get("setup_ms")),
            "seconds": round(time.monotonic() - self.started, 4) if self.started else 0.0,
        }


def _ending(report: dict[str, Any], value: Any, raised: Any) -> tuple[str, str]:
    """Failure and sentence for what the process itself reported."""
    told = report.get("exit")
    told = told if isinstance(told, dict) else {}
    reason = str(told.get("reason", ""))
    failure = _FAILURES.get(reason, "crash")
    if failure:
        return failure, _sentence(reason, told)
    if isinstance(raised, dict):
        kind, message = str(raised.get("type", "")), str(raised.get("message", ""))
        if kind == "MemoryError":
            return "memory", "it needed more memory than a run may use"
        return "crash", f"{kind}: {message}"
    if not isinstance(value, dict):
        return "crash", "it returned no JSON object"
    return "", ""


def _sentence(reason: str, told: dict[str, Any]) -> str:
    detail, name = str(told.get("detail", "")), str(told.get("signal", ""))
    if detail:
        return detail
    if name:
        return f"ended by {name}"
    if reason == "exited":
        return f"it left with status {told.get('status')} before it had a result"
    if reason == "seconds":
        return "it took longer than it was given"
    return f"ended for this reason: {reason}" if reason else "its process ended without saying why"


def _changes(told: Any) -> list[list[Any]]:
    """Kind, path and size of each change, where that is what was reported."""
    if not isinstance(told, list):
        return []
    return [
        [str(change[0]), str(change[1]), _number(change[2])]
        for change in told
        if isinstance(change, list) and len(change) == 3
    ]


def _number(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0
