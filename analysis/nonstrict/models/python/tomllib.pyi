"""What `tomllib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("reads a file")
def load(fp) -> dict: ...
def loads(s) -> dict: ...
