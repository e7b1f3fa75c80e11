"""What loguru does: its API reference. All logging goes through one object."""

from nonstrict.models import does

class Logger:
    @does.log
    def info(self, message): ...
    critical = debug = error = exception = fatal = log = success = trace = warn = warning = info
    @does.io("configures logging")
    def add(self, sink): ...
    complete = configure = disable = enable = level = remove = add
    def bind(self) -> Logger: ...
    contextualize = opt = patch = bind

logger: Logger
