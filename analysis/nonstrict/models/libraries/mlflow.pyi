"""What `mlflow` does: its API reference."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@does.io("logs to MLflow")
def autolog(*args): ...

end_run = log_artifact = log_artifacts = log_dict = log_figure = log_image = log_metric = log_metrics = autolog
log_param = log_params = log_table = log_text = set_experiment = set_tag = set_tags = set_tracking_uri = autolog
start_run = autolog

class MlflowClient:
    @does.io("logs to MLflow")
    def log_artifact(self, *args): ...
    log_batch = log_metric = log_param = set_tag = log_artifact

@submodule
class pytorch:
    @does.io("logs to MLflow")
    def log_model(*args): ...
