"""What `requests` does: its API reference."""

from nonstrict.models import does

@does.io("sends a request over the network")
def delete(*args): ...

get = head = options = patch = post = put = request = delete

@does.io("sends a request over the network")
class Session:
    @does.io("sends a request over the network")
    def delete(self, *args): ...
    get = head = options = patch = post = put = request = send = delete
