"""What `h5py` does: its API reference."""

from nonstrict.models import does

@does.io("opens a file")
class File: ...
