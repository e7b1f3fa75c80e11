"""What `psutil` does: its API reference."""

from nonstrict.models import does

@does.identity("reads the state of the machine")
def cpu_percent(*args): ...

net_io_counters = pids = virtual_memory = cpu_percent

@does.identity("reads the state of the machine")
class Process: ...
