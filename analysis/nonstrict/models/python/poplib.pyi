"""What `poplib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a network connection")
class POP3: ...

@does.io("opens a network connection")
class POP3_SSL: ...
