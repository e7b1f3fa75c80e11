"""What `gc` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.environ_write("changes the interpreter's settings")
def disable() -> None: ...

enable = disable

@does.environ_write("changes the interpreter's settings")
def freeze(): ...

set_debug = set_threshold = unfreeze = freeze

@does.identity("reads the state of the interpreter")
def get_count(): ...

get_referrers = get_stats = get_count

@does.identity("reads the state of the interpreter")
def get_objects(generation) -> list: ...
