"""`pytest --nonstrict`: what the tests of a session compiled, held against the findings, kept, and told at the end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict_agent.recording.imports import when_imported
from nonstrict_pytest import listening

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import ModuleType

    from nonstrict_agent.observe.compiling import Called
    from nonstrict_pytest.outcome import Outcome

#: What carries what a test compiled, from workers of pytest-xdist too: an attribute of the report of its last phase.
_CARRIED = "nonstrict_compiled"


class Session:
    """Follows the tests of a process, and tells of all that were run where they are reported."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._root = str(config.rootpath)
        self._is_worker = hasattr(config, "workerinput")
        self._wrong = ""
        self._tests: list[tuple[str, list[Called]]] = []
        self._now: list[Called] = []
        self._outcome: Outcome | None = None
        when_imported("torch._dynamo", self._listen)

    def _listen(self, _: ModuleType) -> None:
        try:
            listening.listen(self._root)
        except listening.CannotListenError as error:
            self._wrong = str(error)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Have each test compile for itself, and collect what it does."""
        if self._now and "torch._dynamo" in sys.modules:
            listening.forget()
        listening.end(self._now)
        self._now = listening.begin()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any]:
        """Let the report of a test's last phase carry what was compiled."""
        made = yield
        if call.when == "teardown":
            listening.end(self._now)
            if self._now or self._wrong:
                told = {"path": str(item.path), "calls": self._now, "wrong": self._wrong}
                setattr(made.get_result(), _CARRIED, json.dumps(told))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a report carries, where it is reported."""
        carried: Any = getattr(report, _CARRIED, None)
        if carried is not None and not self._is_worker:
            told = json.loads(carried)
            self._wrong = self._wrong or told["wrong"]
            self._tests.append((told["path"], told["calls"]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hold all of it against findings and budget; a session that exceeds the budget fails."""
        if self._is_worker:
            return
        from nonstrict_pytest.outcome import Outcome, outcome_of

        try:
            self._outcome = outcome_of(self._tests, self._root)
        except Exception as error:  # noqa: BLE001 - the results of the tests are told in any case
            from nonstrict.check.faults import lost_to

            self._outcome = Outcome(
                (lost_to(error, "what torch compiled was not compared with the findings"),), fails=True
            )
        if self._outcome.fails and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell of each region."""
        if self._outcome is None:
            return
        terminalreporter.section("nonstrict: what torch compiled")
        for line in (*filter(None, (self._wrong,)), *self._outcome.lines):
            terminalreporter.write_line(line)
