"""What is on the disk, as far as linking asks: each answer is kept beside its question, so that it can be asked again.

What imports mean rests on nothing else but the texts of files: as long as all answers are the same, so is that.
"""

from __future__ import annotations

import enum
import os
from glob import glob
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Ask(enum.Enum):
    """What may be asked of a path."""

    FILE = "file"
    FOLDER = "folder"
    EXISTS = "exists"
    BEGINNING = "beginning"
    REAL = "real"
    MATCHES = "matches"
    CONTENT = "content"


class Question(NamedTuple):
    """One question about an absolute path; of MATCHES, about a pattern."""

    ask: Ask
    path: str


class Disk:
    """The disk as it is now; nothing is remembered to spare a look."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        #: by question, the last answer; yes is "yes", no is "", and of contents there is a digest
        self.answers: dict[Question, str] = {}

    def is_file(self, path: str) -> bool:
        """Whether a path leads to a file."""
        return self._noted(Ask.FILE, path, os.path.isfile(path))

    def is_folder(self, path: str) -> bool:
        """Whether a path leads to a folder."""
        return self._noted(Ask.FOLDER, path, os.path.isdir(path))

    def exists(self, path: str) -> bool:
        """Whether a path leads anywhere."""
        return self._noted(Ask.EXISTS, path, os.path.exists(path))

    def beginning(self, path: str) -> list[str]:
        """The names in a folder that begin with the last part of a path."""
        folder, start = os.path.split(path)
        try:
            found = sorted(name for name in os.listdir(folder) if name.startswith(start))
        except OSError:
            found = []
        self.answers[Question(Ask.BEGINNING, path)] = "/".join(found)
        return found

    def real(self, path: str) -> str:
        """The path without links."""
        found = os.path.realpath(path)
        self.answers[Question(Ask.REAL, path)] = found if found != path else ""
        return found

    def matching(self, pattern: str) -> list[str]:
        """The paths that a pattern of `glob` matches, `**` being any folders."""
        found = sorted(glob(pattern, recursive=True))
        self.answers[Question(Ask.MATCHES, pattern)] = "\n".join(found)
        return found

    def read(self, path: str) -> bytes | None:
        """What a file holds, which is not noted; None if it cannot be read."""
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def content(self, path: str) -> bytes | None:
        """What a file holds; None if it cannot be read."""
        data = self.read(path)
        self.answers[Question(Ask.CONTENT, path)] = "" if data is None else blake2b(data, digest_size=16).hexdigest()
        return data

    def _noted(self, ask: Ask, path: str, answer: bool) -> bool:
        self.answers[Question(ask, path)] = "yes" if answer else ""
        return answer


def answers_now(questions: Mapping[Question, str]) -> Iterator[tuple[Question, str, str]]:
    """Some questions asked again: each with the answer that it had, and the one that it has now."""
    disk = Disk()
    asking = {
        Ask.FILE: disk.is_file,
        Ask.FOLDER: disk.is_folder,
        Ask.EXISTS: disk.exists,
        Ask.BEGINNING: disk.beginning,
        Ask.REAL: disk.real,
        Ask.MATCHES: disk.matching,
        Ask.CONTENT: disk.content,
    }
    for question, before in questions.items():
        asking[question.ask](question.path)
        yield question, before, disk.answers[question]
