"""What `nonstrict record` costs: per call of a marked function, and for a program with compiled regions.

    python bench/recording.py [--runs 5] [--calls 1000000] [--functions 50] [--seconds 100] [--steps 2000] [--write]

passed    a call that is not examined any more: `--calls` calls of a function of which enough is known
examined  one of the first eight calls of a function, each of which is examined; `--functions` functions
limit     a function whose examination takes long, called for `--seconds`: the processor time that examinations take
program   a process that trains a compiled module for `--steps` steps, in turns: as it is, with TORCH_TRACE, with
          `nonstrict record` (which sets TORCH_TRACE), and with `nonstrict record --eager`

The programs measure themselves, in processes of their own. The first three are run as they are and under
`nonstrict record --eager`, so that torch compiles nothing, and the difference is the cost. Times are of the processor
where other work on the machine would count. With --write the tables go
to bench/results/recording.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = (sys.executable, "-m", "nonstrict", "record", "--isolated", "-q")

PASSED = """
import time
import torch

@torch._dynamo.allow_in_graph
def same(x):
    return x

x = torch.ones(2, 8)
# One call is enough to know (`--limit 1`).
same(x)
best = float("inf")
for _ in range(20):
    began = time.process_time()
    for _ in range({calls} // 20):
        same(x)
    best = min(best, time.process_time() - began)
tell(seconds=best / ({calls} // 20))
"""
#: By what they are given: the arguments of the functions that are examined.
GIVEN = {
    "two small tensors": "torch.ones(2, 8), torch.ones(8, 2)",
    "two tensors of a million floats": "torch.ones(1000, 1000), torch.ones(1000, 1000)",
    "a tensor of a million integers": "torch.arange(1_000_000)",
    "a dict of fifty small tensors": "dict((str(n), torch.ones(4)) for n in range(50))",
    "a module of fifty layers": "torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(50)))",
}
EXAMINED = """
import time
import torch

{functions}

given = {given}
given = given if isinstance(given, tuple) else (given,)
# What the recorder imports is imported with the first call.
f0(*given)
took = []
for function in [{names}]:
    for _ in range(8):
        began = time.perf_counter()
        function(*given)
        took.append(time.perf_counter() - began)
took.sort()
tell(seconds=took[len(took) // 2])
"""
FUNCTION = """
@torch._dynamo.allow_in_graph
def f{n}(*args):
    return None
"""
LIMIT = """
import time
import torch

@torch._dynamo.allow_in_graph
def slow(x):
    return None

x = torch.arange({integers})
slow(x)
began = time.perf_counter()
took = []
while time.perf_counter() - began < {seconds}:
    time.sleep(0.002)
    now, start = time.perf_counter(), time.process_time()
    slow(x)
    took.append((now - began, time.process_time() - start))
# Nothing but an examination takes a hundredth of a second.
examined = sorted(one for _, one in took if one > 0.01)
tell(
    calls=len(took),
    examined=len(examined),
    each=examined[len(examined) // 2] if examined else 0.0,
    early=sum(one for when, one in took if when <= {seconds} / 2),
    late=sum(one for when, one in took if when > {seconds} / 2),
)
"""
PROGRAM = """
import time
import torch

torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(128, 128) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.nn.functional.gelu(layer(x)) + x
        return x


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
step = torch.compile(model)


def train(count):
    for number in range(count):
        x = torch.ones(16 + 16 * (number % 2), 128)
        loss = step(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


before = time.process_time()
train(4)
warm = time.process_time()
train({steps})
tell(first=warm - before, step=(time.process_time() - warm) / {steps})
"""
#: A program says what it measured by this.
TELL = """
def tell(**told):
    import json, os
    with open(os.environ["BENCH_TOLD"], "w") as file:
        json.dump(told, file)
"""


def told(text: str, folder: Path, *record: str, environment: dict[str, str] | None = None) -> dict[str, float]:
    """Run a program, below `nonstrict record` with some options if there are any.

    What it measured, and the wall and processor time of it and of what records it.
    """
    path, answer = folder / "program.py", folder / "told.json"
    path.write_text(TELL + text, encoding="utf-8")
    answer.unlink(missing_ok=True)
    command = [*((*RECORD, *record, "--") if record else ()), sys.executable, path.name]
    began, before = time.perf_counter(), processor_time()
    whole = {**os.environ, "BENCH_TOLD": str(answer), **(environment or {})}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=whole)
    spent = {"process": time.perf_counter() - began, "processor": processor_time() - before}
    return {**json.loads(answer.read_text(encoding="utf-8")), **spent}


def processor_time() -> float:
    """What all processes that have ended spent (s)."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def extra(text: str, folder: Path, runs: int, *record: str) -> tuple[float, float]:
    """What recording adds to the seconds that a program tells, and its seconds without: medians of runs in turns."""
    plain, recorded = list[float](), list[float]()
    for _ in range(runs):
        plain.append(told(text, folder)["seconds"])
        recorded.append(told(text, folder, *record)["seconds"])
    return statistics.median(recorded) - statistics.median(plain), statistics.median(plain)


def calls(folder: Path, runs: int, count: int, functions: int) -> str:
    """The table of what one call costs more."""
    lines = ["| call of a marked function | added | without recording |", "|---|---|---|"]
    added, plain = extra(PASSED.format(calls=count), folder, runs, "--eager", "--limit", "1")
    lines.append(f"| not examined | {added * 1e6:.2f} µs | {plain * 1e6:.2f} µs |")
    defined = "".join(FUNCTION.format(n=n) for n in range(functions + 1))
    names = ", ".join(f"f{n}" for n in range(1, functions + 1))
    for name, given in GIVEN.items():
        text = EXAMINED.format(functions=defined, given=given, names=names)
        added, plain = extra(text, folder, runs, "--eager")
        lines.append(f"| examined: {name} | {added * 1e3:.2f} ms | {plain * 1e3:.3f} ms |")
    return "\n".join(lines) + "\n"


def limit(folder: Path, seconds: float, integers: int) -> str:
    """What the examinations of a function take of the time, of the first half of a program and of the second."""
    found = told(LIMIT.format(integers=integers, seconds=seconds), folder, "--eager")
    half = seconds / 2
    return (
        f"A function whose examination takes {found['each']:.2f} s, called {found['calls']:,.0f} times in "
        f"{seconds:.0f} s: {found['examined']:.0f} calls were examined. Calls took {found['early']:.2f} s of processor "
        f"time in the first {half:.0f} s ({100 * found['early'] / half:.1f} %) and {found['late']:.2f} s in the other "
        f"{half:.0f} s ({100 * found['late'] / half:.1f} %). The limit is one second, and 2 % of the time from the "
        "fiftieth second on.\n"
    )


def program(folder: Path, runs: int, steps: int) -> str:
    """The table of a program with a compiled region, as it is and recorded in several ways."""
    text = PROGRAM.format(steps=steps)
    cases: dict[str, list[dict[str, float]]] = {
        "as it is": [], "with `TORCH_TRACE`": [], "`nonstrict record`": [], "`nonstrict record --eager`": []
    }  # fmt: skip
    told(text, folder)
    for _ in range(runs):
        cases["as it is"].append(told(text, folder))
        with tempfile.TemporaryDirectory() as traces:
            cases["with `TORCH_TRACE`"].append(told(text, folder, environment={"TORCH_TRACE": traces}))
        cases["`nonstrict record`"].append(told(text, folder, "--compiled"))
        cases["`nonstrict record --eager`"].append(told(text, folder, "--eager"))
    medians = {
        name: {key: statistics.median(one[key] for one in several) for key in several[0]}
        for name, several in cases.items()
    }
    return _program_table(medians)


def _program_table(medians: dict[str, dict[str, float]]) -> str:
    base = medians["as it is"]
    lines = [
        "| program | first 4 steps | each later step | the whole command | the same on the clock |",
        "|---|---|---|---|---|",
    ]
    for name, one in medians.items():
        cells = (
            f"{one['first']:.2f} s, {one['first'] / base['first']:.2f}x",
            f"{one['step'] * 1e3:.2f} ms, {one['step'] / base['step']:.2f}x",
            f"{one['processor']:.2f} s, {one['processor'] / base['processor']:.2f}x",
            f"{one['process']:.2f} s, {one['process'] / base['process']:.2f}x",
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(options: argparse.Namespace) -> str:
    """Everything, measured and told."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        call = calls(folder, options.runs, options.calls, options.functions)
        most = limit(folder, options.seconds, options.integers)
        whole = program(folder, options.runs, options.steps)
    return (
        "# The cost of `nonstrict record`\n\n"
        f"Written by `bench/recording.py`: Python {platform.python_version()}, torch {version('torch')}, "
        f"{len(os.sched_getaffinity(0))} processors, load {load:.1f} when it began, medians of {options.runs} "
        "runs in turns.\n\n"
        f"## One call\n\n{call}\n"
        f"## Limit of examinations\n\n{most}\n"
        "## A program with a compiled region\n\n"
        f"Four layers, two sizes of batches, compiled with Inductor (kernels cached), {options.steps:,} steps. "
        "Times are of the processor, those of the last column are on the clock.\n\n"
        f"{whole}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--functions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--integers", type=int, default=100_000_000, help="the size of what takes long to examine")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--write", action="store_true", help="write bench/results/recording.md")
    text = page(options := parser.parse_args())
    sys.stdout.write(text)
    if options.write:
        (HERE / "results" / "recording.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
