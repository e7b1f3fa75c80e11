"""What `warnings` does: the documentation of Python 3.14."""

from nonstrict.models import does
from nonstrict.models.terms import surrounds

@does.environ_write("changes the warning filters")
def filterwarnings(action, message, category, module) -> None: ...

simplefilter = filterwarnings

@does.environ_write("changes the warning filters")
def resetwarnings(): ...
@does.stderr("emits a warning")
def showwarning(message, category, filename, lineno): ...

warn_explicit = showwarning

@does.stderr("emits a warning")
def warn(message, category, stacklevel, source) -> None: ...

@surrounds
class catch_warnings: ...
