"""Agents that stay warm: one for each interpreter, shared by all who ask for it, started again when it died."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.client import Agent, AgentUnavailable, Ready, State
from nonstrict.confirm.launching import agent_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.confirm.client import JobResult, Ticket

#: How often those who wait look whether they still should (s).
_GLANCE = 0.1


class Over(Exception):  # noqa: N818 - no error
    """Nobody waits for this work any more."""


class AgentDied(AgentUnavailable):
    """An agent ended while jobs were under way; another one may do them."""

    def __init__(self, why: str, agent: Agent) -> None:
        super().__init__(why)
        self.agent = agent


class Kind(NamedTuple):
    """What agents are told apart by: those of one kind are one."""

    python: str
    device: str
    isolation: str
    slots: int


class WarmAgent:
    """An agent that is started when it is needed, and again when it died. Thread-safe."""

    def __init__(self, kind: Kind, root: str) -> None:
        """Nothing is started yet; `root` is the directory of the first project."""
        self._kind = kind
        self._root = root
        self._lock = threading.Lock()
        self._agent: Agent | None = None
        self._closed = False
        self._refused = False
        self.hearers: tuple[Callable[[State], None], ...] = ()

    @property
    def has_cuda(self) -> bool | None:
        """Whether torch can use a GPU there; None while no agent is ready."""
        agent = self._agent
        ready = agent.ready if agent is not None else None
        return ready.cuda if ready is not None else None

    def running(self, died: Agent | None = None) -> Agent:
        """The agent, started if there is none, or if it is the one that `died`.

        Raises:
            AgentUnavailable: it cannot be started, or was closed for good.
        """
        with self._lock:
            if self._closed:
                raise AgentUnavailable("experiments were ended")
            agent = self._agent
            if agent is not None and agent is not died and agent.state.name not in {"closed", "unavailable"}:
                return agent
            return self._start()

    def ready(self, is_over: Callable[[], bool], died: Agent | None = None) -> tuple[Agent, Ready]:
        """The agent, once jobs can run.

        Raises:
            Over: nobody waits for it any more.
            AgentDied: it ended before it was ready.
            AgentUnavailable: there is no interpreter with torch, or no sandbox; the message says what to do.
        """
        agent = self.running(died)
        while not is_over():
            try:
                return agent, agent.wait_ready(_GLANCE)
            except TimeoutError:
                continue
            except AgentUnavailable as error:
                # It tells so before it ends, and those who wait may hear of either first.
                if self._refused or agent.state.name == "unavailable":
                    raise
                raise AgentDied(str(error), agent) from error
        raise Over

    def restart(self) -> None:
        """End the agent and start another one; what is under way is done by that one.

        Raises:
            AgentUnavailable: it cannot be started.
        """
        with self._lock:
            if not self._closed:
                self._start()

    def close(self) -> None:
        """End the processes for good, and wait until they are gone."""
        with self._lock:
            self._closed = True
            if self._agent is not None:
                self._agent.close()

    def _start(self) -> Agent:
        if self._agent is not None:
            self._agent.close()
            self._agent = None
        self._refused = False
        kind = self._kind
        options = agent_options(kind.device, kind.isolation, kind.slots)
        agent = Agent(kind.python, Path(self._root), options, on_state=self._hear)
        agent.start()
        self._agent = agent
        return agent

    def _hear(self, state: State) -> None:
        """Pass on a state; called by the thread that reads."""
        self._refused = self._refused or state.name == "unavailable"
        for hear in self.hearers:
            # Whoever fails to show it must not keep the others from it.
            with contextlib.suppress(Exception):
                hear(state)


class Jobs:
    """The jobs of one piece of work, which may be given up (`nonstrict.confirm.arms.Runner`)."""

    def __init__(self, agent: Agent, is_over: Callable[[], bool], priority: int = 0) -> None:
        """Nothing is handed in yet."""
        self._agent = agent
        self._is_over = is_over
        self._priority = priority
        self._lock = threading.Lock()
        self._tickets: list[Ticket] = []

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> Waiting:
        """Hand in a job.

        Raises:
            Over: nobody waits for the work any more.
            AgentDied: the agent is gone.
        """
        if self._is_over():
            raise Over
        try:
            ticket = self._agent.submit(job, seconds, priority or self._priority)
        except AgentUnavailable as error:
            raise AgentDied(str(error), self._agent) from error
        with self._lock:
            self._tickets.append(ticket)
        return Waiting(ticket, self._is_over)

    def cancel(self) -> None:
        """Give up the jobs that are not done."""
        with self._lock:
            tickets = list(self._tickets)
        for ticket in tickets:
            ticket.cancel()


class Waiting:
    """A job that was handed in (`nonstrict.confirm.arms.Pending`)."""

    def __init__(self, ticket: Ticket, is_over: Callable[[], bool]) -> None:
        """Wait for a ticket until the work is over."""
        self._ticket = ticket
        self._is_over = is_over

    def result(self, timeout: float | None = None) -> JobResult:
        """Wait for what became of it; the job's own time is its limit, whatever `timeout` says.

        Raises:
            Over: nobody waits for the work any more.
            AgentDied: the agent ended before the job was done.
        """
        del timeout
        while not self._is_over():
            try:
                result = self._ticket.result(_GLANCE)
            except TimeoutError:
                continue
            if result.failure == "dead":
                raise AgentDied(result.detail, self._ticket.agent)
            return result
        raise Over


class Agents:
    """The agents of this process by kind, counted by those who use them."""

    def __init__(self) -> None:
        """There are none."""
        self._lock = threading.Lock()
        self._lent: dict[Kind, tuple[WarmAgent, int]] = {}

    def lend(self, kind: Kind, root: str, hear: Callable[[State], None]) -> WarmAgent:
        """The agent of a kind; `hear` is called with its states, by a thread that must not be held up."""
        with self._lock:
            agent, users = self._lent.get(kind) or (WarmAgent(kind, root), 0)
            self._lent[kind] = (agent, users + 1)
            agent.hearers = (*agent.hearers, hear)
        return agent

    def give_back(self, kind: Kind, hear: Callable[[State], None]) -> None:
        """One user less; without any, the processes are ended, and gone when this returns."""
        with self._lock:
            agent, users = self._lent.pop(kind)
            agent.hearers = tuple(one for one in agent.hearers if one != hear)
            if users > 1:
                self._lent[kind] = (agent, users - 1)
        if users == 1:
            agent.close()


#: Shared by all folders of a server.
AGENTS = Agents()
