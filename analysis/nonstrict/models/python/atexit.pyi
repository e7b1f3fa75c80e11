"""What `atexit` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.hook("registers a hook of the interpreter")
def register(func, *args): ...

unregister = register
