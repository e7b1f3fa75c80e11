"""What `socket` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a socket")
def create_connection(address, timeout, source_address) -> socket: ...

create_server = create_connection

@does.io("opens a socket")
def fromfd(fd, family, type, proto): ...

socketpair = fromfd

@does.io("asks the network")
def getaddrinfo(host, port, family, type): ...

getfqdn = gethostbyaddr = gethostbyname = gethostbyname_ex = getnameinfo = getservbyname = getaddrinfo
getservbyport = getaddrinfo

@does.identity("reads the machine's identity")
def gethostname(*args) -> str: ...

@does.io("opens a socket")
class socket:
    @does.io("uses a socket")
    def accept(self): ...
    bind = close = connect = connect_ex = listen = makefile = recv = recv_into = recvfrom = recvmsg = send = accept
    sendall = sendfile = sendmsg = sendto = shutdown = accept
