"""What `tempfile` does: the documentation of Python 3.14."""

from io import IOBase, TextIOWrapper

from nonstrict.models import does

@does.io("makes a temporary file")
def NamedTemporaryFile(mode, buffering, encoding, newline) -> TextIOWrapper: ...

TemporaryFile = NamedTemporaryFile

@does.io("reads the file system")
def gettempdir() -> str: ...
@does.io("reads the file system")
def gettempdirb(): ...
@does.io("makes a temporary file")
def mkdtemp(suffix, prefix, dir) -> str: ...

mktemp = mkdtemp

@does.io("makes a temporary file")
def mkstemp(suffix, prefix, dir, text): ...

@does.io("makes a temporary file")
class SpooledTemporaryFile(IOBase): ...

@does.io("makes a temporary file")
class TemporaryDirectory: ...
