"""Results kept between runs: a run in which nothing changed is answered from one small file.

An entry is one file: first the key, which is all that decides the answer (version, settings, environment, and
path, time and size of every file checked), then the answer. It holds if its key is the key of this run, and if the
files that the analysis read besides are as they were. One entry is kept for each set of settings and paths.
A cache that cannot be read or written is no cache; it never fails a run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict import __version__
from nonstrict.check.environment import environment_of
from nonstrict.coverage import Counts
from nonstrict.findings import (
    Applicability,
    Diagnostic,
    LocatedEdit,
    LocatedFix,
    Location,
    Output,
    RelatedLocation,
    Severity,
    Subject,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.check.files import Discovery
    from nonstrict.settings.model import Settings

DIRECTORY = ".nonstrict_cache"
#: Entries kept in a cache directory; each run of other files or settings makes one.
MAX_ENTRIES = 32
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of nonstrict. See https://bford.info/cachedir/\n"
_FORMAT = 8


class Entry(NamedTuple):
    """What a run said, the (path, reason) of what could not be read, and how much was looked at."""

    diagnostics: tuple[Diagnostic, ...]
    unread: tuple[tuple[str, str], ...]
    counts: Counts


class Cache:
    """The entry of one run: `load` it, or `store` it."""

    def __init__(self, directory: str, name: str, key: bytes, torch: str | None = None) -> None:
        """Name the entry; nothing is read or written yet. `key` has no line break, and says that it is of a `torch`."""
        self.torch = torch
        self.directory = directory
        self._path = os.path.join(directory, __version__, name)
        self._key = key

    def load(self) -> Entry | None:
        """The answer of the last run on the same input, None if there is none that holds."""
        try:
            with open(self._path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        key, _, answer = data.partition(b"\n")
        if key != self._key:
            return None
        import json

        try:
            document = json.loads(answer)
            if document["format"] != _FORMAT or _states(document["dependencies"]) != document["states"]:
                return None
            unread = tuple((str(path), str(reason)) for path, reason in document["unread"])
            counts = Counts(*map(int, document["counts"]))
            return Entry(tuple(_diagnostic(item) for item in document["diagnostics"]), unread, counts)
        except (ValueError, KeyError, TypeError, IndexError):
            return None

    def store(self, entry: Entry, dependencies: Sequence[str]) -> None:
        """Keep an answer, and drop the oldest ones."""
        import json

        listed = sorted(dependencies)
        document = {
            "format": _FORMAT,
            "dependencies": listed,
            "states": _states(listed),
            "diagnostics": [_record(diagnostic) for diagnostic in entry.diagnostics],
            "unread": list(entry.unread),
            "counts": list(entry.counts),
        }
        try:
            self._prepare()
            temporary = f"{self._path}.{os.getpid()}"
            with open(temporary, "wb") as file:
                file.write(self._key + b"\n" + json.dumps(document, separators=(",", ":")).encode())
            os.replace(temporary, self._path)
            _prune(os.path.dirname(self._path))
        except OSError:
            return

    def _prepare(self) -> None:
        """Make the directory, marked as a cache for backup tools and for git."""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        for name, text in (("CACHEDIR.TAG", _TAG), (".gitignore", "*\n")):
            path = os.path.join(self.directory, name)
            if not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)


def open_cache(discovery: Discovery, settings: Settings, *, fixes: Applicability | None) -> Cache:
    """The cache entry of a run over some files; `fixes` is the least applicability of those that it made, if any."""
    from zlib import crc32

    environment = environment_of(settings)
    run = repr((os.getcwd(), settings, sorted(discovery.explicit), discovery.nested, discovery.files[:1], fixes))
    packages = _states((*environment.site_packages, *environment.models))
    state = repr((environment, packages, discovery.files, _states(discovery.files)))
    key = f"{run} {state}".encode("utf-8", "surrogateescape").replace(b"\n", b" ")
    # The name only keeps runs apart; equal names of different runs cost a second analysis, not a wrong answer.
    name = f"{crc32(run.encode('utf-8', 'surrogateescape')):08x}.json"
    return Cache(cache_directory(settings), name, key, environment.torch_version)


def is_cache(directory: str) -> bool:
    """Whether a directory carries the mark of our cache."""
    try:
        with open(os.path.join(directory, "CACHEDIR.TAG"), encoding="utf-8") as file:
            return file.read() == _TAG
    except (OSError, UnicodeDecodeError):
        return False


def cache_directory(settings: Settings) -> str:
    """Where results are kept: as configured, else in the root of the project."""
    return settings.cache_dir or os.path.join(settings.root, DIRECTORY)


def _states(paths: Iterable[str]) -> list[list[int]]:
    """Time of change (ns) and size (bytes) of each file; zeros for one that is gone."""
    return [_state(path) for path in paths]


def _state(path: str) -> list[int]:
    try:
        status = os.stat(path)
    except OSError:
        return [0, 0]
    return [status.st_mtime_ns, status.st_size]


def _prune(directory: str) -> None:
    entries = [(entry.stat().st_mtime_ns, entry.path) for entry in os.scandir(directory)]
    for _, path in sorted(entries)[:-MAX_ENTRIES]:
        os.unlink(path)


def _record(diagnostic: Diagnostic) -> list[object]:
    """A diagnostic as JSON: its fields in order.

    Without its verdict: verdicts depend on more than what the key of a run says, and are kept apart.
    """
    return [
        diagnostic.code,
        diagnostic.name,
        int(diagnostic.severity),
        _place(diagnostic.location),
        diagnostic.message,
        diagnostic.help,
        diagnostic.note,
        diagnostic.function,
        diagnostic.marker,
        [[_place(related.location), related.message] for related in diagnostic.related],
        diagnostic.links,
        diagnostic.subject,
        [
            [fix.title, int(fix.applicability), [[_place(edit.location), edit.text] for edit in fix.edits]]
            for fix in diagnostic.fixes
        ],
        diagnostic.gives_up,
        diagnostic.hidden,
        diagnostic.output.value,
    ]


def _place(location: Location) -> list[object]:
    return [
        location.path,
        location.row,
        location.column,
        location.end_row,
        location.end_column,
        location.cell,
    ]


def _diagnostic(record: list[Any]) -> Diagnostic:
    """The diagnostic that `_record` wrote."""
    code, name, severity, place, message, help_, note, *others = record
    function, marker, related, links, subject, fixes, *flags = others
    return Diagnostic(
        code,
        name,
        Severity(severity),
        Location(*place),
        message,
        help_,
        note,
        function,
        marker,
        tuple(RelatedLocation(Location(*where), text) for where, text in related),
        links,
        subject=None if subject is None else Subject(subject[0], subject[1], tuple(subject[2])),
        fixes=tuple(
            LocatedFix(
                title, Applicability(applicability), tuple(LocatedEdit(Location(*where), text) for where, text in edits)
            )
            for title, applicability, edits in fixes
        ),
        gives_up=flags[0],
        hidden=flags[1],
        output=Output(flags[2]),
    )
