"""What `linecache` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("reads a file")
def checkcache(filename): ...

getline = getlines = updatecache = checkcache
