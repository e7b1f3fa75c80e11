"""What structlog does: its API reference."""

from logging import Logger

from nonstrict.models import does

class BoundLogger(Logger):
    @does.log
    def info(self, event): ...
    critical = debug = error = exception = fatal = log = success = trace = warn = warning = info

def get_logger(*args) -> BoundLogger: ...
