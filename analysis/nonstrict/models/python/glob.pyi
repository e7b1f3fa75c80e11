"""What `glob` does: the documentation of Python 3.14."""

from collections.abc import Iterator

from nonstrict.models import does

@does.io("reads the file system")
def glob(pathname) -> list: ...
@does.io("reads the file system")
def iglob(pathname) -> Iterator: ...
