"""Blocks of a test in which is counted what torch compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict_pytest.listening import begin, end
from nonstrict_pytest.seen import Seen
from nonstrict_pytest.texts import failure

if TYPE_CHECKING:
    from types import TracebackType

    import pytest

    from nonstrict_agent.observe.compiling import Called
    from nonstrict_pytest.expected import Expected


class Block:
    """`with compiles(...) as seen`: `seen` tells what was compiled since, also while the block runs."""

    def __init__(self, expected: Expected, item: pytest.Item) -> None:
        self._expected = expected
        self._item = item
        self._filled: list[Called] = []

    def __enter__(self) -> Seen:
        """Begin to count."""
        self._filled = begin()
        return Seen(self._filled, self._expected.only, str(self._item.config.rootpath))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Fail if another number was compiled than is expected.

        Raises:
            AssertionError: that is so.
        """
        __tracebackhide__ = True
        end(self._filled)
        root = str(self._item.config.rootpath)
        seen = Seen(self._filled, self._expected.only, root)
        if error is None and list(self._expected.unmet(seen)):
            raise AssertionError(failure(self._expected, seen, root, str(self._item.path)))
