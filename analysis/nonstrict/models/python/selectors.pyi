"""What `selectors` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("waits for the network")
class DefaultSelector: ...

@does.io("waits for the network")
class SelectSelector: ...
