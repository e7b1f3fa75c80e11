"""What `plistlib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("writes to a file")
def dump(value, fp): ...
@does.io("reads a file")
def load(fp): ...
