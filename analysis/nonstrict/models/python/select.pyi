"""What `select` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("waits for the network")
def kqueue(*args): ...

poll = select = kqueue

@does.io("waits for the network")
class epoll: ...
