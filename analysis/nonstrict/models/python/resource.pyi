"""What `resource` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.identity("reads memory use")
def getrlimit(resource): ...

getrusage = getrlimit

@does.environ_write("changes the interpreter's settings")
def setrlimit(resource, limits): ...
