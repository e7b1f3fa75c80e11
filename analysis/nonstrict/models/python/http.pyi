"""What `http` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class client:
    @does.io("opens a network connection")
    class HTTPConnection:
        @does.io("sends a request over the network")
        def close(self): ...
        connect = getresponse = request = send = close

    @does.io("opens a network connection")
    class HTTPSConnection(client.HTTPConnection): ...

@submodule
class server:
    @does.io("serves the network")
    class HTTPServer: ...

    @does.io("serves the network")
    class ThreadingHTTPServer: ...
