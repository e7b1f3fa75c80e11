"""A folder with an open file and its experiments, as an editor has them, and what a listener hears."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.experiments import ConfirmOptions, processors
from nonstrict.check.live.confirming import Confirmer
from nonstrict.check.live.folder import Folder
from tests.agent.processes import agents

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from nonstrict.confirm.client import Agent
    from nonstrict.findings import Diagnostic, Status
    from nonstrict.text.source import Source

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
TIER = agents.tiers()[0] if sys.platform.startswith("linux") else "none"
OPTIONS = ConfirmOptions(isolation=TIER, device="cpu", cache=False)
#: An agent that is shared with no other test.
ALONE = OPTIONS._replace(jobs=processors() + 1)

PROGRAM = textwrap.dedent("""\
    import torch
    from torch._dynamo import nonstrict_trace

    SCALE = 2.0


    @nonstrict_trace
    def scaled(x):
        return x * SCALE


    @torch.compile
    def step(x):
        return scaled(x) + 1


    def main():
        global SCALE
        step(torch.ones(3))
        SCALE = 3.0
        step(torch.ones(3))


    def other():
        return 1
    """)
#: The same, but what its experiment needs first takes a minute.
SLOW = PROGRAM.replace(
    "SCALE = 2.0",
    "def slowly(number):\n    import time\n    time.sleep(60)\n    return number\n\n\nSCALE = slowly(2.0)",
    1,
)
#: A torch with which every experiment hangs.
HANGING = agents.STAND_IN + "\ncompiler.set_stance = lambda *given, **named: __import__('time').sleep(60)\n"


class Heard:
    """What a listener was told, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []
        self._changed = threading.Condition()

    def on_verdicts(self, path: str) -> None:
        self._note("verdicts", path)

    def on_progress(self, path: str, done: int, total: int) -> None:
        self._note("progress", path, done, total)

    def on_finished(self, path: str, failures: Sequence[str]) -> None:
        self._note("finished", path, tuple(failures))

    def on_state(self, text: str) -> None:
        self._note("state", text)

    def _note(self, *what: object) -> None:
        with self._changed:
            self.told.append(what)
            self._changed.notify_all()

    def all(self, kind: str) -> list[tuple[object, ...]]:
        with self._changed:
            return [what[1:] for what in self.told if what[0] == kind]

    def wait(self, condition: Callable[[], bool], seconds: float = 120.0) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, seconds), self.told

    def wait_finished(self, count: int, seconds: float = 120.0) -> tuple[str, ...]:
        """The failures of the request that finished as number `count`."""
        self.wait(lambda: len(self.all("finished")) >= count, seconds)
        failures = self.all("finished")[count - 1][1]
        assert isinstance(failures, tuple)
        return failures


class Editor:
    """A folder with one file, open, and its confirmer."""

    def __init__(self, root: Path, options: ConfirmOptions = OPTIONS, text: str = PROGRAM) -> None:
        self.path = str(root / "model.py")
        root.mkdir(exist_ok=True)
        (root / "model.py").write_text(text)
        self.folder = Folder(str(root), {"python": sys.executable})
        self.heard = Heard()
        self.confirmer = Confirmer(self.folder.settings, options, self.heard)
        self.asked = 0

    def diagnostics(self, text: str) -> tuple[Diagnostic, ...]:
        self.folder.set_text(self.path, text)
        return self.folder.diagnostics(self.path)

    def request(self, text: str = PROGRAM, function: str = "") -> None:
        diagnostics = self.diagnostics(text)
        self.asked += 1
        self.confirmer.request(self.path, diagnostics, self.folder.opened(), function)

    def confirm(self, text: str = PROGRAM) -> tuple[str, ...]:
        self.request(text)
        return self.heard.wait_finished(self.asked)

    def statuses(self, text: str) -> list[tuple[int, Status | None]]:
        """The rows of the findings in a text, with what is known of them."""
        found = self.diagnostics(text)
        verdicts = [self.confirmer.verdict(one, self.folder.opened()) for one in found]
        return [
            (one.location.row, verdict.status if verdict else None)
            for one, verdict in zip(found, verdicts, strict=True)
        ]

    def stale(self, text: str) -> list[int]:
        """The rows of the findings in a text whose verdict was of an earlier one."""
        found = self.diagnostics(text)
        return [one.location.row for one in self.confirmer.earlier(found, self.folder.opened())]

    def strange(self, opened: Mapping[str, Source] | None = None) -> tuple[Diagnostic, ...]:
        """The NST900 of the file."""
        return self.confirmer.extra(self.path, opened)  # noqa: S610 - no query

    def kill(self) -> None:
        """Kill the agent's process, which the others end with."""
        process = self.agent._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)

    def marker(self) -> bytes:
        """What the processes of the agent have in common."""
        return agents.marker_of(self.agent)

    @property
    def agent(self) -> Agent:
        agent = self.confirmer._agent._agent
        assert agent is not None
        return agent


@contextmanager
def editor(root: Path, options: ConfirmOptions = OPTIONS, text: str = PROGRAM) -> Generator[Editor]:
    made = Editor(root, options, text)
    try:
        yield made
    finally:
        made.confirmer.close()
