"""Tests that say what they compile."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from nonstrict_pytest.expected import WHOLE, expected_of
from nonstrict_pytest.listening import CannotListenError, begin, end, forget, listen
from nonstrict_pytest.seen import Seen
from nonstrict_pytest.texts import failure, overview

if TYPE_CHECKING:
    from collections.abc import Generator


def count(item: pytest.Item, mark: pytest.Mark | None) -> None:
    """Have the next run of a test counted.

    Hooks that may raise after a test differ between versions of pytest: the test itself is what is wrapped.
    """
    original = item.runtest

    def runtest() -> None:
        __tracebackhide__ = True
        vars(item).pop("runtest", None)
        with counted(item, mark):
            original()

    vars(item)["runtest"] = runtest


@contextmanager
def counted(item: pytest.Item, mark: pytest.Mark | None) -> Generator[None]:
    """Let a test run as if it were the first to compile, and hold what it compiles against its mark, if it has one."""
    root = str(item.config.rootpath)
    expected, wrong = None, ""
    try:
        expected = expected_of(mark.args, mark.kwargs) if mark is not None else None
        listen(root)
    except (TypeError, CannotListenError) as error:
        wrong = str(error)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    forget()
    filled = begin()
    try:
        yield
    except BaseException:
        end(filled)
        seen = Seen(filled, expected.only if expected is not None else (), root)
        item.add_report_section("call", "nonstrict", overview(seen))
        raise
    end(filled)
    if expected is None:
        return
    asked = expected if expected.numbers else expected._replace(numbers=WHOLE)
    seen = Seen(filled, asked.only, root)
    if list(asked.unmet(seen)):
        pytest.fail(failure(asked, seen, root, str(item.path)), pytrace=False)
