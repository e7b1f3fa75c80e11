"""What `typer` does: its API reference."""

from nonstrict.models import does

@does.stdout
def confirm(*args): ...

echo = prompt = secho = confirm
