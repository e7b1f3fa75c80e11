"""What `smtplib` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("opens a network connection")
class LMTP: ...

@does.io("opens a network connection")
class SMTP: ...

@does.io("opens a network connection")
class SMTP_SSL: ...
