"""What travels between a run and the workers of a cluster: JSON as bytes, and nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict import __version__
from nonstrict.confirm.launching import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Setup(NamedTuple):
    """What a run tells every worker: what it expects there, and how experiments are to be run.

    `token` tells the run from others. `code` is the state of the package that runs experiments. `files` are hashes of
    files of the project, by absolute path. An empty `python` is the interpreter that the worker itself runs in.
    """

    token: str
    version: str
    code: str
    root: str
    files: Mapping[str, str]
    python: str
    device: str
    isolation: str
    slots: int = 1

    def as_bytes(self) -> bytes:
        """As it travels."""
        return as_bytes(self._asdict())


class Order(NamedTuple):
    """One job, as it travels to a worker: what `nonstrict.confirm.client.Agent.submit` is given."""

    job: Mapping[str, Any]
    seconds: float
    priority: int = 0

    def as_bytes(self) -> bytes:
        """As it travels."""
        return as_bytes(self._asdict())


def as_bytes(document: Mapping[str, Any]) -> bytes:
    """A JSON object as bytes; surrogates, which undecodable names have, are escaped."""
    return json.dumps(document).encode("ascii")


def version() -> str:
    """The version of this program."""
    return __version__


def state_of_code() -> str:
    """A hash of the package that runs experiments: two versions under one number may judge otherwise."""
    found = hashlib.sha256()
    for path in sorted(AGENT.rglob("*.py")):
        found.update(f"{path.relative_to(AGENT).as_posix()}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def hashes(paths: Iterable[str]) -> dict[str, str]:
    """Hashes of files; empty where one cannot be read."""
    return {path: hash_of(path) for path in paths}


def hash_of(path: str) -> str:
    """The hash of a file; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
