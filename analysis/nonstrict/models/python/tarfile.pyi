"""What `tarfile` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a file")
def is_tarfile(name): ...

open = is_tarfile

@does.io("opens a file")
class TarFile:
    @does.io("writes to a file")
    def add(self, name, arcname, recursive): ...
    addfile = close = add
    @does.io("reads a file")
    def extract(self, member, path, set_attrs): ...
    extractall = extractfile = getmembers = getnames = extract
    @does.io("opens a file")
    def open(cls, name, mode, fileobj): ...
