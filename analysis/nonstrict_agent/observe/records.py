"""Log records that the user's code emits, whether or not a handler shows them."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_RECORDS = 100
_MAX_TEXT = 200


class LogRecords:
    """Collects records while `active`; `is_user` says whether a file is the user's."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self.active = False
        self._seen: list[str] = []

    def install(self, *, every_level: bool) -> None:
        """Begin to listen: every record of an enabled level passes `Logger.handle`.

        With `every_level`, loggers without a level of their own are enabled for all, and warnings are shown each time.
        """
        if every_level:
            logging.root.setLevel(logging.DEBUG)
            warnings.simplefilter("always")
        loggers: Any = logging.Logger
        original = loggers.handle

        def handle(logger: logging.Logger, record: logging.LogRecord) -> None:
            if self.active and len(self._seen) < _MAX_RECORDS and self._is_user(record.pathname):
                self._seen.append(_text(record))
            original(logger, record)

        loggers.handle = handle

    def taken(self) -> list[str]:
        """The records since the last call, each as `LEVEL message`."""
        taken, self._seen = self._seen, []
        return taken


def _text(record: logging.LogRecord) -> str:
    try:
        message = record.getMessage()
    except Exception as error:  # noqa: BLE001 - arguments that do not fit the message
        message = f"{record.msg} ({type(error).__name__})"
    return f"{record.levelname} {message}"[:_MAX_TEXT]
