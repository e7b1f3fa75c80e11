"""What `copy` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.escape("copies the tensor's data through Python")
def deepcopy(x, memo, nil): ...
