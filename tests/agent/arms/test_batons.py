"""Locks of C++ extensions: whoever waits for one goes on when its holder ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import nonstrict_agent

HOLDER = """
import sys, time
sys.path.insert(0, {above!r})
from nonstrict_agent.batons import install_batons
from torch.utils.file_baton import FileBaton

install_batons()
baton = FileBaton({path!r})
print(baton.try_acquire(), flush=True)
{rest}
"""
ABOVE = str(Path(nonstrict_agent.__file__).parents[1])


def started(path: Path, rest: str) -> subprocess.Popen[str]:
    text = textwrap.dedent(HOLDER).format(above=ABOVE, path=str(path), rest=rest)
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)


def test_a_lock_ends_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = started(path, "time.sleep(60)")
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    waiter = started(path, "baton.wait(); print('waited', baton.try_acquire())")
    assert waiter.stdout is not None
    assert waiter.stdout.readline() == "False\n"
    os.kill(holder.pid, signal.SIGKILL)
    assert waiter.communicate(timeout=30)[0] == "waited True\n"
    holder.communicate()


def test_a_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    done = started(tmp_path / "lock", "baton.release(); print(baton.try_acquire())")
    assert done.communicate(timeout=30)[0] == "True\nTrue\n"
