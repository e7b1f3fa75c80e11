"""What `dbm` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a file")
def open(file, flag, mode): ...

whichdb = open
