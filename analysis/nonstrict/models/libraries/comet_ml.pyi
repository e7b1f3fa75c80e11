"""What `comet_ml` does: its API reference."""

from nonstrict.models import does

@does.io("logs to Comet")
def log_metric(*args): ...

log_metrics = start = log_metric

@does.io("logs to Comet")
class Experiment: ...
