"""What `operator` does: the documentation of Python 3.14."""

from types import FunctionType

from nonstrict.models.terms import Changed

def contains(a, b) -> bool: ...

is_ = is_not = not_ = truth = contains

def index(a) -> int: ...

length_hint = index

def setitem(a: Changed, b, c): ...

delitem = iadd = iconcat = ior = setitem

class attrgetter(FunctionType): ...
class itemgetter(FunctionType): ...
class methodcaller(FunctionType): ...
