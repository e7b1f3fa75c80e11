"""What `getpass` does: the documentation of Python 3.14."""

from nonstrict.models import does

@does.io("reads standard input")
def getpass(prompt, stream) -> str: ...
@does.identity("reads the user's identity")
def getuser() -> str: ...
