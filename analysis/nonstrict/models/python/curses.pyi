"""What `curses` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.output("writes to a terminal")
def initscr(): ...

wrapper = initscr
