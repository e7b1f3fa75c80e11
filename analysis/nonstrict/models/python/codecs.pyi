"""What `codecs` does: the documentation of Python 3.14."""

import io
from io import TextIOWrapper

from nonstrict.models import does

@does.io("opens a file")
def open(filename, mode, encoding, errors) -> TextIOWrapper: ...

class StreamReaderWriter(io.IOBase): ...
