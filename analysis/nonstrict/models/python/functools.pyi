"""What `functools` makes: the documentation of Python 3.14."""

from types import FunctionType

class partial(FunctionType): ...
class partialmethod(FunctionType): ...

def cache(user_function) -> FunctionType: ...

cmp_to_key = lru_cache = singledispatch = wraps = cache
