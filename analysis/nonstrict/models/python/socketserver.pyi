"""What `socketserver` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("serves the network")
class TCPServer: ...

@does.io("serves the network")
class ThreadingTCPServer: ...

@does.io("serves the network")
class UDPServer: ...
