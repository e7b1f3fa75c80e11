"""What `traceback` does: the documentation of Python 3.14."""

from nonstrict.models import does

def format_exc(limit, chain) -> str: ...
def format_stack(f, limit) -> list: ...

format_tb = format_stack

@does.stderr
def print_exc(limit, file, chain) -> None: ...
@does.stderr
def print_exception(exc, value, tb, limit): ...

print_last = print_stack = print_tb = print_exception
