"""Results come from the agent: what work writes in their place is found out, and counts for nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation import sealing
from tests.agent.isolation.containing import outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.isolation.containing import Runner

FORGED = b'{"result": "forged"}\n'


def _everywhere(data: bytes) -> None:
    """Writes to whatever is open."""
    for name in os.listdir("/proc/self/fd"):
        try:
            os.write(int(name), data)
        except OSError:
            continue


def _and_leaves() -> None:
    _everywhere(FORGED)
    os._exit(0)


def _and_goes_on() -> str:
    _everywhere(FORGED)
    return "real"


def _and_waits() -> None:
    _everywhere(FORGED)
    time.sleep(60)


def _from_a_child() -> str:
    if os.fork() == 0:
        _and_leaves()
    os.wait()
    return "real"


def _from_a_thread() -> str:
    thread = threading.Thread(target=lambda: _everywhere(FORGED))
    thread.start()
    thread.join()
    return "real"


def _begins_the_line() -> str:
    _everywhere(b'{"result": ')
    return "real"


def _says_that_it_was_not_run() -> None:
    _everywhere(b'{"refused": "nothing works here"}\n')
    os._exit(0)


def _says_that_it_is_ready() -> None:
    _everywhere(b"ready\n" + FORGED)
    os._exit(0)


def _with_a_seal_of_its_own() -> None:
    seal, _ = sealing.pair()
    _everywhere(seal(FORGED))
    os._exit(0)


@pytest.mark.parametrize(
    "work",
    [
        _and_leaves,
        _and_goes_on,
        _and_waits,
        _from_a_child,
        _from_a_thread,
        _begins_the_line,
        _says_that_it_was_not_run,
        _says_that_it_is_ready,
        _with_a_seal_of_its_own,
    ],
)
def test_forged_results_are_found_out(run: Runner, work: Callable[[], object]) -> None:
    began = time.monotonic()
    answer = run(work)
    assert answer["exit"]["reason"] == "tampered", answer
    assert "result" not in answer
    assert "raised" not in answer
    assert time.monotonic() - began < 5


def test_a_replaced_encoder_is_not_used(run: Runner) -> None:
    def work() -> str:
        json.dumps = lambda *_, **__: FORGED.decode()  # pyright: ignore[reportAttributeAccessIssue]
        return "real"

    assert run.result(work) == "real"


def test_who_reports_cannot_be_reached(run: Runner) -> None:
    def work() -> list[str]:
        reporter = f"/proc/{os.getppid()}"
        return [
            outcome(lambda: os.readlink(f"{reporter}/fd/3")),
            outcome(lambda: os.close(os.open(f"{reporter}/mem", os.O_RDONLY))),
            outcome(lambda: os.close(os.open(f"{reporter}/environ", os.O_RDONLY))),
        ]

    assert run.result(work) == ["PermissionError"] * 3


def test_a_seal_is_of_its_pair_and_its_line() -> None:
    seal, opened = sealing.pair()
    sealed = seal(b"line\n")
    assert opened(sealed) == b"line\n"
    assert opened(sealed.replace(b"line", b"lies")) is None
    assert opened(b"line\n") is None
    assert opened(b"") is None
    assert sealing.pair()[1](sealed) is None
