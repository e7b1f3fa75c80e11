"""What `timeit` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.clock
def default_timer(*args) -> float: ...

timeit = default_timer

@does.clock
def repeat(stmt, setup, timer, repeat): ...

@does.clock
class Timer: ...
