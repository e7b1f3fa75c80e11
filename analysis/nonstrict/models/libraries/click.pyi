"""What `click` does: its API reference."""

from nonstrict.models import does

@does.stdout
def confirm(*args): ...

echo = echo_via_pager = progressbar = prompt = secho = confirm
