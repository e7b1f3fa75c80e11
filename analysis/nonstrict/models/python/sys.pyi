"""What `sys` does: the documentation of Python 3.14."""

from nonstrict.models import does

class _Stdout:
    @does.stdout
    def write(self, s): ...
    flush = writelines = write
    buffer: _Stdout

class _Stderr:
    @does.stderr
    def write(self, s): ...
    flush = writelines = write
    buffer: _Stderr

class _Stdin:
    @does.io("reads standard input")
    def read(self, size): ...
    readline = readlines = read

stdout: _Stdout
stderr: _Stderr
stdin: _Stdin
__stdout__: _Stdout
__stderr__: _Stderr

@does.stdout
def displayhook(object): ...
@does.stderr
def excepthook(exctype, value, traceback): ...

unraisablehook = excepthook

@does.exit("ends the process")
def exit(status): ...
@does.hook("registers a hook of the interpreter")
def addaudithook(hook): ...

set_asyncgen_hooks = setprofile = settrace = addaudithook

@does.identity("reads the state of the interpreter")
def getrefcount(object) -> int: ...
@does.identity("reads the state of the interpreter")
def getallocatedblocks(): ...
@does.environ_write("changes the interpreter's settings")
def setrecursionlimit(limit) -> None: ...
@does.environ_write("changes the interpreter's settings")
def setswitchinterval(interval): ...

set_int_max_str_digits = setswitchinterval

def exc_info() -> tuple: ...
def getrecursionlimit() -> int: ...
def getsizeof(object) -> int: ...
def intern(string) -> str: ...
