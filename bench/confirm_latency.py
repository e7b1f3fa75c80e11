"""How long verdicts take, beside a plain process that compiles the same program.

    python bench/confirm_latency.py [--runs 5] [--write]

cold      `python -c`: import torch, run the program in eager, aot_eager and Inductor (kernels cached), once per run
ready     from the start of the agent until experiments can run, and until kernels compile fast
one       verdict of one finding on a warm agent: eager, control, aot_eager, which publishes "confirmed"; and the
          final one, once Inductor has run too
kernels   the same after an edit that needs new kernels, which the C++ compiler makes
ten       ten findings, of one function whose state the program changes, of one whose state only the experiment
          changes, of ten functions in ten regions of one program, and of ten programs, as many at a time as there
          are processors; until the last of them is published as confirmed, and until all are final
arm       a single aot_eager arm in its sandbox, beside a bare fork of a warm process that does the same

Each run changes a comment of the programs, as an edit does, so that no answer is remembered; what Inductor keeps on
disk serves again. With --write the table goes to bench/results/confirm.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.run import check
from nonstrict.confirm.arms import Limits
from nonstrict.confirm.client import Agent, Options
from nonstrict.confirm.programs import Schedule, drivers_for, job_of, program_of
from nonstrict.confirm.session import Session, Told
from nonstrict.confirm.suspects import Suspect, suspect_of
from nonstrict.findings import Status
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from nonstrict.confirm.programs import Program

HERE = Path(__file__).resolve().parent

HEAD = """\
import torch
from torch._dynamo import nonstrict_trace
"""
HAZARD = """
SCALE_{n} = 2.0


@nonstrict_trace
def scaled_{n}(x, weight):
    hidden = torch.relu(x @ weight) + {constant}
    return torch.softmax(hidden, dim=-1) * SCALE_{n}


@torch.compile(fullgraph=True)
def step_{n}(x, weight):
    return scaled_{n}(x, weight).sum(dim=0) + torch.tanh(x)
"""
DRIVE = """
    step_{n}(x, x)
    SCALE_{n} = 3.0
    step_{n}(x, x)
"""
TERM = """\
    hidden = hidden + torch.sin(weight) * SCALE_{n}
"""
#: One marked function that reads all of the state; nothing changes it while `main` runs.
TOGETHER = """
{values}

@nonstrict_trace
def scaled(x, weight):
    hidden = x
{terms}    return hidden


@torch.compile(fullgraph=True)
def step(x, weight):
    return scaled(x, weight).sum(dim=0) + torch.tanh(x)


def tune(value):
    global {names}
    {names_chained} = value


# Run {run}.
def main():
    global {names}
    x = torch.ones(8, 8)
    step(x, x)
{drive}"""
COLD = """
import torch, time
torch._dynamo.config.inline_inbuilt_nn_modules
source = {source!r}
for backend in ("eager", "aot_eager", "inductor"):
    torch._dynamo.reset()
    plain = torch.compile
    torch.compile = lambda fullgraph: lambda f: plain(f, fullgraph=fullgraph, backend=backend)
    import linecache
    linecache.cache["<p>"] = (len(source), None, source.splitlines(True), "<p>")
    names = {{"__name__": "p"}}
    exec(compile(source, "<p>", "exec"), names)
    names["main"]()
    torch.compile = plain
"""


def program_text(numbers: range, run: int, constant: float = 0.5) -> str:
    """A program with one hazard for each number: a global that changes between two calls."""
    names = ", ".join(f"SCALE_{n}" for n in numbers)
    drive = "".join(DRIVE.format(n=n) for n in numbers)
    return (
        HEAD
        + "".join(HAZARD.format(n=n, constant=constant + n) for n in numbers)
        + f"\n\n# Run {run}.\ndef main():\n    global {names}\n    x = torch.ones(8, 8)\n{drive}"
    )


def together_text(numbers: range, run: int, *, driven: bool) -> str:
    """A program with one function that captures a global for each number, which `main` changes if it is `driven`."""
    names = [f"SCALE_{n}" for n in numbers]
    return HEAD + TOGETHER.format(
        values="".join(f"{name} = {n}.5\n" for n, name in enumerate(names)),
        terms="".join(TERM.format(n=n) for n in numbers),
        names=", ".join(names),
        names_chained=" = ".join(names),
        run=run,
        drive="".join(f"    {name} = {n}.75\n    step(x, x)\n" for n, name in enumerate(names)) if driven else "",
    )


def found_in(path: Path) -> tuple[Program, list[Suspect]]:
    """A file as a program, and the findings in it that have an experiment."""
    result = check([str(path)], default_settings(str(path.parent)))
    suspects = [s for n, d in enumerate(result.diagnostics) if (s := suspect_of(n, d, RULES, result.read)) is not None]
    program = program_of(str(path), path.read_text(encoding="utf-8"), str(path.parent), {})
    if program is None or not suspects:
        raise RuntimeError(f"no findings in {path}")
    return program, suspects


def written(path: Path, numbers: range, run: int, constant: float = 0.5) -> tuple[Program, list[Suspect]]:
    """Write a program, and find what is in it."""
    path.write_text(program_text(numbers, run, constant), encoding="utf-8")
    return found_in(path)


def processors() -> int:
    """How many processors there are for us."""
    return len(os.sched_getaffinity(0))


class Timings:
    """Wall clocks of one kind, by name."""

    def __init__(self) -> None:
        """Start without any."""
        self._seconds: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float | Clocks) -> None:
        """Remember one, or one of each kind."""
        if isinstance(seconds, Clocks):
            self._seconds.setdefault(f"{name}, confirmed", []).append(seconds.confirmed)
            seconds = seconds.final
        self._seconds.setdefault(name, []).append(seconds)

    def medians(self) -> dict[str, float]:
        """The median of each (s)."""
        return {name: statistics.median(values) for name, values in self._seconds.items()}


class Clocks(NamedTuple):
    """When the last finding of a session was published as confirmed, and when all were final (s)."""

    confirmed: float
    final: float


def verdict(
    agent: Agent, program: Program, suspects: list[Suspect], began: float | None = None, slots: int = 0
) -> Clocks:
    """Run one session, timed from `began` or from now; each of its findings has to come true.

    `slots` of its arms run at a time, if not as many as there are processors.
    """
    began = time.perf_counter() if began is None else began
    first: dict[int, float] = {}

    def on_told(number: int, told: Told) -> None:
        if told.judgement.status is Status.CONFIRMED:
            first.setdefault(number, time.perf_counter() - began)

    told = Session(agent, Limits(slots=slots or processors()), program, on_told).confirm(suspects)
    missed = [s.code for s in suspects if told[s.number].judgement.status is not Status.CONFIRMED]
    if missed:
        raise RuntimeError(f"not confirmed: {missed} in {program.path}")
    return Clocks(max(first.values()), time.perf_counter() - began)


def cold(folder: Path) -> float:
    """The wall clock of a process of its own that does the same, with a filled cache of kernels (s)."""
    code = COLD.format(source=program_text(range(1), 0))
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "kernels")}
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    return time.perf_counter() - began


def bare_fork() -> float:
    """The time that a fork of a warm process takes to an aot_eager answer, by torch_floor.py (s)."""
    command = [sys.executable, str(HERE / "torch_floor.py"), "--skip", "cold-import,compile", "--runs", "1"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = (line.partition(": {") for line in run.stdout.splitlines() if line.startswith("fork: same"))
    return float(json.loads("{" + next(rows)[2])["answer_s"])


def measure(runs: int, folder: Path) -> dict[str, float]:
    """All figures (s)."""
    timings = Timings()
    slots = processors()
    cold(folder)
    floor = bare_fork()
    began = time.perf_counter()
    with Agent(sys.executable, folder, Options(folder / "cache", device="cpu", slots=slots)) as agent:
        agent.wait_ready()
        ready = time.perf_counter() - began
        wait_warm(agent)
        warm = time.perf_counter() - began
        for kind in (one, ten):
            kind(agent, folder, -1, Timings())
        for run in range(runs):
            timings.add("cold", cold(folder))
            one(agent, folder, run, timings)
            ten(agent, folder, run, timings)
    return {"fork": floor, "ready": ready, "warm": warm, **timings.medians()}


def wait_warm(agent: Agent) -> None:
    """Wait until kernels compile fast."""
    with agent.changed:
        agent.changed.wait_for(lambda: agent.state.name == "warm", 60)


def one(agent: Agent, folder: Path, run: int, timings: Timings) -> None:
    """One finding: the whole, the first judgement on the way, a single arm, and all of it with new kernels."""
    program, suspects = written(folder / "one.py", range(1), run)
    timings.add("one", verdict(agent, program, suspects))
    schedule = Schedule(drivers_for(program, suspects[0])[0])
    began = time.perf_counter()
    agent.submit(job_of(program, schedule, "aot_eager", lines=False, device="cpu"), 60).result()
    timings.add("arm", time.perf_counter() - began)
    found = written(folder / "one.py", range(1), run, 100.5 + run)
    timings.add("kernels", verdict(agent, *found))


def ten(agent: Agent, folder: Path, run: int, timings: Timings) -> None:
    """Ten findings of one function, of one program, and of ten."""
    for count in (1, 10):
        for driven in (True, False):
            path = folder / f"together_{count}.py"
            path.write_text(together_text(range(count), run, driven=driven), encoding="utf-8")
            found = found_in(path)
            timings.add(f"{count} {'driven' if driven else 'changed'}", verdict(agent, *found))
    timings.add("ten in one", verdict(agent, *written(folder / "ten.py", range(10), run)))
    programs = [written(folder / f"ten_{n}.py", range(n, n + 1), run) for n in range(10)]
    began = time.perf_counter()
    with ThreadPoolExecutor(max_workers=processors()) as pool:
        clocks = list(pool.map(lambda entry: verdict(agent, *entry, began, slots=1), programs))
    timings.add("ten in ten", Clocks(max(one.confirmed for one in clocks), max(one.final for one in clocks)))


ROWS = (
    ("cold", "a process of its own: import, eager, aot_eager, Inductor (kernels cached)", "cold"),
    ("ready", "agent started, until experiments run", "cold"),
    ("warm", "… until kernels compile fast", "cold"),
    ("one, confirmed", "one finding on a warm agent: confirmed (eager, control, aot_eager)", "cold"),
    ("one", "… final (Inductor too)", "cold"),
    ("kernels", "… final, with new kernels", "cold"),
    (
        "10 driven, confirmed",
        "ten findings of one function, whose state the program changes: confirmed",
        "1 driven, confirmed",
    ),
    ("10 driven", "… final", "1 driven"),
    (
        "10 changed, confirmed",
        "ten findings of one function, whose state the experiment changes: confirmed",
        "1 changed, confirmed",
    ),
    ("10 changed", "… final", "1 changed"),
    ("ten in one, confirmed", "ten findings in ten regions of one program: confirmed", "one, confirmed"),
    ("ten in one", "… final", "one"),
    ("ten in ten, confirmed", "ten findings of ten programs: confirmed", "one, confirmed"),
    ("ten in ten", "… final", "one"),
    ("fork", "bare fork of a warm process to an aot_eager answer", "fork"),
    ("arm", "one aot_eager arm, in its sandbox, observed", "fork"),
)


#: What the bases are called where their name does not say it.
BASES = {
    **dict.fromkeys(("1 driven, confirmed", "1 driven", "1 changed, confirmed", "1 changed"), "one such"),
    "one, confirmed": "one",
}


def table(figures: dict[str, float]) -> str:
    """The figures as a Markdown table."""
    lines = ["| what | s | ratio | to |", "|---|---|---|---|"]
    for name, text, base in ROWS:
        lines.append(
            f"| {text} | {figures[name]:.2f} | {figures[name] / figures[base]:.2f}x | {BASES.get(base, base)} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write bench/results/confirm.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = table(measure(options.runs, Path(folder)))
    print(text, end="")
    if options.write:
        import torch

        head = f"# Verdicts\n\nPython {sys.version.split()[0]}, torch {torch.__version__}, "
        head += f"{processors()} processors, medians of {options.runs} runs (`confirm_latency.py`).\n\n"
        (HERE / "results" / "confirm.md").write_text(head + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
