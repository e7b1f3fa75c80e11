"""Verdicts kept between runs, by content: they hold while every file that the experiments loaded is the same."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict import __version__
from nonstrict.confirm.launching import AGENT
from nonstrict.confirm.measuring import as_json, from_json
from nonstrict.findings import Outcome, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.findings import Measured

_FORMAT = 6
#: Verdicts that say something about the machine of the moment, and are not kept.
_PASSING = frozenset(
    {"timeout", "crash", "memory", "gpu-memory", "processes", "sandbox", "tampered", "dead", "cancelled", "lost"}
)


class Recalled(NamedTuple):
    """The verdicts of an earlier run, the user's files that it loaded, and what each verdict rests on.

    `kept` are the positions of the top-level statements of the program that an experiment kept, by number of suspect;
    where there are none, it may have been any of them. `measured` are the regions that were compiled.
    """

    verdicts: dict[int, Verdict]
    files: tuple[str, ...]
    kept: dict[int, frozenset[int]]
    measured: tuple[Measured, ...] = ()


class VerdictCache:
    """The verdicts of one circumstance: interpreter, torch, device."""

    def __init__(
        self, directory: str, circumstances: Iterable[object], *, enabled: bool, project_state: Callable[[], str] = str
    ) -> None:
        """Nothing is read or written yet. `project_state` gives another text when the project has other files."""
        self._project_state = project_state
        self._directory = directory
        self._circumstances = repr((__version__, _FORMAT, _agent_state(), *circumstances))
        self._enabled = enabled

    def load(self, program: Program, suspects: Sequence[Suspect]) -> dict[int, Verdict] | None:
        """The verdicts of an earlier run on the same content; None if there is none that holds."""
        recalled = self.recall(program, suspects)
        return recalled.verdicts if recalled is not None else None

    def recall(self, program: Program, suspects: Sequence[Suspect]) -> Recalled | None:
        """The same, with what the verdicts rest on."""
        if not self._enabled:
            return None
        try:
            with open(self._path(program, suspects), encoding="utf-8") as file:
                document = json.load(file)
            if any(_digest(path) != digest for path, digest in document["files"].items()):
                return None
            # A new file of the project may call what nothing called before.
            undecided = any(entry["status"] == Status.INCONCLUSIVE for entry in document["verdicts"])
            if undecided and document["project"] != self._project_state():
                return None
            verdicts = {s.number: _verdict(entry) for s, entry in zip(suspects, document["verdicts"], strict=True)}
            listed = zip(suspects, document.get("kept", [None] * len(suspects)), strict=True)
            kept = {s.number: frozenset(map(int, positions)) for s, positions in listed if positions is not None}
            return Recalled(verdicts, tuple(map(str, document["files"])), kept, from_json(document["measured"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(
        self,
        program: Program,
        suspects: Sequence[Suspect],
        verdicts: Mapping[int, Verdict],
        files: Iterable[str],
        kept: Mapping[int, frozenset[int] | None] | None = None,
        measured: Iterable[Measured] = (),
    ) -> None:
        """Keep the verdicts, unless one of them may be another next time; `files` are those that were loaded.

        `kept` are the statements that the verdicts rest on, `measured` the regions (see `Recalled`).
        """
        listed = [verdicts[s.number] for s in suspects]
        if not self._enabled or any(verdict.reason in _PASSING for verdict in listed):
            return
        others = {path: _digest(path) for path in sorted(files) if path != program.path}
        document = {
            "files": others,
            "project": self._project_state(),
            "verdicts": [verdict._asdict() for verdict in listed],
            "kept": [_positions((kept or {}).get(s.number)) for s in suspects],
            "measured": as_json(measured),
        }
        path = self._path(program, suspects)
        temporary = f"{path}.{os.getpid()}.{threading.get_ident()}"
        try:
            os.makedirs(self._directory, exist_ok=True)
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(document, file)
            os.replace(temporary, path)
        except OSError:
            return

    def _path(self, program: Program, suspects: Sequence[Suspect]) -> str:
        asked = [(s.code, s.path, sorted(s.lines), s.function, s.subject) for s in suspects]
        text = (program.path, program.root, program.text, program.imported, sorted(program.overlays.items()))
        key = repr((self._circumstances, *text, asked))
        return os.path.join(self._directory, f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}.json")


def _positions(kept: frozenset[int] | None) -> list[int] | None:
    return sorted(kept) if kept is not None else None


def _verdict(entry: dict[str, Any]) -> Verdict:
    outcomes = tuple(Outcome(*outcome) for outcome in entry["outcomes"])
    known: dict[str, Any] = {
        **entry,
        "status": Status(entry["status"]),
        "outcomes": outcomes,
        "files": tuple(entry["files"]),
        "inputs": tuple(entry["inputs"]),
    }
    return Verdict(**known)


def _agent_state() -> list[tuple[str, int, int]]:
    """The files of the agent by time and size: another agent may judge otherwise."""
    states: list[tuple[str, int, int]] = []
    for path in sorted(AGENT.rglob("*.py")):
        status = path.stat()
        states.append((path.name, status.st_mtime_ns, status.st_size))
    return states


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
