"""What `dis` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.stdout
def dis(x): ...
