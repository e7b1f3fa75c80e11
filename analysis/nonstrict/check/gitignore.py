"""`.gitignore` files, read by `pathspec`; imported only where a project has one."""

from __future__ import annotations

import os
from typing import NamedTuple

from pathspec import GitIgnoreSpec


class IgnoreFile(NamedTuple):
    """The patterns of one file; `base` is its directory with a closing separator."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, is_directory: bool) -> bool | None:
        """True if ignored, False if a `!` pattern takes it back, None if the file does not say."""
        relative = path[len(self.base) :].replace(os.sep, "/")
        return self.spec.check_file(f"{relative}/" if is_directory else relative).include


def read_ignore_file(path: str, directory: str) -> IgnoreFile | None:
    """The patterns of a file for an absolute directory; None if it cannot be read or has none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    return compile_patterns(lines, directory)


def compile_patterns(lines: list[str], directory: str) -> IgnoreFile | None:
    """The patterns of a `.gitignore` in an absolute directory; None if there are none."""
    written = [line for line in lines if line.strip() and not line.startswith("#") and _is_pattern(line)]
    if not written:
        return None
    return IgnoreFile(directory.rstrip(os.sep) + os.sep, GitIgnoreSpec.from_lines(written))


def _is_pattern(line: str) -> bool:
    """Whether git would make something of a line; it passes over what it cannot read, and so do we."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
