"""A process for one job, where processes cannot be forked: imports torch, waits for its job, runs it, and is gone.

The job arrives on standard input as one line, with the settings of its run: {"job", "tier", "seconds", "hidden",
"testing"}. What it tells of itself, and then the lines of the result, leave on what was standard output at the start.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import Any

from nonstrict_agent import environment, warming
from nonstrict_agent.framing import line_of, parse, write_all
from nonstrict_agent.processes import adopt_orphans, die_with, end_others, tasks


def serve_once(told: str) -> None:
    """Become ready, run one job and leave; `told` is a JSON object with "parent", "device", "cache"."""
    given = json.loads(told)
    die_with(given["parent"])
    adopt_orphans()
    reading, writing = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    where = environment.directories(given["cache"])
    environment.before_torch(where, given["device"])

    def tell(message: dict[str, Any]) -> None:
        write_all(writing, line_of(message))

    try:
        watch = warming.Stopwatch(tell)
        torch = warming.import_torch(watch)
    except warming.Unusable as problem:
        tell({"event": "unusable", "reason": problem.reason, "text": str(problem)})
        return
    watch.step("ready", "ready", mode="workers", **warming.description(torch))
    with os.fdopen(reading, "rb") as stream:
        line = stream.readline()
    if line:
        _run(parse(line), writing, where)


def _run(settings: dict[str, Any], writing: int, where: environment.Directories) -> None:
    if sys.platform == "linux":
        from nonstrict_agent.zygote import perform_contained

        own = os.getpid()
        # New namespaces are for processes with one thread; a fork has one, whatever torch started here.
        child = os.fork() if tasks() > 1 else 0
        if not child:
            if os.getpid() != own:
                die_with(own)
            perform_contained(settings["job"], settings, writing, where)
        os.waitpid(child, 0)
        end_others(())
        return
    _run_uncontained(settings, writing, where)


def _run_uncontained(settings: dict[str, Any], writing: int, where: environment.Directories) -> None:
    """Run a job without any isolation, for systems that have none of ours; the broker watches the time."""
    from nonstrict_agent.zygote import work_for

    began = time.perf_counter()
    environment.caches_in(where.of_job(settings["job"]))
    try:
        answer: dict[str, Any] = {"result": work_for(settings["job"], testing=bool(settings.get("testing")))()}
        line = line_of(answer)
    except BaseException as error:  # noqa: BLE001 - what the user's code raised is the answer
        traceback.print_exc()
        line = line_of({"raised": {"type": type(error).__name__, "message": str(error)}})
    ending = {"reason": "done", "status": 0, "signal": "", "detail": ""}
    seconds = round(time.perf_counter() - began, 3)
    write_all(writing, line + line_of({"changes": [], "exit": ending, "seconds": seconds, "tier": "none"}))
