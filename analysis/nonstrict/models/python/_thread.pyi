"""What `_thread` does: the documentation of Python 3.14."""

from threading import Lock

from nonstrict.models import does

def allocate_lock() -> Lock: ...
@does.identity("reads a thread id")
def get_ident() -> int: ...

get_native_id = get_ident

@does.thread("starts a thread")
def start_new_thread(function, args): ...

start_joinable_thread = start_new = start_new_thread
