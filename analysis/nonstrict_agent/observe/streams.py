"""What is written to standard output and standard error during a call, caught at the level of file descriptors."""

from __future__ import annotations

import os
import re
import sys
import tempfile

#: Bytes of one stream that are kept for one call.
MAX_BYTES = 20_000
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


class Streams:
    """A context manager; afterwards `out` and `err` hold the text, `size` the bytes that were written in all."""

    out = ""
    err = ""
    size = 0

    def __enter__(self) -> Streams:  # noqa: PYI034 - `typing.Self` is new in Python 3.11
        _flush()
        self._kept = [os.dup(1), os.dup(2)]
        self._files = [_anonymous_file(), _anonymous_file()]
        for target, file in zip((1, 2), self._files, strict=True):
            os.dup2(file, target)
        return self

    def __exit__(self, *_: object) -> None:
        _flush()
        for target, kept in zip((1, 2), self._kept, strict=True):
            os.dup2(kept, target)
            os.close(kept)
        texts = (os.pread(file, MAX_BYTES, 0).decode("utf-8", "replace") for file in self._files)
        # Addresses of objects differ from run to run.
        self.out, self.err = (_ADDRESS.sub("at 0x...", text) for text in texts)
        self.size = sum(os.fstat(file).st_size for file in self._files)
        for file in self._files:
            os.close(file)


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("stream")
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
