"""A process with torch imported that forks for every job: what a job patches ends with its child.

Jobs and answers are lines of JSON on standard input and output; started as `python warm.py AGENT`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any

#: After so many seconds a job is killed, and the answer says that it died.
SECONDS = 120


def _perform(job: dict[str, Any], answers: int) -> None:
    """In the child: perform the job with streams that lead nowhere, and write the answer."""
    from nonstrict_agent.jobs import perform

    signal.alarm(SECONDS)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    try:
        text = json.dumps(perform(job))
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to show it
        text = json.dumps({"crash": traceback.format_exc()})
    with os.fdopen(answers, "w") as file:
        file.write(text)
    os._exit(0)


def _forked(job: dict[str, Any]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _perform(job, writing)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    return text or json.dumps({"crash": f"the child ended with status {os.waitstatus_to_exitcode(status)}"})


def main() -> None:
    """Answer jobs until there are no more."""
    sys.path.insert(0, sys.argv[1])
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
        answers.write(_forked(json.loads(line)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
