"""What `joblib` does: its API reference."""

from nonstrict.models import does

@does.io("writes to a file")
def dump(*args): ...
@does.io("reads a file")
def load(*args): ...
