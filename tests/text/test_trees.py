"""Trees in several threads at once."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Generator

DEEP = "x = " + "(1 + " * 40 + "1" + ")" * 40 + "\n"


@contextmanager
def garbage_collected_all_the_time() -> Generator[None]:
    """Every collection lets another thread in, as a finalizer that waits would."""

    def let_others_in(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    before = gc.get_threshold()
    gc.callbacks.append(let_others_in)
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(let_others_in)


def test_threads_do_not_disturb_each_other():
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(30):
                tree_of(DEEP)
                tree_of(DEEP[4:-1], "eval")
        except BaseException as error:  # noqa: BLE001 -- told by the test
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    with garbage_collected_all_the_time():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
