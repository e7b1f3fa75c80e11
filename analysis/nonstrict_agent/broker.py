"""Queues jobs and gives them processes; one thread, the standard library alone, started in an instant.

Takes from the client {"op": "hello", ...}, once, with the fields of `nonstrict.confirm.launching.Options`;
{"op": "run", "id", "job", "seconds", "priority"}; {"op": "cancel", "id"}; {"op": "close"}. Tells
{"event": "state", "name", "text", ...}, {"event": "unavailable", "reason", "text"}, and for every run one
{"event": "result", "id", ...}.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict_agent import environment
from nonstrict_agent.framing import PIECE, FramingError, Lines, line_of, selectable, write_all
from nonstrict_agent.pools import ONLY_WORKERS, ForkPool, Surroundings
from nonstrict_agent.processes import end_others
from nonstrict_agent.results import Run
from nonstrict_agent.worker_pool import WorkerPool

if TYPE_CHECKING:
    from nonstrict_agent.pools import Pool

#: How much longer than its time a run may take before the broker ends it, in seconds: its own process should do so, and
#: say what the run changed.
GRACE = 3.0
#: How much longer than its time it may take until it is gone. A zygote that learns to compile kernels answers late.
PATIENCE = 20.0
#: How often a pool whose process dies after it was ready is started again.
RESTARTS = 5


class Closed(Exception):  # noqa: N818 - no error
    """The client wants no more, or is gone."""


def serve(reading: int, writing: int, lifeline: int | None) -> None:
    """Serve a client until it is gone or says so, or until the lifeline ends; then end every process."""

    def stop(*_: object) -> NoReturn:
        raise Closed

    signal.signal(signal.SIGTERM, stop)
    broker = Broker(writing)
    try:
        broker.listen(reading, lifeline)
        broker.loop()
    except Closed:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        broker.close()


class Broker:
    """The queue, the pools, and what runs."""

    def __init__(self, writing: int) -> None:
        self.selector: selectors.BaseSelector = selectors.DefaultSelector()
        self._writing = writing
        self._requests = Lines()
        self._waiting: list[Run] = []
        self._running: list[Run] = []
        self._pools: dict[str, Pool] = {}
        #: Devices whose pool was ready once: its process can be started, and dies of something else.
        self._proven: set[str] = set()
        self._restarts = 0
        self._options: dict[str, Any] = {}
        self._shared: Surroundings | None = None
        #: Why there are no runs, for a device or for all ("").
        self._refusals: dict[str, str] = {}
        self._workers_only = not sys.platform.startswith("linux")

    def listen(self, reading: int, lifeline: int | None) -> None:
        """Watch the client's pipe and the guardian's."""
        source = selectable(reading)

        def hear() -> None:
            self._hear(os.read(source, PIECE) if isinstance(source, int) else source.recv(PIECE))

        def lost() -> NoReturn:
            raise Closed

        self.selector.register(source, selectors.EVENT_READ, hear)
        if lifeline is not None:
            self.selector.register(lifeline, selectors.EVENT_READ, lost)

    def loop(self) -> NoReturn:
        """Serve.

        Raises:
            Closed: it is over.
        """
        while True:
            for key, _ in self.selector.select(self._until_next_deadline()):
                # What an earlier one of the same round did may have closed this one.
                if self.selector.get_map().get(key.fileobj) is key:
                    key.data()
            self._end_overdue()
            self._dispatch()

    def close(self) -> None:
        """Kill every process."""
        for pool in self._pools.values():
            pool.close()
        end_others(())

    # What the client says.

    def _hear(self, piece: bytes) -> None:
        if not piece:
            raise Closed
        try:
            messages = self._requests.feed(piece)
        except FramingError as error:
            raise Closed from error
        for message in messages:
            operation = message.get("op")
            if operation == "hello":
                self._hello(message)
            elif operation == "run":
                self._waiting.append(
                    Run(message["id"], message["job"], float(message["seconds"]), int(message.get("priority", 0)))
                )
            elif operation == "cancel":
                self._cancel(message["id"])
            elif operation == "close":
                raise Closed

    def _hello(self, options: dict[str, Any]) -> None:
        """Decide how to isolate, and start the first pool."""
        from nonstrict_agent.isolation.tiers import IsolationUnavailableError, choose, remove_leftovers

        self._options = options
        self.progress({"event": "state", "name": "starting", "text": "trying how programs can be isolated here"})
        try:
            tier = choose(options["isolation"]).value
            environment.directories(environment.tier_of(options["cache"], tier))
            remove_leftovers()
        except OSError as error:
            text = f"the cache directory {options['cache']} cannot be used: {error}; name another one"
            self._unavailable("cache", text)
            return
        except IsolationUnavailableError as error:
            self._unavailable("isolation", str(error))
            return
        mode = options.get("mode", "auto")
        if mode == "fork" and self._workers_only:
            self._unavailable("fork", f"processes cannot be forked on {sys.platform}; leave the mode to `auto`")
            return
        self._workers_only = self._workers_only or mode == "workers"
        self._shared = Surroundings(self, options, tier)
        self._pool("cuda" if options.get("device") == "cuda" else "cpu")

    def _cancel(self, number: int) -> None:
        for run in self._waiting:
            if run.number == number:
                self._waiting.remove(run)
                run.verdict = ("cancelled", "it was cancelled before it started")
                self._send(run.result())
                return
        for run in self._running:
            if run.number == number and run.verdict is None:
                run.verdict = ("cancelled", "it was cancelled")
                self._pool_of(run).end(run)

    # What pools say.

    def progress(self, message: dict[str, Any]) -> None:
        """Pass something to show on to the client."""
        self._send(message)

    def ready(self, pool: Pool, message: dict[str, Any]) -> None:
        """A pool can take jobs."""
        self._proven.add(pool.device)
        assert self._shared is not None  # noqa: S101 - pools come after it
        self._send({**message, "tier": self._shared.tier, "zygote": pool.device})

    def ended(self, run: Run) -> None:
        """A run is over."""
        self._running.remove(run)
        self._send(run.result())

    def lost(self, pool: Pool, reason: str, text: str) -> None:
        """A pool's process is gone: start another one, or tell that there is no point in it."""
        runs = list(pool.runs)
        pool.close()
        self._pools.pop(pool.device, None)
        end_others({pid for other in self._pools.values() for pid in other.pids()})
        for run in runs:
            self._running.remove(run)
            run.losses += 1
            if run.verdict or run.losses > 1:
                run.verdict = run.verdict or ("crash", "the process that runs jobs ended with it, twice")
                self._send(run.result())
            else:
                run.begin()
                self._waiting.append(run)
        if reason in ONLY_WORKERS:
            self._workers_only = True
        elif pool.device not in self._proven or self._restarts == RESTARTS:
            self._give_up(pool.device, reason, text if reason != "died" else _died(text))
            return
        self._restarts += 1
        self.progress(
            {"event": "state", "name": "restarting", "text": f"starting again: {text}", "zygote": pool.device}
        )
        self._pool(pool.device)

    # What follows from it.

    def _pool(self, device: str) -> Pool:
        """The pool for a device, started if it is not there."""
        assert self._shared is not None  # noqa: S101 - see `_dispatch`
        if device not in self._pools:
            made = WorkerPool if self._workers_only else ForkPool
            self._pools[device] = made(self._shared, device)
        return self._pools[device]

    def _pool_of(self, run: Run) -> Pool:
        return self._pool(self._device_of(run))

    def _device_of(self, run: Run) -> str:
        wanted = str(run.job.get("device") or self._options.get("device"))
        return "cuda" if wanted.startswith("cuda") else "cpu"

    def _refuse_waiting(self) -> None:
        """Answer the runs that will never start."""
        for run in list(self._waiting):
            why = self._refusals.get("") or self._refusals.get(self._device_of(run))
            if why:
                self._waiting.remove(run)
                run.verdict = ("dead", why)
                self._send(run.result())

    def _dispatch(self) -> None:
        """Start what can be started, in the order of priority and arrival."""
        if self._refusals:
            self._refuse_waiting()
        if self._shared is None:
            return
        for run in sorted(self._waiting, key=lambda run: (run.priority, run.number)):
            if len(self._running) >= self._shared.slots:
                break
            pool = self._pool_of(run)
            if pool.can_take(run):
                self._waiting.remove(run)
                self._running.append(run)
                run.started = time.monotonic()
                pool.take(run)
        for pool in list(self._pools.values()):
            pool.idle([run for run in self._waiting if self._pool_of(run) is pool])

    def _until_next_deadline(self) -> float | None:
        now = time.monotonic()
        return min((max(0.0, _deadline(run) - now) for run in self._running), default=None)

    def _end_overdue(self) -> None:
        """End runs that took too long; if that has no effect, the process they were forked from as well."""
        now = time.monotonic()
        for run in [run for run in self._running if _deadline(run) <= now]:
            pool = self._pool_of(run)
            if run.extended:
                self.lost(pool, "died", "a process could not be ended")
                return
            run.extended = True
            run.verdict = run.verdict or ("timeout", f"it took longer than {run.seconds:g} s")
            pool.end(run)

    def _unavailable(self, reason: str, text: str) -> None:
        """Tell that there will be no runs."""
        self._send({"event": "unavailable", "reason": reason, "text": text})
        self._refusals[""] = text
        self._shared = None

    def _give_up(self, device: str, reason: str, text: str) -> None:
        """Run nothing more on a device; on no device at all if there is no other."""
        if self._pools:
            self._refusals[device] = text
        else:
            self._unavailable(reason, text)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            write_all(self._writing, line_of(message))
        except OSError as error:
            raise Closed from error


def _deadline(run: Run) -> float:
    return run.started + run.seconds + (PATIENCE if run.extended else GRACE)


def _died(text: str) -> str:
    return (
        f"{sys.executable} cannot import torch and compile with it: the process {text}; try `python -c 'import torch'`"
    )
