"""What `multiprocessing` does: the documentation of Python 3.14."""

import concurrent.futures
import logging
import queue
import threading

from nonstrict.models import does
from nonstrict.models.terms import Changed, submodule

@does.process("starts a process")
class Process:
    @does.process("starts a process")
    def start(self) -> None: ...
    join = kill = run = terminate = start

@does.process("starts a process")
def Manager(): ...
@does.identity("reads a process id")
def active_children(): ...

parent_process = active_children

@does.identity("reads a process id")
def current_process() -> Process: ...
def cpu_count() -> int: ...
def get_logger() -> logging.Logger: ...
def Event() -> threading.Event: ...
def Lock() -> threading.Lock: ...

RLock = Semaphore = Lock

class Connection:
    @does.process("hands values to another process")
    def send(self, obj): ...
    poll = recv = recv_bytes = send_bytes = send

class Queue(queue.Queue):
    @does.process("hands values to another process")
    def put(self: Changed, obj): ...
    put_nowait = put
    @does.process("hands values to another process")
    def get(self): ...
    get_nowait = get

JoinableQueue = SimpleQueue = queues.Queue = Queue

@submodule
class pool:
    @does.process("starts a process")
    class Pool(concurrent.futures.Executor):
        @does.process("hands work to a process")
        def apply(self, func): ...
        apply_async = close = imap = imap_unordered = join = map = map_async = starmap = starmap_async = apply

    @does.thread("starts a thread")
    class ThreadPool(concurrent.futures.Executor):
        @does.thread("hands work to a thread")
        def apply(self, func): ...
        apply_async = imap = imap_unordered = map = map_async = starmap = starmap_async = apply

Pool = pool.Pool

@submodule
class dummy:
    @does.thread("starts a thread")
    def Pool(processes): ...
    Process = Pool

context.Process = context.ForkProcess = context.SpawnProcess = Process
