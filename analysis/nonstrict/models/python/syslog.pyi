"""What `syslog` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.output("writes to the system log")
def closelog(): ...

openlog = setlogmask = syslog = closelog
