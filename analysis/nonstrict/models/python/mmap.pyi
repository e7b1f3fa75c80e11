"""What `mmap` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a file")
class mmap: ...
