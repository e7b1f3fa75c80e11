"""What `ssl` does: the documentation of Python 3.14."""

import socket

from nonstrict.models import does

@does.random("draws random bytes")
def RAND_bytes(n): ...
@does.io("opens a connection")
def get_server_certificate(addr, ssl_version, ca_certs, timeout): ...

wrap_socket = get_server_certificate

class SSLSocket(socket.socket): ...
