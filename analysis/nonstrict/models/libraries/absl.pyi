"""What `absl` does: its API reference."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class logging:
    @does.log
    def debug(*args): ...
    error = exception = fatal = info = log = log_every_n = log_every_n_seconds = log_first_n = log_if = debug
    vlog = warn = warning = debug
    @does.io("configures logging")
    def set_stderrthreshold(*args): ...
    set_verbosity = use_absl_handler = set_stderrthreshold
