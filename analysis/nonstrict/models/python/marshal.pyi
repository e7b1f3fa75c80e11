"""What `marshal` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("writes to a file")
def dump(value, file, version): ...
@does.escape("serialises the tensor's data")
def dumps(value, version) -> bytes: ...
@does.io("reads a file")
def load(file): ...
