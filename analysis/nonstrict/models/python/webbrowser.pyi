"""What `webbrowser` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a browser")
def open(url, new, autoraise): ...

open_new = open_new_tab = open
