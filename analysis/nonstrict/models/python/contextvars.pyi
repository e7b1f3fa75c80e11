"""What `contextvars` does: the documentation of Python 3.14."""

from nonstrict.models import does

class ContextVar:
    @does.environ_read("reads a context variable")
    def get(self, *args): ...
    @does.environ_write("sets a context variable")
    def reset(self, token): ...
    set = reset
