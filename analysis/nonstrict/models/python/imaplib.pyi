"""What `imaplib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a network connection")
class IMAP4: ...

@does.io("opens a network connection")
class IMAP4_SSL: ...

@does.io("opens a network connection")
class IMAP4_stream: ...
