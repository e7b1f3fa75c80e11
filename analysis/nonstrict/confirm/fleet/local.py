"""Workers of this machine: an agent each, with processes, sandboxes and, where there are several, a GPU of its own."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.client import Agent, AgentUnavailable
from nonstrict.confirm.devices import device_for, own_first, visible_gpus
from nonstrict.confirm.fleet.workers import Lending, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from nonstrict.confirm.answers import JobResult, Ready
    from nonstrict.confirm.client import Ticket
    from nonstrict.confirm.launching import Options

#: How often agents that died are started again, in all.
_RESTARTS = 5


class LocalWorker:
    """An agent that is started again when it died (`nonstrict.confirm.fleet.workers.Worker`)."""

    def __init__(self, name: str, agent: Agent, slots: int) -> None:
        """Nothing is started yet."""
        self.name, self.agent, self.slots = name, agent, slots
        self._lock = threading.Lock()
        self._lives, self._lost = 0, -1
        self._closed = False

    @property
    def ready(self) -> Ready:
        """What runs there.

        Raises:
            WorkerLost: nothing does.
        """
        ready = self.agent.ready
        if ready is None:
            raise WorkerLost(self.agent.state.text)
        return ready

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> _Waiting:
        """See `Worker`."""
        life = self._lives
        try:
            return _Waiting(self, self.agent.submit(job, seconds, priority), life)
        except AgentUnavailable as error:
            self.bury(life)
            raise WorkerLost(str(error)) from error

    def bury(self, life: int) -> None:
        """Note that the agent, in one of its lives, died."""
        self._lost = max(self._lost, life)

    @property
    def is_dead(self) -> bool:
        """Whether the agent is to be started again."""
        return self._lost >= self._lives

    def revive(self) -> None:
        """Start the agent again if it died.

        Raises:
            AgentUnavailable: it cannot be started.
        """
        with self._lock:
            if self.is_dead and not self._closed:
                self.agent.start()
                self._lives += 1
        self.agent.wait_ready()

    def close(self) -> None:
        """End the agent for good."""
        with self._lock:
            self._closed = True
            self.agent.close()


class _Waiting:
    """A job of an agent (`nonstrict.confirm.arms.Pending`)."""

    def __init__(self, worker: LocalWorker, ticket: Ticket, life: int) -> None:
        self._worker, self._ticket, self._life = worker, ticket, life

    def result(self, timeout: float | None = None) -> JobResult:
        """Wait for what became of it.

        Raises:
            WorkerLost: the agent died before it was done.
        """
        result = self._ticket.result(timeout)
        if result.failure == "dead":
            self._worker.bury(self._life)
            raise WorkerLost(result.detail)
        return result


class LocalFleet:
    """Agents beside each other (`nonstrict.confirm.fleet.workers.Fleet`)."""

    def __init__(
        self, python: str, root: Path, options: Options, number: int, circumstances: tuple[str, ...], on_state: Any
    ) -> None:
        """Nothing is started yet. The slots of the options are shared out; `number` 0 is one worker for each GPU."""
        gpus = visible_gpus(os.environ) if options.device != "cpu" else []
        number = max(1, min(number or len(gpus), options.slots))
        self.slots, self._device = options.slots, options.device
        self._circumstances = circumstances
        self._restarts = 0
        self._lending: Lending[LocalWorker] = Lending()
        self._all: list[LocalWorker] = []
        for index in range(number):
            slots = options.slots // number + (index < options.slots % number)
            variables = own_first(gpus, index) if number > 1 else ()
            chosen = options._replace(slots=slots, variables=(*options.variables, *variables))
            agent = Agent(python, root, chosen, on_state=on_state)
            self._all.append(LocalWorker(f"worker {index + 1} of {number}", agent, slots))

    def circumstances(self) -> tuple[str, ...]:
        """See `Fleet`."""
        return self._circumstances

    def start(self) -> None:
        """See `Fleet`; all are waited for, so that none imports torch beside the experiments of another."""
        for worker in self._all:
            worker.agent.start()
        for worker in self._all:
            device_for(self._device, worker.agent.wait_ready())
            self._lending.add(worker)

    @contextmanager
    def lend(self) -> Generator[LocalWorker]:
        """See `Fleet`."""
        with self._lending.lend() as worker:
            self._revive(worker)
            yield worker

    def _revive(self, worker: LocalWorker) -> None:
        if not worker.is_dead:
            return
        with self._lending.changed:
            self._restarts += 1
            if self._restarts > _RESTARTS:
                raise AgentUnavailable(f"{worker.name} died again and again: {worker.agent.state.text}")
        worker.revive()

    def close(self) -> None:
        """See `Fleet`."""
        self._lending.refuse("the run is over")
        closing = [threading.Thread(target=worker.close) for worker in self._all]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()
