"""What `time` does: the documentation of Python 3.14."""

from typing import overload

from nonstrict.models import does

@overload
@does.clock
def asctime() -> str: ...
@overload
def asctime(time_tuple) -> str: ...

ctime = asctime

@does.clock
def clock(*args): ...

clock_gettime = clock_gettime_ns = clock

@does.clock("sets the clock")
def clock_settime(clk_id, time): ...

clock_settime_ns = tzset = clock_settime

@overload
@does.clock
def gmtime() -> tuple: ...
@overload
def gmtime(seconds) -> tuple: ...

localtime = gmtime

def mktime(time_tuple) -> float: ...
@does.clock
def monotonic() -> float: ...

perf_counter = process_time = thread_time = time = monotonic

@does.clock
def monotonic_ns() -> int: ...

perf_counter_ns = process_time_ns = thread_time_ns = time_ns = monotonic_ns

@does.io("waits")
def sleep(seconds) -> None: ...
@overload
@does.clock
def strftime(format) -> str: ...
@overload
def strftime(format, time_tuple) -> str: ...
