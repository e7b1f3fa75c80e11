"""What `logging` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@does.io("configures logging")
def addLevelName(level, levelName): ...

captureWarnings = disable = setLoggerClass = shutdown = addLevelName

@does.io("configures logging")
def basicConfig() -> None: ...
@does.log
def critical(msg, *args) -> None: ...

debug = error = exception = info = log = warning = critical

@does.log
def fatal(msg, *args, **kwargs): ...

warn = fatal

def getHandlerNames() -> set: ...
def getLevelName(level) -> str: ...
def getLevelNamesMapping() -> dict: ...
def getLogger(name) -> Logger: ...

@does.io("opens a log file")
class FileHandler: ...

class Handler:
    @does.log
    def close(self): ...
    emit = flush = handle = close

class Logger:
    @does.io("configures logging")
    def addFilter(self, filter): ...
    addHandler = removeFilter = removeHandler = setLevel = addFilter
    @does.log
    def critical(self, msg, *args): ...
    debug = error = exception = fatal = handle = info = log = warn = warning = critical

    @does.environ_read("asks for the level of a logger")
    def isEnabledFor(self, level) -> bool: ...
    @does.environ_read("asks for the level of a logger")
    def getEffectiveLevel(self) -> int: ...

class LoggerAdapter(Logger):
    @does.log
    def critical(self, msg, *args): ...
    debug = error = exception = info = log = warn = warning = critical

class RootLogger(Logger): ...

@submodule
class config:
    @does.io("configures logging")
    def dictConfig(config): ...
    fileConfig = listen = dictConfig

@submodule
class handlers:
    @does.io("opens a log file")
    class RotatingFileHandler: ...

    @does.io("opens a log file")
    class TimedRotatingFileHandler: ...
