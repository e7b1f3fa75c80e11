"""Runs programs with torch, one forked process each, and prints what came out as lines of JSON.

    python probe.py MODE PROGRAM ...

Modes: `eager` (without compiling), `aot_eager`, `inductor` (that backend), `fullgraph` (no break is allowed), `explain`
(`torch._dynamo.explain` on the first call of each region), `trace` (as it is; TORCH_TRACE names a folder for logs).
A program returns numbers from `main`, or None.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import runpy
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch._dynamo.utils
from torch._dynamo.exc import FailOnRecompileLimitHit, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds that one program may take.
LIMIT = 180
#: How torch names a place in its messages and logs.
PLACE = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)|(?P<path>[^\s"\'()]+\.py):(?P<row>\d+)')

Report = dict[str, Any]
#: The regions of the program that runs in this process.
_regions: list[Any] = []
_compile: Any = torch.compile  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def report(code: str, file: str, lines: list[int], message: str) -> Report:
    """One thing that torch reports: a code of this comparison, and the lines of the program that it names."""
    return {"code": code, "file": file, "lines": lines, "message": message.strip().split("\n")[0][:200]}


def lines_in(text: str, program: str) -> list[int]:
    """The lines of a program that a text names, in the way torch writes places."""
    found = [(match["file"] or match["path"], match["line"] or match["row"]) for match in PLACE.finditer(text)]
    return [int(line) for file, line in found if Path(file).name == Path(program).name]


def innermost(text: str, program: str) -> list[int]:
    """The last line of a program that a stack names: the others lead to it."""
    return lines_in(text, program)[-1:]


def without_compiling(model: Any = None, **options: Any) -> Any:
    """In the place of `torch.compile`: gives back what it is given."""
    return functools.partial(without_compiling, **options) if model is None else model


def compiling(**forced: Any) -> Callable[..., Any]:
    """`torch.compile` with some of its arguments fixed."""

    def compile_(model: Any = None, **options: Any) -> Any:
        if forced.get("backend", "inductor") != "inductor":
            # Modes and options are Inductor's; filters of guards are Dynamo's.
            kept: dict[str, Any] = options.pop("options", None) or {}
            options.pop("mode", None)
            if "guard_filter_fn" in kept:
                options["options"] = {"guard_filter_fn": kept["guard_filter_fn"]}
        if model is None:
            return functools.partial(compile_, **options)
        _regions.append(model)
        return _compile(model, **{**options, **forced})

    return compile_


class Explained:
    """A region, explained at its first call by `torch._dynamo.explain`; it runs without compiling."""

    def __init__(self, region: Any, program: str, reports: list[Report]) -> None:
        self.region, self.program, self.reports, self.done = region, program, reports, False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Explain the region once, then run it."""
        if not self.done:
            self.done = True
            output = torch._dynamo.explain(self.region)(*arguments, **named)
            if not output.graph_count:
                self.reports.append(report("graph-break", self.program, [], "Graph Count: 0"))
            if output.compile_times:
                self.reports.append(report("compile-time", self.program, [], "Compile Times"))
            for reason in output.break_reasons:
                stack = "".join(f'File "{frame.filename}", line {frame.lineno}\n' for frame in reason.user_stack)
                if reason.graph_break:
                    lines = innermost(stack, self.program)
                    self.reports.append(report("graph-break", self.program, lines, reason.reason))
            torch._dynamo.reset()
        return self.region(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.region, name)


def explaining(program: str, reports: list[Report]) -> Callable[..., Any]:
    """In the place of `torch.compile`: regions that explain themselves."""

    def compile_(model: Any = None, **options: Any) -> Any:
        return functools.partial(compile_, **options) if model is None else Explained(model, program, reports)

    return compile_


def raised(error: BaseException, program: str) -> list[Report]:
    """What an error of torch reports."""
    text = "".join(traceback.format_exception(error))
    _, _, user = text.rpartition("from user code:")
    lines = innermost(user, program)
    if isinstance(error, FailOnRecompileLimitHit):
        code = "recompile-limit"
    elif isinstance(error, Unsupported):
        code = "graph-break"
    else:
        code = "error"
    return [report(code, program, lines, f"{type(error).__name__}: {error}")]


def logged(text: str, program: str) -> list[Report]:
    """What torch's log reports by default: the recompile limit."""
    at = text.find("hit config.recompile_limit")
    return [] if at < 0 else [report("recompile-limit", program, lines_in(text[at : at + 600], program)[:1], text[at:])]


def compiled() -> dict[str, int]:
    """How many regions there are in this process, and how often torch compiled them."""
    metrics = torch._dynamo.utils.get_compilation_metrics()
    again = [one for one in metrics if re.fullmatch(r"\d+/[1-9]\d*", str(one.compile_id or ""))]
    counters = torch._dynamo.utils.counters
    return {
        "regions": len(_regions),
        "graphs": counters["stats"]["unique_graphs"],
        "breaks": sum(counters["graph_break"].values()),
        "recompilations": len(again),
    }


def run(mode: str, path: str, reports: list[Report]) -> Report:
    """What a program returns or raises in a mode."""
    if mode == "eager":
        torch.compile = without_compiling
    elif mode == "fullgraph":
        torch.compile = compiling(fullgraph=True)
    elif mode == "explain":
        torch.compile = explaining(path, reports)
    elif mode != "trace":
        torch.compile = compiling(backend=mode)
    outcome: Report = {"results": None, "error": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            space = runpy.run_path(path, run_name="program")
            outcome["results"] = space["main"]()
        except Exception as error:  # noqa: BLE001 - whatever torch or the program raises is the outcome
            outcome["error"] = type(error).__name__
            reports += raised(error, path)
    if mode == "eager":
        # What torch itself warns of; compiling adds warnings that are about torch's own code.
        for one in caught:
            own = [one.lineno] if Path(one.filename).name == Path(path).name else []
            reports.append(report("warning", path, own, f"{one.category.__name__}: {one.message}"))
    return outcome


def in_a_child(mode: str, path: str, answer: Path) -> None:
    """Run a program and write what came out; standard output and error go to files."""
    signal.alarm(LIMIT)
    reports: list[Report] = []
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        os.dup2(out.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        outcome = run(mode, path, reports)
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        errors.seek(0)
        reports += logged(errors.read(), path)
        printed = out.read()
    answer.write_text(json.dumps({**outcome, "printed": printed, "reports": reports, **compiled()}))


def file_logs(folder: Path, name: str) -> None:
    """Put the logs of a program into a folder of its own."""
    own = folder / name
    own.mkdir(exist_ok=True)
    for log in folder.glob("*.log"):
        log.rename(own / log.name)


def main(mode: str, paths: list[str]) -> None:
    """Run each program in a process of its own."""
    torch.set_num_threads(1)
    if mode in ("inductor", "fullgraph", "trace"):
        importlib.import_module("torch._inductor.compile_fx")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            answer = Path(folder, "answer.json")
            answer.unlink(missing_ok=True)
            child = os.fork()
            if child == 0:
                try:
                    in_a_child(mode, path, answer)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
            outcome = json.loads(answer.read_text()) if answer.exists() else {"results": None, "error": "timeout"}
            print(json.dumps({"program": path, **outcome}), flush=True)
            if mode == "trace":
                file_logs(Path(os.environ["TORCH_TRACE"]), Path(path).stem)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
