"""What `shelve` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a file")
def open(filename, flag, protocol, writeback): ...

@does.io("opens a file")
class DbfilenameShelf: ...

@does.io("opens a file")
class Shelf: ...
