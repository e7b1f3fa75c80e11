"""Runs a command with recording: what its calls are like and what torch compiled is kept with the project."""

from __future__ import annotations

import os
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.imported_runs import complaints, kept
from nonstrict.confirm.recorded import DIRECTORY, LIMIT
from nonstrict.confirm.recording import gather, merge
from nonstrict.confirm.runs.logs import NoLogsError
from nonstrict.confirm.runs.places import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.imported_runs import Imported
    from nonstrict.confirm.recording import Seen

    #: Runs a command with an environment to its end; its exit status.
    Run = Callable[[Sequence[str], Mapping[str, str]], int]


class Wanted(NamedTuple):
    """What is to be recorded of the project at `root`, which leads over no link.

    Calls go into the folder `output`, at most `limit` distinct ones of a function. With `eager` torch.compile is off.
    """

    root: str
    output: str
    limit: int = LIMIT
    eager: bool = False

    @staticmethod
    def of(root: str, output: str | None = None) -> Wanted:
        """The usual: of all functions of a project, into its records unless another folder is named."""
        folder = os.path.abspath(output) if output else os.path.join(root, DIRECTORY)
        return Wanted(os.path.realpath(root), folder)


class Recorded(NamedTuple):
    """How a command ended, what was seen of its calls, and what of its compilations is kept, if there were any.

    `unkept` is a sentence about why its calls were not kept, empty if they were; `complaints` are about compilations.
    """

    status: int
    seen: Seen
    imported: Imported | None = None
    unkept: str = ""
    complaints: tuple[str, ...] = ()


def recorded(command: Sequence[str], wanted: Wanted, run: Run, environment: Mapping[str, str]) -> Recorded:
    """Run a command in an environment that records, and keep what it did.

    Raises:
        OSError: from `run`, where the command cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="nonstrict-record-", ignore_cleanup_errors=True) as spool:
        # A folder of the user's may hold logs of former runs.
        before = environment.get("TORCH_TRACE")
        traces, started = (before, time.time()) if before else (os.path.join(spool, "traces"), 0.0)
        status = run(command, {**environment, **_recording(wanted, spool, traces, environment)})
        seen = gather(spool)
        unkept = ""
        if seen.calls:
            try:
                merge(seen, wanted.root, wanted.output, wanted.limit)
            except OSError as error:
                unkept = f"{error.filename or wanted.output}: {error.strerror or error}. No call was kept."
        done = Recorded(status, seen, None, unkept)
        return done if wanted.eager else _with_compiled(done, traces, wanted.root, started)


def _recording(wanted: Wanted, spool: str, traces: str, before: Mapping[str, str]) -> Mapping[str, str]:
    """What is set in the environment of a command: hooks on the path of every Python, and what they are to do."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    hook = os.path.join(package, "nonstrict_agent", "recording", "hook")
    path = before.get("PYTHONPATH")
    told = {
        "PYTHONPATH": f"{hook}{os.pathsep}{path}" if path else hook,
        "NONSTRICT_RECORD_SPOOL": spool,
        "NONSTRICT_RECORD_ROOT": wanted.root,
        "NONSTRICT_RECORD_LIMIT": str(wanted.limit),
    }
    return told | ({"NONSTRICT_RECORD_EAGER": "1"} if wanted.eager else {"TORCH_TRACE": traces})


def _with_compiled(done: Recorded, traces: str, root: str, started: float) -> Recorded:
    """The same with what the command compiled, which is kept."""
    project = Project(root)
    try:
        imported = kept(traces, project, started)
    except NoLogsError:
        return done
    except OSError as error:
        what = f"{error.filename or traces}: {error.strerror or error}. What was compiled was not kept."
        return done._replace(complaints=(what,))
    return done._replace(imported=imported, complaints=tuple(complaints(imported, project)))
