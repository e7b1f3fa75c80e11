"""What `fileinput` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("reads files")
def input(files, inplace, backup): ...

@does.io("reads files")
class FileInput: ...
