"""What `urllib3` does: its API reference."""

from nonstrict.models import does

@does.io("sends a request over the network")
def request(*args): ...

@does.io("sends a request over the network")
class PoolManager: ...
