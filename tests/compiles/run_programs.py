"""Runs small programs with torch, each in a process of its own: as plain Python, or compiled with a given backend.

Standard input holds a JSON array of jobs `{"id", "source", "backend", "seconds"}`; `backend` "python" runs without
compiling. Standard output gets an object from id to `{"output", "error"}`: what the program's `main()` printed, and
the exception that ended it as "Type: first line", or "". torch is imported once and inherited by a fork per job.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import signal
import sys
import time
import traceback
import types
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

WORKERS = 2


def run(source: str, backend: str) -> dict[str, str]:
    """Execute a program and its `main()`, with `torch.compile` replaced, and tell what came of it."""
    import torch

    compile_really: Callable[..., Any] = torch.compile

    def compile_with(model: Any = None, **options: Any) -> Any:
        if model is None:
            return functools.partial(compile_with, **options)
        return model if backend == "python" else compile_really(model, **{**options, "backend": backend})

    torch.compile = compile_with
    torch.nn.Module.compile = _compile_module(backend)
    module = types.ModuleType("example")
    sys.modules["example"] = module
    printed = io.StringIO()
    error = ""
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, "example.py", "exec"), module.__dict__)  # noqa: S102 -- programs of this repository
            module.main()
        except Exception as raised:  # noqa: BLE001 -- what the program raises is its result
            error = "".join(traceback.format_exception_only(raised)).strip().split("\n")[0]
    return {"output": printed.getvalue(), "error": error}


def _compile_module(backend: str) -> Any:
    import torch

    compile_really = torch.nn.Module.compile

    def compile_with(self: Any, **options: Any) -> None:
        if backend != "python":
            compile_really(self, **{**options, "backend": backend})

    return compile_with


def child(job: dict[str, Any], out: int) -> None:
    """The forked process: run the job, write its result as JSON, leave at once."""
    os.setsid()
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    with os.fdopen(out, "w", encoding="utf-8") as pipe:
        json.dump(run(job["source"], job["backend"]), pipe)
    os._exit(0)


def start(job: dict[str, Any]) -> tuple[int, int]:
    """Fork a process for a job; its process id and the pipe that its result comes through."""
    into, out = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(into)
        child(job, out)
    os.close(out)
    return process, into


def finish(process: int, pipe: int, seconds: float) -> dict[str, str]:
    """Wait for a job; after its time limit it is ended with everything it started."""
    deadline = time.monotonic() + seconds
    text = b""
    os.set_blocking(pipe, False)
    while time.monotonic() < deadline:
        try:
            part = os.read(pipe, 65536)
        except BlockingIOError:
            time.sleep(0.02)
            continue
        if not part:
            break
        text += part
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    os.close(pipe)
    os.waitpid(process, 0)
    return json.loads(text) if text else {"output": "", "error": "TimeLimit: no result"}


def main() -> None:
    """Run all jobs, a few at a time."""
    import torch._dynamo
    import torch._functorch.aot_autograd
    import torch._inductor.config

    warnings.simplefilter("ignore")
    # Inductor has random numbers of its own; with these, both draw the same.
    torch._inductor.config.fallback_random = True
    torch.set_num_threads(1)
    jobs = json.load(sys.stdin)
    results: dict[str, dict[str, str]] = {}
    running: list[tuple[dict[str, Any], int, int]] = []
    while jobs or running:
        while jobs and len(running) < WORKERS:
            job = jobs.pop(0)
            running.append((job, *start(job)))
        job, process, pipe = running.pop(0)
        results[job["id"]] = finish(process, pipe, job["seconds"])
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
