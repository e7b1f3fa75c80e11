"""Work that takes too much is stopped, the report says why, and the machine does not notice."""

from __future__ import annotations

import ctypes
import glob
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation import tiers
from nonstrict_agent.isolation.containment import TEMPORARY_PREFIX
from tests.agent.isolation.containing import DEADLINE, SMALL, finish

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agent.isolation.containing import Runner

MEBI = 1 << 20


def resident() -> int:
    """What this process holds in memory, in bytes: one that is forked from it begins with that."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_an_endless_loop_is_stopped(run: Runner) -> None:
    def work() -> None:
        while True:
            pass

    answer = run(work, seconds=0.3)
    assert answer["exit"]["reason"] == "seconds"
    assert answer["exit"]["signal"] == "SIGKILL"
    assert "0.3 s" in answer["exit"]["detail"]
    assert 0.3 <= answer["seconds"] < 5


def test_a_sleeper_that_ignores_signals_is_stopped(run: Runner) -> None:
    def work() -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(DEADLINE)

    assert run(work, seconds=0.2)["exit"]["reason"] == "seconds"


def test_one_large_allocation_is_a_memory_error(run: Runner) -> None:
    answer = run(lambda: len(bytearray(SMALL + 100 * MEBI)))
    assert answer["raised"]["type"] == "MemoryError"
    assert answer["exit"]["reason"] == "done"


def test_allocating_without_end_is_a_memory_error(run: Runner) -> None:
    def work() -> None:
        kept: list[bytes] = []
        while True:
            kept.append(b"x" * MEBI)

    answer = run(work)
    assert answer["raised"]["type"] == "MemoryError"
    assert answer["memory_mb"] * MEBI < resident() + 2 * SMALL


def test_work_on_a_gpu_may_map_what_it_does_not_touch(run: Runner) -> None:
    def mapped() -> int:
        return len(mmap.mmap(-1, SMALL + 100 * MEBI, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))

    # As CUDA does. What is really taken is added up by who watches.
    assert "raised" in run(mapped)
    assert run(mapped, gpu=True)["result"] == SMALL + 100 * MEBI

    def taken() -> None:
        kept: list[bytes] = []
        while True:
            kept.append(b"x" * MEBI)
            time.sleep(0.001)

    assert run(taken, gpu=True)["exit"]["reason"] == "memory"


def test_memory_of_several_processes_is_added_up(run: Runner) -> None:
    # Each is within its own limit, all together are not.
    def work() -> None:
        for _ in range(4):
            if os.fork() == 0:
                kept = [b"x" * MEBI for _ in range(120)]
                time.sleep(DEADLINE)
                os._exit(len(kept))
        time.sleep(DEADLINE)

    answer = run(work)
    assert answer["exit"]["reason"] == "memory"
    assert "200 MB" in answer["exit"]["detail"]


def test_shared_pages_are_not_counted_twice(run: Runner) -> None:
    def work() -> int:
        kept = bytearray(100 * MEBI)
        children = []
        for _ in range(4):
            if (child := os.fork()) == 0:
                time.sleep(0.3)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        return len(kept)

    assert run(work)["exit"]["reason"] == "done"


def test_files_in_memory_are_bounded(copying: Runner, tmp_path: Path) -> None:
    def work() -> int | None:
        try:
            with open(tmp_path / "large", "wb") as file:
                file.writelines(bytes(MEBI) for _ in range(64))
        except OSError as error:
            return error.errno
        return None

    assert copying.result(work, scratch=32 * MEBI) == 28  # ENOSPC


def test_a_single_file_is_bounded(run: Runner, tmp_path: Path) -> None:
    def work() -> int | None:
        try:
            with open(tmp_path / "large", "wb") as file:
                file.write(bytes(8 * MEBI))
        except OSError as error:
            return error.errno
        return None

    assert run.result(work, file_size=4 * MEBI, writable=(str(tmp_path),)) == 27  # EFBIG
    assert (tmp_path / "large").stat().st_size == 4 * MEBI


def test_printing_without_end_is_read_and_forgotten(run: Runner) -> None:
    def work() -> str:
        for _ in range(300):
            os.write(1, b"spam " * 200_000)
        os.write(2, b"the end")
        return "printed"

    answer = run(work)
    assert answer["result"] == "printed"
    assert answer["printed"].endswith("spam the end")
    assert len(answer["printed"]) == 8192


def test_what_is_printed_reaches_the_report(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(1, "w", encoding="utf-8", closefd=False) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        answer = run(lambda: print("hello"))  # noqa: T201
        monkeypatch.undo()
    assert answer["printed"] == "hello\n"


def test_nobody_reading_is_no_reason_to_stay(run: Runner) -> None:
    mark = f"stray-{os.getpid()}-{run.tier.value}-d"

    def work() -> None:
        _stray(mark)
        time.sleep(0.2)

    started = run.start(work)
    os.close(started.reader)
    assert _wait_until(lambda: bool(_alive(mark)))
    os.waitpid(started.pid, 0)
    assert _wait_until(lambda: not _alive(mark))


def test_output_can_be_thrown_away(run: Runner) -> None:
    assert run(lambda: os.write(1, b"x"), printed=0)["printed"] == ""
    assert run.result(lambda: [os.readlink(f"/proc/self/fd/{n}") for n in range(3)], printed=0) == ["/dev/null"] * 3


def test_a_result_that_is_too_large_is_not_sent(run: Runner) -> None:
    answer = run(lambda: "x" * (3 * MEBI), output=2 * MEBI)
    assert "result" not in answer
    assert answer["exit"]["reason"] == "output"
    assert len(run.result(lambda: "x" * (3 * MEBI), output=4 * MEBI)) == 3 * MEBI


def test_what_is_no_result_is_not_passed_on(run: Runner) -> None:
    def work() -> None:
        # The descriptor of the result is there for the taking; lines that are no answer go no further.
        for number in range(3, 200):
            try:
                os.write(number, b'{"changes": [], "exit": {"reason": "forged"}}\nnonsense\n' + b"[" * 5000 + b"\n")
            except OSError:
                continue

    answer = run(work)
    assert answer["exit"]["reason"] == "tampered"
    assert set(answer) == set(run(os.abort))


def test_a_crash_is_named(run: Runner) -> None:
    answer = run(lambda: ctypes.string_at(0))
    assert answer["exit"]["reason"] == "signal"
    assert answer["exit"]["signal"] == "SIGSEGV"
    assert "segmentation fault" in answer["exit"]["detail"]
    assert "Segmentation fault" in answer["printed"], "the traceback of faulthandler"


def test_leaving_without_a_result_is_told(run: Runner) -> None:
    answer = run(lambda: os._exit(7))
    assert answer["exit"] == {
        "reason": "exited",
        "status": 7,
        "signal": "",
        "detail": "the process ended with status 7 and no result",
    }
    assert run(os.abort)["exit"]["signal"] == "SIGABRT"
    assert run(lambda: os.kill(os.getpid(), signal.SIGKILL))["exit"]["signal"] == "SIGKILL"


def test_exceptions_are_told(run: Runner) -> None:
    def work() -> None:
        raise SystemExit("enough")

    assert run(work)["raised"] == {"type": "SystemExit", "message": "enough"}
    assert run(lambda: {1, 2})["raised"]["type"] == "TypeError", "no JSON"


def test_processes_are_counted(copying: Runner) -> None:
    # A bounded number of children that only sleep.
    def work() -> None:
        for _ in range(40):
            if os.fork() == 0:
                time.sleep(DEADLINE)
                os._exit(0)
        time.sleep(DEADLINE)

    answer = copying(work, processes=16)
    assert answer["exit"]["reason"] == "processes"
    assert "16 processes" in answer["exit"]["detail"]


def test_a_fork_bomb_ends(copying: Runner) -> None:
    # The number of process ids in the namespace bounds it, on older kernels RLIMIT_NPROC except for root.
    if copying.result(_highest_process_id) > 4096 and os.getuid() == 0:
        pytest.skip("needs a kernel that bounds the process ids of a namespace (6.14), or a user who is not root")

    def work() -> None:
        while True:
            try:
                os.fork()
            except OSError:
                continue

    before = _processes()
    answer = copying(work, processes=32, seconds=15)
    assert answer["exit"]["reason"] == "processes"
    assert _processes() < before + 20
    assert copying.result(lambda: "next") == "next"


def _highest_process_id() -> int:
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        return int(file.read())


def _processes() -> int:
    return sum(name.isdecimal() for name in os.listdir("/proc"))


def _alive(mark: str) -> list[str]:
    found: list[str] = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if name.isdecimal() and mark.encode() in command:
            found.append(name)
    return found


def _wait_until(condition: object, seconds: float = 5.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def _stray(mark: str) -> None:
    """Starts a process in a session of its own, whose parent ends at once."""
    program = [sys.executable, "-I", "-S", "-c", f"import time; time.sleep(30)  # {mark}"]
    if os.fork() == 0:
        subprocess.Popen(program, start_new_session=True)
        os._exit(0)
    os.wait()


def test_strays_end_with_the_work(run: Runner) -> None:
    mark = f"stray-{os.getpid()}-{run.tier.value}-a"
    answer = run(lambda: _stray(mark))
    assert answer["exit"]["reason"] == "done"
    assert _wait_until(lambda: not _alive(mark))


def test_cancelling_ends_everything(run: Runner) -> None:
    mark = f"stray-{os.getpid()}-{run.tier.value}-b"

    def work() -> None:
        _stray(mark)
        time.sleep(DEADLINE)

    started = run.start(work)
    assert _wait_until(lambda: _alive(mark))
    tiers.end(started.pid)
    assert "exit" not in finish(started)
    assert _wait_until(lambda: not _alive(mark))
    tiers.remove_leftovers()
    assert not glob.glob(f"{tempfile.gettempdir()}/{TEMPORARY_PREFIX}{started.pid}-*")


def test_everything_ends_with_the_parent(run: Runner) -> None:
    mark = f"stray-{os.getpid()}-{run.tier.value}-c"

    def work() -> None:
        _stray(mark)
        time.sleep(DEADLINE)

    middle = os.fork()
    if middle == 0:
        run.start(work)
        time.sleep(DEADLINE)
        os._exit(0)
    assert _wait_until(lambda: _alive(mark))
    os.kill(middle, signal.SIGKILL)
    os.waitpid(middle, 0)
    assert _wait_until(lambda: not _alive(mark))
    tiers.remove_leftovers()
