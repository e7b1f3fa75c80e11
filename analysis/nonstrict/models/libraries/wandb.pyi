"""What wandb does: its API reference."""

from nonstrict.models import does

logs = does.io("logs to Weights & Biases")

class Run:
    @logs
    def log(self, data): ...
    alert = define_metric = finish = log_artifact = log_code = save = use_artifact = watch = log

@logs
def log(data): ...

alert = define_metric = finish = log_artifact = save = use_artifact = watch = log

@logs
def init(project) -> Run: ...

run: Run
sdk.wandb_run.Run = Run

class _Summary:
    @logs
    def update(self, d): ...

summary: _Summary

class Artifact: ...
class Image: ...

Audio = Histogram = Html = Object3D = Plotly = Table = Video = Image
