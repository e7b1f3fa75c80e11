"""What `platform` does: the documentation of Python 3.14."""

from nonstrict.models import does

def machine() -> str: ...

processor = python_version = release = system = machine

@does.identity("reads the machine's identity")
def node() -> str: ...

platform = node

@does.identity("reads the machine's identity")
def uname(): ...
