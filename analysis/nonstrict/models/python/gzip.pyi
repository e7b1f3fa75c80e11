"""What `gzip` does: the documentation of Python 3.14."""

import io
from io import TextIOWrapper

from nonstrict.models import does

def compress(data, compresslevel) -> bytes: ...

decompress = compress

@does.io("opens a file")
def open(filename, mode, compresslevel, encoding) -> TextIOWrapper: ...

@does.io("opens a file")
class GzipFile(io.IOBase): ...
