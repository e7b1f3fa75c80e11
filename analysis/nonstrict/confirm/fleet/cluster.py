"""Workers of a Dask cluster. A job goes to one of them by its address, never to another one.

Which worker runs what is decided here, program by program (`nonstrict.confirm.fleet.workers`). All that travels is
JSON (`nonstrict.confirm.fleet.messages`).
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.answers import JobResult, Ready, State, result_of
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.fleet import on_worker
from nonstrict.confirm.fleet.dask import Connection, Unreachable
from nonstrict.confirm.fleet.messages import Order, Setup, hash_of, version
from nonstrict.confirm.fleet.workers import Lending, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from nonstrict.confirm.fleet.dask import Sent

#: How long a run waits for another worker where all are lost: a nanny starts one again within seconds.
_WAITING = 60.0
#: How often it is asked which workers there are (s).
_PULSE = 0.25
#: How often a worker is prepared: one that is lost each time is not asked again.
_TRIES = 3
#: How long leaving may take (s); what the workers then still do ends by itself.
_LEAVE = 1.0
_OTHER_KIND = "its torch or device is another one than that of the others"


class ClusterWorker:
    """A process that Dask started somewhere (`nonstrict.confirm.fleet.workers.Worker`)."""

    def __init__(self, cluster: Cluster, name: str, slots: int, ready: Ready, setup: bytes) -> None:
        """It was prepared, and said that it is ready."""
        self.name, self.slots, self.ready = name, slots, ready
        self._cluster, self._setup = cluster, setup
        self._lock = threading.Lock()
        self._waiting: set[_Waiting] = set()
        self._lost = ""

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> _Waiting:
        """See `Worker`."""
        waiting = _Waiting(self)
        with self._lock:
            if self._lost:
                raise WorkerLost(self._lost)
            self._waiting.add(waiting)
        order = Order({"root": self._cluster.root, **job}, seconds, priority).as_bytes()
        waiting.follow(self._cluster.send(self.name, on_worker.perform, self._setup, order, priority=priority))
        return waiting

    def done(self, waiting: _Waiting) -> None:
        """A job is not waited for any more."""
        with self._lock:
            self._waiting.discard(waiting)

    def lose(self, why: str) -> None:
        """Tell all who wait that nothing will come."""
        with self._lock:
            self._lost = self._lost or why
            waiting, self._waiting = self._waiting, set()
        for one in waiting:
            one.lose(self._lost)

    def give_up(self, why: str) -> None:
        """Be lent no more."""
        self._cluster.lose(self.name, why)
        self.lose(why)

    def taken(self, answer: bytes) -> JobResult | None:
        """What became of a job; None if the worker is no good any more."""
        message = json.loads(answer)
        changed = self._cluster.changed(message["hashes"])
        if message["failure"] == "dead":
            self.give_up(f"{self.name}: {message['detail']}")
            return None
        if changed:
            self._cluster.refuse(self.name, f"its {changed} is another file than here")
            self.give_up(f"{changed} is another file on {self.name} than here")
            return None
        return result_of(message)


class _Waiting:
    """A job that went to a worker (`nonstrict.confirm.arms.Pending`)."""

    def __init__(self, worker: ClusterWorker) -> None:
        self._worker = worker
        self._done = threading.Event()
        self._result: JobResult | None = None
        self._why = ""
        self._sent: Sent | None = None

    def follow(self, sent: Sent) -> None:
        """Wait for what was sent."""
        self._sent = sent
        sent.when_over(self._hear)

    def _hear(self, answer: bytes | None, why: str) -> None:
        if self._done.is_set():
            return
        name = self._worker.name
        try:
            result = None if answer is None else self._worker.taken(answer)
        except (ValueError, KeyError, TypeError) as error:
            result, why = None, f"its answer cannot be read ({error!r})"
        if result is None:
            self._worker.give_up(f"{name} ran nothing: {why}")
            return
        self._result = result
        self._end()

    def lose(self, why: str) -> None:
        """There will be no result."""
        self._why = why
        self._end()

    def _end(self) -> None:
        self._worker.done(self)
        self._sent = None  # the worker may forget the result
        self._done.set()

    def result(self, timeout: float | None = None) -> JobResult:
        """Wait for what became of the job.

        Raises:
            WorkerLost: the worker is gone.
            TimeoutError: it is not done after `timeout` seconds.
        """
        if not self._done.wait(timeout):
            raise TimeoutError(f"a job is not done after {timeout} s")
        if self._result is None:
            raise WorkerLost(self._why)
        return self._result


class Cluster:
    """The workers of a scheduler (`nonstrict.confirm.fleet.workers.Fleet`)."""

    def __init__(self, address: str, setup: Setup, on_state: Callable[[State], None] | None = None) -> None:
        """Nothing is connected yet."""
        self.root = setup.root
        self._address, self._setup, self._on_state = address, setup, on_state
        self._connection: Connection | None = None
        self._lending: Lending[ClusterWorker] = Lending()
        self._tries: dict[str, int] = {}
        self._preparing: dict[str, Sent | None] = {}
        self._refused: dict[str, str] = {}
        self._kind: tuple[str, bool] | None = None
        self._closed = threading.Event()
        self._hashes: dict[str, str] = dict(setup.files)

    # What `Fleet` promises.

    def circumstances(self) -> tuple[str, ...]:
        """See `Fleet`; the torch of the workers, which must be one."""
        connection = self._connect()
        try:
            described = self._described(connection, list(connection.workers()))
        except Unreachable as error:
            raise AgentUnavailable(f"the Dask scheduler at {self._address} was lost: {error}") from error
        if not described:
            raise AgentUnavailable(self._why_none("has no workers"))
        torches: dict[str, list[str]] = {}
        for name, torch in sorted(described.items()):
            torches.setdefault(torch, []).append(name)
        if len(torches) > 1:
            listed = "; ".join(f"{torch} on {', '.join(names)}" for torch, names in sorted(torches.items()))
            raise AgentUnavailable(f"the workers of {self._address} have several versions of torch: {listed}")
        return "cluster", self._setup.python, *torches

    def start(self) -> None:
        """See `Fleet`; waits for all that are there, so that what they have in common decides."""
        self._tell(f"preparing workers of {self._address}")
        watching = threading.Thread(target=self._watch, name="nonstrict-cluster", daemon=True)
        self._look()
        watching.start()
        self._lending.wait(lambda: not self._preparing or bool(self._lending.refusal))
        self._keep_alike()
        if not self._lending.workers:
            raise AgentUnavailable(self._lending.refusal or self._why_none("has no worker that can run experiments"))

    @property
    def slots(self) -> int:
        """See `Fleet`."""
        return max(1, sum(worker.slots for worker in self._lending.workers))

    @contextmanager
    def lend(self) -> Generator[ClusterWorker]:
        """See `Fleet`; where all workers are lost, another one is waited for."""
        with self._lending.lend(_WAITING) as worker:
            yield worker

    def close(self) -> None:
        """See `Fleet`."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._lending.refuse("the run is over")
        for worker in self._lending.workers:
            worker.lose("the run is over")
        if self._connection is not None:
            given = (on_worker.stop, self._setup.token)
            leaving = threading.Thread(target=self._connection.leave, args=given, name="nonstrict-leave", daemon=True)
            leaving.start()
            leaving.join(_LEAVE)

    # Who is there.

    def _connect(self) -> Connection:
        """The connection to the scheduler, which has the same version of this program.

        Raises:
            AgentUnavailable: it cannot be reached, or has another one.
        """
        self._tell(f"connecting to {self._address}")
        try:
            self._connection = connection = Connection(self._address)
        except Unreachable as error:
            raise AgentUnavailable(f"the Dask scheduler at {self._address} cannot be reached: {error}") from error
        try:
            found = connection.asked_of_scheduler(version)
        except Unreachable:
            found = "none, or one that is too old"
        if found != self._setup.version:
            raise AgentUnavailable(
                f"the process of the Dask scheduler at {self._address} needs nonstrict {self._setup.version}, as its "
                f"workers do, and has {found}: {self._advice()}"
            )
        return connection

    def _advice(self) -> str:
        return f'pip install "nonstrict[cluster]=={self._setup.version}" there'

    def _described(self, connection: Connection, names: Sequence[str]) -> dict[str, str]:
        """The torch of each worker that is fit for the run; why others are not is noted.

        Raises:
            Unreachable: the scheduler is gone.
        """
        found: dict[str, str] = {}
        for name, answer in connection.asked(names, on_worker.describe, self._setup.as_bytes()).items():
            told = json.loads(answer) if isinstance(answer, bytes) else {"refusal": f"it cannot be asked: {answer}"}
            if told["refusal"]:
                self.refuse(name, told["refusal"])
            else:
                found[name] = told["torch"]
        return found

    def _why_none(self, otherwise: str) -> str:
        """Why there is no worker: what they said, once for all that said the same."""
        if not self._refused:
            return f"the Dask scheduler at {self._address} {otherwise}"
        by_reason: dict[str, list[str]] = {}
        for name, why in sorted(self._refused.items()):
            by_reason.setdefault(why, []).append(name)
        listed = "; ".join(f"{', '.join(names)}: {why}" for why, names in by_reason.items())
        return (
            f"no worker of {self._address} can run experiments: {listed}. Workers need the same nonstrict "
            f"({self._advice()}), and the project and its interpreter at the same paths"
        )

    def _look(self) -> None:
        """Prepare workers that are new, and give up those that are gone.

        Raises:
            Unreachable: the scheduler is gone.
        """
        connection = self._connection
        if connection is None:
            return
        there = connection.workers()
        for worker in self._lending.workers:
            if worker.name not in there:
                worker.give_up(f"the worker {worker.name} was lost")
        with self._lending.changed:
            for name in set(self._preparing) - set(there):
                del self._preparing[name]
            known = {*(worker.name for worker in self._lending.workers), *self._preparing, *self._refused}
            fresh = [name for name in there if name not in known and self._tries.get(name, 0) < _TRIES]
            self._lending.changed.notify_all()
        for name in self._described(connection, fresh):
            self._prepare(connection, name, there[name])

    def _prepare(self, connection: Connection, name: str, slots: int) -> None:
        with self._lending.changed:
            self._tries[name] = self._tries.get(name, 0) + 1
            self._preparing[name] = None
        setup = self._setup._replace(slots=slots).as_bytes()

        def prepared(answer: bytes | None, why: str) -> None:
            try:
                if answer is not None:
                    self._prepared(name, slots, setup, json.loads(answer))
                elif name in self._preparing:  # else it is gone
                    self.refuse(name, why)
            finally:
                with self._lending.changed:
                    self._preparing.pop(name, None)
                    self._lending.changed.notify_all()

        sent = connection.send(name, on_worker.prepare, setup)
        with self._lending.changed:
            self._preparing[name] = sent
        sent.when_over(prepared)

    def _prepared(self, name: str, slots: int, setup: bytes, told: Mapping[str, Any]) -> None:
        """Take in what a worker said when it was to be prepared."""
        if self._closed.is_set():
            return
        if told["refusal"]:
            self.refuse(name, told["refusal"])
            return
        worker = ClusterWorker(self, name, slots, Ready(**told["ready"]), setup)
        if self._kind is not None and self._kind_of(worker) != self._kind:
            self.refuse(name, _OTHER_KIND)
            return
        self._lending.add(worker)
        self._tell(f"workers that are ready: {len(self._lending.workers)}")

    def _keep_alike(self) -> None:
        """Keep workers that judge alike: with a GPU, where some have one and it may be used, and with one torch."""
        workers = sorted(self._lending.workers, key=lambda worker: (not self._kind_of(worker)[1], worker.name))
        if self._setup.device == "cuda":
            for worker in workers:
                if not worker.ready.cuda:
                    self.refuse(worker.name, f"its torch {worker.ready.torch} finds no CUDA GPU")
                    self._lending.remove(worker.name)
        for worker in workers:
            self._kind = self._kind or self._kind_of(worker)
            if self._kind_of(worker) != self._kind:
                self.refuse(worker.name, _OTHER_KIND)
                self._lending.remove(worker.name)

    def _kind_of(self, worker: ClusterWorker) -> tuple[str, bool]:
        return worker.ready.torch, worker.ready.cuda and self._setup.device != "cpu"

    def _watch(self) -> None:
        """Hear of workers that come and go; runs in a thread of its own."""
        while not self._closed.wait(_PULSE):
            try:
                self._look()
            except Unreachable as error:
                why = f"the Dask scheduler at {self._address} was lost: {error}"
                self._lending.refuse(why)
                for worker in self._lending.workers:
                    worker.give_up(why)
                return

    def _tell(self, text: str) -> None:
        if self._on_state is not None:
            self._on_state(State("starting", text, 0.0, {}))

    # What workers use.

    def send(self, name: str, function: Callable[..., bytes], *given: bytes, priority: int = 0) -> Sent:
        """Have a worker call a function.

        Raises:
            WorkerLost: the cluster was left.
        """
        connection = self._connection
        if connection is None or self._closed.is_set():
            raise WorkerLost("the run is over")
        return connection.send(name, function, *given, priority=priority)

    def lose(self, name: str, why: str) -> None:
        """Lend a worker no more until it was prepared again."""
        if self._lending.remove(name) is not None:
            self._tell(why)

    def refuse(self, name: str, why: str) -> None:
        """Never lend a worker."""
        self._refused[name] = why

    def changed(self, hashes: Mapping[str, str]) -> str:
        """A file that a worker has otherwise than this machine; empty if there is none."""
        for path, found in hashes.items():
            if self._hashes.setdefault(path, hash_of(path)) != found:
                return path
        return ""
