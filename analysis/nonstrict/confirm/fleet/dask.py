"""The connection to a Dask scheduler: the one file that imports `distributed` (`pip install "nonstrict[cluster]"`).

Functions go to the workers by name; what is given to them, and what they give back, is bytes. This end unpickles no
result: Dask is told to refuse whatever would have to be.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: How long the scheduler may take to answer at first, and a result to come that is there (s).
_PATIENCE = 10.0
#: How long it may take to take leave (s).
_LEAVE = 0.5


class Unreachable(Exception):  # noqa: N818 - says what is the case
    """The scheduler does not answer, or not in its language; the message says why."""


class Connection:
    """A client of a scheduler. Every method may be called from any thread."""

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            Unreachable: there is nothing at the address, or no scheduler.
        """
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        connecting = threading.Thread(target=_connect, args=(address, answers), name="nonstrict-connect", daemon=True)
        connecting.start()
        try:
            self._client: Any = answers.get(timeout=2 * _PATIENCE)
        except queue.Empty:
            raise Unreachable("what listens there does not answer as a scheduler does") from None
        if isinstance(self._client, Exception):
            raise Unreachable(str(self._client) or type(self._client).__name__) from self._client

    def workers(self) -> dict[str, int]:
        """The workers by address, with their threads.

        Raises:
            Unreachable: the scheduler is gone.
        """
        try:
            return dict(self._client.nthreads())
        except Exception as error:
            raise Unreachable(str(error) or type(error).__name__) from error

    def asked_of_scheduler(self, function: Callable[[], str]) -> str:
        """What a function returns in the scheduler's process.

        Raises:
            Unreachable: it cannot be called there.
        """
        try:
            return str(self._client.run_on_scheduler(function))
        except Exception as error:
            raise Unreachable(str(error) or type(error).__name__) from error

    def asked(self, names: Sequence[str], function: Callable[..., bytes], *given: Any) -> dict[str, bytes | str]:
        """What a quick function returns in each worker, beside its tasks; as a text why it could not be called."""
        try:
            answers: dict[str, Any] = (
                self._client.run(function, *given, workers=list(names), on_error="return") if names else {}
            )
        except Exception as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        return {name: answer if isinstance(answer, bytes) else str(answer) for name, answer in answers.items()}

    def send(self, name: str, function: Callable[..., bytes], *given: bytes, priority: int = 0) -> Sent:
        """Have one worker, and no other, call a function as a task; lower priorities run first."""
        how = {"workers": [name], "allow_other_workers": False, "pure": False, "priority": -priority}
        return Sent(self._client.submit(function, *given, **how))

    def leave(self, function: Callable[[str], bytes], given: str) -> None:
        """Have all workers call a quick function, and disconnect. Never raises."""
        with contextlib.suppress(Exception):
            self._client.run(function, given, on_error="ignore")
        with contextlib.suppress(Exception):
            self._client.close(timeout=_LEAVE)


def _connect(address: str, answers: queue.SimpleQueue[Any]) -> None:
    """Make a client, or the exception that says why there is none; Dask waits for ever for some that do not answer."""
    distributed: Any = import_module("distributed")
    # What Dask logs of workers that come and go is told in words of this program.
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    try:
        client = distributed.Client(
            address,
            timeout=_PATIENCE,
            set_as_default=False,
            serializers=["dask", "pickle"],
            deserializers=["dask", "msgpack"],
        )
    except Exception as error:  # noqa: BLE001 - handed on
        answers.put(error)
    else:
        answers.put(client)


class Sent:
    """A task that is under way."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def when_over(self, hear: Callable[[bytes | None, str], None]) -> None:
        """Have a thread of Dask hear of the result, or (None, why) if there is none."""

        def over(future: Any) -> None:
            try:
                answer = future.result(timeout=_PATIENCE)
            except BaseException as error:  # noqa: BLE001 - the cancelling of Dask is no `Exception`
                hear(None, str(error) or type(error).__name__)
                return
            if isinstance(answer, bytes):
                hear(answer, "")
            else:
                hear(None, f"it is {type(answer).__name__}, not bytes")

        self._future.add_done_callback(over)
