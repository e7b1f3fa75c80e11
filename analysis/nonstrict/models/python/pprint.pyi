"""What `pprint` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.escape("formats the tensor's value")
def pformat(object, indent, width, depth) -> str: ...
@does.stdout
def pp(object, stream, indent, width): ...
@does.stdout
def pprint(object, stream, indent, width) -> None: ...
