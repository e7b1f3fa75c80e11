"""What Pillow does: its API reference. Images hold no tensors, and torch cannot trace what is done with them."""

from typing import Any

from nonstrict.models import does
from nonstrict.models.terms import submodule

computes = does.native("computes in Pillow")

@computes
def __getattr__(name: str) -> Any: ...

@submodule
class Image:
    @does.io("reads a file")
    def open(fp) -> Image: ...
    @computes
    def new(mode, size) -> Image: ...
    fromarray = frombytes = frombuffer = blend = composite = merge = new

    class Image:
        @does.io("writes to a file")
        def save(self, fp) -> None: ...
        @does.io("shows an image")
        def show(self) -> None: ...
        @does.io("reads a file")
        def load(self): ...
        def convert(self, mode) -> Image: ...
        copy = crop = filter = quantize = resize = rotate = transform = transpose = convert
        def getbbox(self) -> tuple: ...
        def tobytes(self) -> bytes: ...
