"""What `json` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("writes to a file")
def dump(obj, fp) -> None: ...
@does.escape("serialises the tensor's data")
def dumps(obj) -> str: ...
@does.io("reads a file")
def load(fp): ...
