"""What `concurrent.futures` does: the documentation of Python 3.14."""

from nonstrict.models import does

class Executor:
    @does.thread("hands work to a thread")
    def submit(self, fn): ...
    map = shutdown = submit

@does.thread("starts a thread")
class ThreadPoolExecutor(Executor): ...

@does.thread("starts a thread")
class InterpreterPoolExecutor(Executor): ...

@does.process("starts a process")
class ProcessPoolExecutor(Executor):
    @does.process("hands work to a process")
    def submit(self, fn): ...
    map = shutdown = submit

class Future:
    @does.thread("waits for a thread")
    def result(self, timeout): ...
    add_done_callback = exception = result

_base.Future = Future
thread.ThreadPoolExecutor = ThreadPoolExecutor
process.ProcessPoolExecutor = ProcessPoolExecutor
