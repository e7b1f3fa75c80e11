"""What `subprocess` does: the documentation of Python 3.14."""

from multiprocessing import Process

from nonstrict.models import does

@does.program("starts a process")
def run(args): ...

call = check_call = getstatusoutput = run

@does.program("starts a process")
def check_output(args) -> bytes: ...
@does.program("starts a process")
def getoutput(cmd) -> str: ...

@does.program("starts a process")
class Popen(Process):
    @does.program("uses a process")
    def communicate(self, input): ...
    kill = poll = send_signal = terminate = wait = communicate
