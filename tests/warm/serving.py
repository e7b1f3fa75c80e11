"""A process with torch imported that forks for every job: what a job patches ends with its child.

Jobs and answers are lines of JSON on standard input and output; started as `python serving.py AGENT`. A job of the kind
"as python" is run as `python ARGUMENTS` would run it in a folder; all others are jobs of the agent.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: After so many seconds a job is killed, and the answer says that it died.
SECONDS = 120


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    return _script(job) if job["kind"] == "as python" else _job_of_the_agent(job)


# -- jobs of the agent ------------------------------------------------------------------------------------------------


def _job_of_the_agent(job: dict[str, Any]) -> dict[str, Any]:
    """What the child tells of it."""
    reading, writing = os.pipe()

    def perform() -> int:
        os.close(reading)
        _perform(job, writing)
        return 0

    child = _forked(perform)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return {"crash": f"the child ended with status {os.waitstatus_to_exitcode(status)}"}
    return json.loads(text)


def _perform(job: dict[str, Any], answers: int) -> None:
    """In the child: perform the job with streams that lead nowhere, and write the answer."""
    from nonstrict_agent.jobs import perform

    nowhere = os.open(os.devnull, os.O_RDWR)
    _streams(nowhere, nowhere)
    try:
        text = json.dumps(perform(job))
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to show it
        text = json.dumps({"crash": traceback.format_exc()})
    with os.fdopen(answers, "w") as file:
        file.write(text)


# -- scripts ----------------------------------------------------------------------------------------------------------


def _script(job: dict[str, Any]) -> dict[str, Any]:
    """The exit status of a script, and what it wrote."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:

        def perform() -> int:
            _streams(output.fileno(), errors.fileno())
            return _run(job["arguments"], job["folder"], job["environment"])

        _, status = os.waitpid(_forked(perform), 0)
        texts: list[str] = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return {"status": os.waitstatus_to_exitcode(status), "output": texts[0], "errors": texts[1]}


def _run(arguments: list[str], folder: str, environment: dict[str, str]) -> int:
    """In the child: the exit status of `python ARGUMENTS`, which are the path of a script or `-c`, and what follows."""
    os.chdir(folder)
    os.environ.update(environment)
    # torch reads TORCH_LOGS when it is imported.
    importlib.import_module("torch._logging._internal")._init_logs()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if arguments[0] == "-c":
        first, code, name, sys.argv = "", arguments[1], "<string>", ["-c", *arguments[2:]]
    else:
        path, name, sys.argv = Path(arguments[0]).absolute(), arguments[0], arguments
        first, code, main.__file__ = str(path.parent), path.read_text(encoding="utf-8"), str(path)
    sys.path.insert(0, first)
    try:
        exec(compile(code, name, "exec"), main.__dict__)  # noqa: S102 - programs of this repository
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException as error:  # noqa: BLE001 - the interpreter would show it, too
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        sys.excepthook(type(error), error, below)
        return 1
    return 0


# -- both -------------------------------------------------------------------------------------------------------------


def _forked(perform: Callable[[], int]) -> int:
    """The process id of a child that performs something and ends with the status that it returns."""
    child = os.fork()
    if child:
        return child
    signal.alarm(SECONDS)
    status = perform()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _streams(output: int, errors: int) -> None:
    """In the child: no input, and output to somewhere else than the answers of this process."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (errors, 2)):
        os.dup2(source, target)


def main() -> None:
    """Answer jobs until there are no more."""
    sys.path[0] = sys.argv[1]
    import torch

    torch.set_num_threads(1)
    for name in ("torch._dynamo", "torch._inductor.compile_fx", "torch.export", "nonstrict_agent.jobs"):
        importlib.import_module(name)
    for name in ("arm", "schedule", "showing"):
        importlib.import_module(f"nonstrict_agent.{name}")
    # The first backward pass of a process starts threads, with which it could not be forked.
    from nonstrict_agent.warming import compile_once, settle, start_autograd

    start_autograd(torch)
    compile_once(torch, "aot_eager")
    settle()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
