"""What `termcolor` does: its API reference."""

from nonstrict.models import does

@does.stdout
def cprint(*args): ...
