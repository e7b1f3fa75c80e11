"""What `uuid` does: the documentation of Python 3.14."""

from typing import overload

from nonstrict.models import does

identifies = does.identity("makes a random identifier")

class UUID: ...

@identifies
def uuid1(node) -> UUID: ...

uuid4 = uuid6 = uuid7 = uuid1

@overload
@identifies
def uuid8(a, b) -> UUID: ...
@overload
def uuid8(a, b, c) -> UUID: ...
@identifies
def getnode() -> int: ...
