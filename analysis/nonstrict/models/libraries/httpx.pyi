"""What `httpx` does: its API reference."""

from nonstrict.models import does

@does.io("sends a request over the network")
def delete(*args): ...

get = head = options = patch = post = put = request = stream = delete

@does.io("sends a request over the network")
class Client:
    @does.io("sends a request over the network")
    def delete(self, *args): ...
    get = head = options = patch = post = put = request = send = delete
