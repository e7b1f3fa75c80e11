"""What OpenCV does: its API reference. torch cannot trace its native code."""

from typing import Any

from nonstrict.models import does

@does.native("computes in OpenCV")
def __getattr__(name: str) -> Any: ...
@does.io("reads a file")
def imdecode(*args): ...

imread = imdecode

@does.io("writes to a file")
def imshow(*args): ...

imwrite = imshow

@does.io("reads a file")
class VideoCapture: ...

@does.io("writes to a file")
class VideoWriter: ...
