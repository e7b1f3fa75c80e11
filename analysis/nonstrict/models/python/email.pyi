"""What `email` does: the documentation of Python 3.14."""

from typing import overload

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class utils:
    @overload
    @does.clock
    def formatdate(): ...
    @overload
    def formatdate(timeval): ...
    localtime = formatdate
