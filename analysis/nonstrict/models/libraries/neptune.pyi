"""What `neptune` does: its API reference."""

from nonstrict.models import does

@does.io("logs to Neptune")
def init(*args): ...

init_run = log_metric = init
