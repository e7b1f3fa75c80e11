"""What `array` does: the documentation of Python 3.14."""

from nonstrict.models.terms import Changed

class array:
    def __delitem__(self: Changed, key): ...
    __iadd__ = __imul__ = __setitem__ = append = byteswap = clear = extend = frombytes = fromfile = __delitem__
    fromlist = fromunicode = insert = pop = remove = reverse = __delitem__
