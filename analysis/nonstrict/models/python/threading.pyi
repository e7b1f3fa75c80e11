"""What `threading` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.thread("starts a thread")
class Thread:
    @does.thread("starts a thread")
    def start(self) -> None: ...
    join = run = start

@does.thread("starts a thread")
class Timer(Thread):
    @does.thread("starts a thread")
    def cancel(self) -> None: ...

class Lock: ...
class RLock(Lock): ...
class Semaphore(Lock): ...
class BoundedSemaphore(Semaphore): ...

class Condition(Lock):
    @does.thread("waits for a thread")
    def wait(self, timeout): ...
    notify = notify_all = wait_for = wait

class Event:
    @does.thread("waits for a thread")
    def wait(self, timeout): ...
    clear = set = wait

class Barrier(Event):
    @does.thread("waits for a thread")
    def reset(self): ...
    abort = reset

class local: ...

@does.identity("reads a thread id")
def current_thread() -> Thread: ...

currentThread = main_thread = current_thread

@does.identity("reads a thread id")
def get_ident() -> int: ...

active_count = activeCount = get_native_id = get_ident

@does.identity("reads a thread id")
def enumerate(): ...
@does.hook("registers a hook of the interpreter")
def settrace(func): ...

setprofile = settrace_all_threads = settrace
