"""Runs work in containments, as the zygote does: in a forked process, reading JSON lines. With a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import select
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nonstrict_agent.isolation import tiers
from nonstrict_agent.isolation.tiers import Containment, Tier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEADLINE = 20.0
SMALL = 200 << 20


class Started(NamedTuple):
    """A contained process, and the descriptor from which its lines are read."""

    pid: int
    reader: int


def start(work: Callable[[], Any], containment: Containment) -> Started:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        tiers.contained(work, containment, writer)
    os.close(writer)
    return Started(pid, reader)


def finish(started: Started) -> dict[str, Any]:
    data = b""
    end = time.monotonic() + DEADLINE
    while select.select([started.reader], [], [], max(0.0, end - time.monotonic()))[0]:
        chunk = os.read(started.reader, 1 << 20)
        if not chunk:
            break
        data += chunk
    else:
        data += b'{"exit": {"reason": "no answer in time"}}\n'
    os.close(started.reader)
    tiers.end(started.pid)
    os.waitpid(started.pid, 0)
    answer: dict[str, Any] = {}
    for line in data.splitlines():
        answer.update(json.loads(line))
    return answer


class Runner:
    """Runs work in one tier; keeps what it may need to look at afterwards."""

    def __init__(self, tier: Tier):
        self.tier = tier
        self.copies = tier is Tier.COPY_ON_WRITE

    def __call__(self, work: Callable[[], Any], **settings: Any) -> dict[str, Any]:
        return finish(self.start(work, **settings))

    def start(self, work: Callable[[], Any], **settings: Any) -> Started:
        return start(work, self.containment(**settings))

    def containment(self, **settings: Any) -> Containment:
        limits: dict[str, Any] = {"seconds": 10.0, "memory": SMALL, **settings}
        return Containment(self.tier, **limits)

    def result(self, work: Callable[[], Any], **settings: Any) -> Any:
        answer = self(work, **settings)
        assert "result" in answer, answer
        return answer["result"]


def runner(tier: Tier) -> Runner:
    for offer in tiers.probe():
        if offer.tier is tier and not offer.available:
            pytest.skip(f"needs the tier {tier.value}: {offer.reason}")
    return Runner(tier)


class Project:
    """Files that must survive."""

    def __init__(self, path: Path):
        self.path = path
        (path / "sub").mkdir()
        (path / "model.py").write_text("WEIGHT = 1\n")
        (path / "sub" / "data.txt").write_text("precious\n")
        (path / "link.txt").symlink_to(path / "sub" / "data.txt")
        self._before = self._state()

    def file(self, name: str) -> str:
        return f"{self.path}/{name}"

    def untouched(self) -> bool:
        return self._state() == self._before

    def _state(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for path in sorted(self.path.rglob("*")):
            status = path.lstat()
            content = b""
            if path.is_file():
                content = path.read_bytes()
            attributes: list[str] = []
            with contextlib.suppress(OSError):
                attributes = os.listxattr(path, follow_symlinks=False)
            found.append((str(path), status.st_mode, status.st_uid, status.st_mtime_ns, content, attributes))
        return found


def outcome(action: Callable[[], Any]) -> str:
    """What became of a hostile step, in one word that passes through JSON: `done` or the name of the exception."""
    try:
        action()
    except BaseException as error:  # noqa: BLE001
        return type(error).__name__
    return "done"
