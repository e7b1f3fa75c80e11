"""What `pdb` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("stops in the debugger")
def pm(): ...

post_mortem = run = runcall = runeval = set_trace = pm
