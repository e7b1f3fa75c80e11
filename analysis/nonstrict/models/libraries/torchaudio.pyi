"""What `torchaudio` does: its API reference."""

from nonstrict.models import does

@does.io("reads a file")
def info(*args): ...

load = info

@does.io("writes to a file")
def save(*args): ...
