"""What `tracemalloc` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.identity("reads memory use")
def get_traced_memory(): ...

get_tracemalloc_memory = take_snapshot = get_traced_memory
