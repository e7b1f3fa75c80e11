"""What `faulthandler` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.stderr
def dump_traceback(file, all_threads): ...

dump_traceback_later = dump_traceback
