"""What `pty` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.program("starts a process")
def fork(): ...

spawn = fork
