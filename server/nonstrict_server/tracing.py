"""What passes between client and server, told to the client that asked to hear it (`$/setTrace`), and the log."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Callable

#: The levels that the setting `logLevel` may name; `trace` is the last that `logging` tells apart.
LEVELS = {
    "off": logging.CRITICAL + 1,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": logging.DEBUG,
}
_OURS = ("nonstrict", "nonstrict_server")
_log = logging.getLogger(__name__)


def set_level(name: str) -> None:
    """Write what happens to standard error from this level on; warnings if the level is not known."""
    level = LEVELS.get(name.lower(), logging.WARNING)
    for logger in _OURS:
        logging.getLogger(logger).setLevel(level)
    # The messages themselves, which pygls renders one by one for that.
    logging.getLogger("pygls").setLevel(logging.DEBUG if name.lower() == "trace" else logging.ERROR)


class Tracing:
    """Notes messages as they come and go. `send` hands the parameters of `$/logTrace` to the client."""

    def __init__(self, send: Callable[[dict[str, str]], None]) -> None:
        """Say nothing, until a client asks."""
        self.value = lsp.TraceValue.Off
        self._send = send
        self._begun: dict[Any, tuple[str, float]] = {}

    @property
    def _listens(self) -> bool:
        return self.value is not lsp.TraceValue.Off or _log.isEnabledFor(logging.DEBUG)

    def received(self, method: str, identity: object, params: Callable[[], object]) -> None:
        """A request (`identity` is its number) or a notification has come."""
        if not self._listens:
            return
        if identity is not None:
            self._begun[identity] = (method, time.perf_counter())
        kind = f"request '{method} - ({identity})'" if identity is not None else f"notification '{method}'"
        self._tell(f"Received {kind}.", params, "Params")

    def answered(self, identity: object, content: Callable[[], object]) -> None:
        """A request was answered."""
        method, begun = self._begun.pop(identity, ("", 0.0))
        if method and self._listens:
            took = round((time.perf_counter() - begun) * 1000)
            text = f"Sending response '{method} - ({identity})'. Processing request took {took}ms"
            _log.debug("%s took %d ms", method, took)
            self._tell(text, content, "Result")

    def sent(self, method: str, params: Callable[[], object]) -> None:
        """A notification or a request of ours was sent."""
        if self._listens:
            self._tell(f"Sending '{method}'.", params, "Params")

    def _tell(self, text: str, content: Callable[[], object], what: str) -> None:
        if self.value is lsp.TraceValue.Off:
            return
        told = {"message": text}
        if self.value is lsp.TraceValue.Verbose:
            told["verbose"] = f"{what}: {json.dumps(content(), default=str)}"
        self._send(told)
