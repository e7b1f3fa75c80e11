"""What `collections` does: the documentation of Python 3.14."""

from nonstrict.models.terms import Changed

def namedtuple(typename, field_names) -> type: ...

class ChainMap:
    def __delitem__(self: Changed, key): ...
    __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = __delitem__

class Counter(dict):
    def __delitem__(self: Changed, elem): ...
    __iadd__ = __iand__ = __ior__ = __isub__ = __setitem__ = clear = pop = popitem = setdefault = __delitem__
    subtract = update = __delitem__

class OrderedDict(dict):
    def __delitem__(self: Changed, key): ...
    __ior__ = __setitem__ = clear = move_to_end = pop = popitem = setdefault = update = __delitem__

class UserDict(dict): ...
class UserList(list): ...

class defaultdict(dict):
    def __delitem__(self: Changed, key): ...
    __ior__ = __missing__ = __setitem__ = clear = pop = popitem = setdefault = update = __delitem__

class deque:
    def __delitem__(self: Changed, key): ...
    __iadd__ = __imul__ = __setitem__ = append = appendleft = clear = extend = extendleft = insert = __delitem__
    pop = popleft = remove = reverse = rotate = __delitem__
