"""What `ftplib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a network connection")
class FTP: ...

@does.io("opens a network connection")
class FTP_TLS: ...
