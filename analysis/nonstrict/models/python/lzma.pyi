"""What `lzma` does: the documentation of Python 3.14."""

import io
from io import TextIOWrapper

from nonstrict.models import does

def compress(data, format, check, preset) -> bytes: ...
@does.io("opens a file")
def open(filename, mode) -> TextIOWrapper: ...

@does.io("opens a file")
class LZMAFile(io.IOBase): ...
