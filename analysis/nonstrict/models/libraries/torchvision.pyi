"""What `torchvision` does: its API reference."""

from nonstrict.models import does
from nonstrict.models.terms import submodule

@submodule
class io:
    @does.io("reads a file")
    def decode_image(*args): ...
    read_file = read_image = read_video = decode_image

@submodule
class utils:
    @does.io("writes to a file")
    def save_image(*args): ...
