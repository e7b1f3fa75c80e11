"""Runs arms of small programs, each in a child of one warm process."""

from __future__ import annotations

import ast
import base64
from array import array
from textwrap import dedent
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.import_names import imported_as

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.warm.process import Warm

#: What most programs begin with.
HEAD = """\
import torch
from torch._dynamo import nonstrict_trace

"""


class Project:
    """A directory with programs, and the arms that run them."""

    def __init__(self, warm: Warm, directory: Path) -> None:
        self._warm = warm
        self.directory = directory

    def write(self, path: str, text: str = "") -> Path:
        """A file of the project."""
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
        return file

    def job(self, text: str, backend: str = "eager", *, path: str = "model.py", **fields: Any) -> dict[str, Any]:
        """The job of an arm that loads a whole program and calls its `main`.

        `fields` go into the job; `driver` may be the name of a function.
        """
        text = dedent(text)
        driver = fields.pop("driver", "main")
        imported = imported_as(str(self.directory / path), text)
        return {
            "kind": "arm",
            "backend": backend,
            "path": str(self.directory / path),
            "text": text,
            "root": str(self.directory),
            "module": imported.name,
            "folders": list(imported.folders),
            "further": list(imported.further),
            "packages": list(map(list, imported.packages)),
            "kept": list(range(len(_statements(text)))),
            "driver": {"kind": "function", "name": driver} if isinstance(driver, str) else driver,
            **fields,
        }

    def perform(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a job."""
        return self._warm.perform(job)

    def arm(self, text: str, backend: str = "eager", *, path: str = "model.py", **fields: Any) -> dict[str, Any]:
        """The trace of an arm; see `job`. The program's file is written unless there is one."""
        if not (self.directory / path).exists():
            self.write(path, text)
        return self.perform(self.job(text, backend, path=path, **fields))

    def calls(self, text: str, backend: str = "eager", **fields: Any) -> list[dict[str, Any]]:
        """The calls of regions of a program that ran to its end."""
        trace = self.arm(text, backend, **fields)
        assert "failure" not in trace, trace["failure"]
        assert trace["stop"]["kind"] in {"end", "enough"}, trace["stop"]
        return trace["calls"]


class Done(NamedTuple):
    """A job that is done, as drivers wait for it."""

    value: dict[str, Any]
    failure: str = ""
    detail: str = ""
    changes: tuple[Any, ...] = ()
    seconds: float = 0.0

    def result(self, timeout: float | None = None) -> Done:
        """The job itself."""
        del timeout
        return self


class Runner:
    """Runs jobs at once, and remembers them."""

    def __init__(self, project: Project, forging: str = "") -> None:
        """`forging` is a backend whose arms are found to have written their results themselves."""
        self._project = project
        self._forging = forging
        self.jobs: list[dict[str, Any]] = []

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> Done:
        """Run a job."""
        del seconds, priority
        self.jobs.append(job)
        if self._forging and job.get("backend") == self._forging:
            return Done({}, "tampered")
        return Done(self._project.perform(job))


def _statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


def numbers(leaf: Mapping[str, Any]) -> list[float]:
    """The elements of a tensor as the agent wrote it; complex ones are pairs."""
    kind = "d" if leaf["dtype"].startswith(("float", "bfloat", "complex")) else "q"
    found = array(kind)
    found.frombytes(base64.b64decode(leaf["data"]))
    return list(found)


def result(call: Mapping[str, Any]) -> list[float]:
    """The elements of the only tensor that a call returned."""
    assert "error" not in call, call["error"]
    (leaf,) = call["result"]["leaves"]
    return numbers(leaf)


def cause(error: Mapping[str, Any]) -> Any:
    """The link of an error that holds the true reason."""
    return error["links"][error["cause"]]


def effects(call: Mapping[str, Any]) -> dict[str, Any]:
    """The state that a call changed, without random numbers, which every call is given afresh."""
    return {path: pair for path, pair in call["state"].items() if "random state" not in path}
