"""A client that knows JSON-RPC and nothing else: what it sends and when is up to the test."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.server.oracle import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

#: Errors of the protocol that are no failures.
CANCELLED, SUPERSEDED, MODIFIED = -32800, -32802, -32801


class Reply(NamedTuple):
    """The answer to a request: a result, or an error with its code."""

    result: Any
    error: dict[str, Any] | None

    @property
    def code(self) -> int | None:
        """The code of the error."""
        return self.error["code"] if self.error else None


class ServerEndedError(Exception):
    """The server ended, or closed its output, while an answer was awaited."""


class RawClient:
    """`nonstrict server` as a process, and the messages that it sends.

    Requests of the server are answered from `answers`, by method; with null if there is none. A process that is asked
    to by nobody else must be ended with `close`.
    """

    def __init__(
        self,
        directory: Path,
        *arguments: str,
        answers: Mapping[str, Callable[[Any], Any]] | None = None,
        **extra: str,
    ) -> None:
        self._answers = dict(answers or {})
        self._log = directory / "server-stderr.txt"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "nonstrict", "server", *arguments],
                cwd=directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment(**extra),
            )
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._replies: dict[int, Reply] = {}
        self._ended = False
        self._failure = ""
        self.asked: set[int] = set()
        self.seen: list[tuple[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def errors(self) -> str:
        """What the server wrote to standard error."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def request(self, method: str, params: Any = None) -> int:
        """Send a request; its number is for `reply` and `cancel`."""
        number = next(self._numbers)
        self.asked.add(number)
        self._send({"id": number, "method": method, "params": params})
        return number

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def cancel(self, number: int) -> None:
        """Ask the server to give a request up."""
        self.notify("$/cancelRequest", {"id": number})

    def answered(self, number: int) -> bool:
        """Whether a request has its reply, which nobody took so far."""
        with self._changed:
            return number in self._replies

    def reply(self, number: int, seconds: float = 30) -> Reply:
        """Wait for the answer of a request.

        Raises:
            ServerEndedError: there will be none.
            TimeoutError: there was none in time.
        """
        with self._changed:
            met = self._changed.wait_for(lambda: number in self._replies or self._ended, seconds)
            if number in self._replies:
                self.asked.discard(number)
                return self._replies.pop(number)
        if met:
            raise ServerEndedError(self._failure + self.errors[-2000:])
        msg = f"no answer to request {number} in {seconds} s: {self.errors[-2000:]}"
        raise TimeoutError(msg)

    def call(self, method: str, params: Any = None, seconds: float = 30) -> Any:
        """The result of a request.

        Raises:
            AssertionError: the server answered with an error.
        """
        reply = self.reply(self.request(method, params), seconds)
        assert reply.error is None, f"{method}: {reply.error}"
        return reply.result

    def wait_for(self, condition: Callable[[list[tuple[str, Any]]], bool], seconds: float = 30) -> bool:
        """Whether the notifications and requests that came meet a condition within the time."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(self.seen), seconds)

    def start(self, roots: Sequence[Path], capabilities: Mapping[str, Any], **params: Any) -> Any:
        """Initialize a session; the result of the server."""
        folders = [{"uri": root.as_uri(), "name": root.name} for root in roots]
        capabilities = {"workspace": {"workspaceFolders": True}, **capabilities}
        first = {"processId": None, "rootUri": None, "capabilities": capabilities, "workspaceFolders": folders}
        result = self.call("initialize", {**first, **params})
        self.notify("initialized", {})
        return result

    def stop(self, *, quietly: bool = True) -> int:
        """Shut the session down as the protocol asks; the exit status of the server.

        Raises:
            AssertionError: something went wrong in it, though it was asked for nothing wrong (`quietly`).
        """
        assert self.call("shutdown") is None
        self.notify("exit")
        status = self.process.wait(10)
        assert not quietly or "Traceback" not in self.errors, self.errors
        return status

    def close(self) -> None:
        """End the process, whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin
        with self._sending:
            self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self.process.stdin.flush()

    def _read(self) -> None:
        try:
            while (message := self._message()) is not None:
                self._take(message)
        except (AssertionError, ValueError) as problem:
            self._failure = f"not the protocol: {problem}\n"
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _message(self) -> dict[str, Any] | None:
        stream = self.process.stdout
        assert stream
        length = 0
        while line := stream.readline().strip():
            name, _, value = line.partition(b":")
            assert name.lower() in {b"content-length", b"content-type"}, f"not a header: {line!r}"
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(stream.read(length)) if length else None

    def _take(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        with self._changed:
            if method:
                self.seen.append((method, message.get("params")))
            elif isinstance(number, int):
                expected = number in self.asked and number not in self._replies
                assert expected, f"an answer that nobody asked for, or a second one: {message}"
                self._replies[number] = Reply(message.get("result"), message.get("error"))
            self._changed.notify_all()
        if method and number is not None:
            answer = self._answers.get(method, lambda _: None)(message.get("params"))
            with contextlib.suppress(OSError):
                self._send({"id": number, "result": answer})
