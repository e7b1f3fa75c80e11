"""What `icecream` does: its API reference."""

from nonstrict.models import does

@does.stdout
def ic(*args): ...
