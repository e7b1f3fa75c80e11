"""What `bisect` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import Changed

@does.escape("compares values of tensors")
def bisect(a, x, lo, hi) -> int: ...

bisect_left = bisect_right = bisect

@does.escape("compares values of tensors")
def insort(a: Changed, x, lo, hi) -> None: ...

insort_left = insort_right = insort
