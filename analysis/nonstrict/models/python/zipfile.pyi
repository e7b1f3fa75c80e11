"""What `zipfile` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a file")
def is_zipfile(filename): ...

@does.io("opens a file")
class PyZipFile: ...

@does.io("opens a file")
class ZipFile:
    @does.io("writes to a file")
    def close(self): ...
    write = writestr = close
    @does.io("reads a file")
    def extract(self, member, path, pwd): ...
    extractall = namelist = open = read = extract
