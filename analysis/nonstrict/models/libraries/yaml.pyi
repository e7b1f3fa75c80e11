"""What `yaml` does: its API reference."""

from nonstrict.models import does

@does.io("reads a file")
def load(*args): ...

load_all = safe_load = safe_load_all = load
