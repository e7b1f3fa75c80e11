"""What `heapq` does: the documentation of Python 3.14."""

from collections.abc import Iterator

from nonstrict.models import does
from nonstrict.models.terms import Changed

@does.escape("compares values of tensors")
def heapify(heap: Changed) -> None: ...

heappush = heapify

@does.escape("compares values of tensors")
def heappop(heap: Changed): ...

heapreplace = heappop

def heappushpop(heap: Changed, item): ...
def merge(*iterables) -> Iterator: ...
@does.escape("compares values of tensors")
def nlargest(n, iterable, key) -> list: ...

nsmallest = nlargest
