"""What `bz2` does: the documentation of Python 3.14."""

import io
from io import TextIOWrapper

from nonstrict.models import does

def compress(data, compresslevel) -> bytes: ...
@does.io("opens a file")
def open(filename, mode, compresslevel, encoding) -> TextIOWrapper: ...

@does.io("opens a file")
class BZ2File(io.IOBase): ...
