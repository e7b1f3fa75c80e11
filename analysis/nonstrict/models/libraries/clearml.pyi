"""What `clearml` does: its API reference."""

from nonstrict.models import does

class Logger:
    @does.io("logs to ClearML")
    def current_logger(self, *args): ...

class Task:
    @does.io("logs to ClearML")
    def init(self, *args): ...
