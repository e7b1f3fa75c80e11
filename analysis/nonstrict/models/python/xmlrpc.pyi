"""What `xmlrpc` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class client:
    @does.io("opens a network connection")
    class ServerProxy: ...
