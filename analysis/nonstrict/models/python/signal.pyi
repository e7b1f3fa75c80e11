"""What `signal` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.hook("registers a signal handler")
def alarm(seconds): ...

raise_signal = set_wakeup_fd = setitimer = signal = sigwait = alarm
