"""Verdicts on a CUDA GPU: whether they are right, how long they take, and what memory they need.

    python bench/cuda.py [--minutes 8] [--write FILE] [--device cuda] [--isolation auto]
                         [--steps graphs,latency,examples,corpus]

For a machine that is there for minutes only: one command, the most important first, and what is known is written after
each program (`--write`, bench/results/cuda.md without a FILE). A step that does not end in time is stopped, the rest is
named as not run. Without a GPU it says so, and exits with 2. Findings whose program raises in eager mode are counted
apart: they say nothing of verdicts.

graphs    the programs of tests/confirm/on_gpu, each with the verdict that it names: CUDA graphs, NST807 and NST808;
          with an empty cache of kernels, so that the first of them pays for CUDA and Triton, and once more; each in a
          run of its own
latency   one finding: from the start of the agent until experiments run, until it is final with an empty cache of
          kernels, warm, and after an edit that needs new kernels; and each arm of it by itself
examples  the programs of examples/ on the CPU and on the GPU: do their verdicts agree?
corpus    the labelled programs of tests/corpus, in parts, as many as the time allows: is any verdict wrong?

Programs of `examples` and `corpus` name no device: they get `torch.set_default_device("cuda")` behind their first
import of torch. `--device cpu` rehearses all of it without a GPU. Memory is what `nvidia-smi` says of the first GPU,
above what was taken before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests/confirm/on_gpu/programs"
RESULTS = ROOT / "bench/results/cuda.md"
NO_GPU = "bench/cuda.py: torch finds no CUDA GPU here, so nothing was measured (--device cpu rehearses it on the CPU)"
STEPS = ("graphs", "latency", "examples", "corpus")
#: Programs of the corpus in one run, and the least time that is worth beginning another one (s).
PART, LEAST = 12, 40.0
_RAISES = "eager-raises"
_EXPECTED = re.compile(r"^# expected: (NST\d+) (\w+)$", re.MULTILINE)
_IMPORT = re.compile(r"^import torch$", re.MULTILINE)


class Found(NamedTuple):
    """A finding with its verdict."""

    file: str
    row: int
    code: str
    verdict: dict[str, Any]

    @property
    def is_raised(self) -> bool:
        """Whether the program raises in eager mode."""
        return self.verdict["reason"] == _RAISES

    @property
    def status(self) -> str:
        """The verdict in a word, an inconclusive one with its reason."""
        reason = self.verdict["reason"]
        return f"{self.verdict['status']}: {reason}" if reason else str(self.verdict["status"])


class Target(NamedTuple):
    """Where programs run: on which device, in which sandbox."""

    device: str
    isolation: str = "auto"


class Run(NamedTuple):
    """How long a run took (s), how much memory of the GPU it needed (MiB, None if unknown), and its findings."""

    seconds: float
    memory: int | None
    found: tuple[Found, ...]


class Budget:
    """The time that is left."""

    def __init__(self, seconds: float) -> None:
        """It begins now."""
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """So many seconds."""
        return self._end - time.monotonic()


class Memory(threading.Thread):
    """The most memory of the first GPU that is taken while it runs, above what was at first (MiB)."""

    _COMMAND = ("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0")

    def __init__(self) -> None:
        """Nothing is asked yet."""
        super().__init__(daemon=True)
        self._done = threading.Event()
        self._first = self._used()
        self.peak = self._first

    def run(self) -> None:
        """Ask again and again."""
        while self.peak is not None and not self._done.wait(0.25):
            self.peak = max(self.peak, self._used() or 0)

    def ended(self) -> int | None:
        """Ask no more; None if nobody answered."""
        self._done.set()
        return None if self.peak is None or self._first is None else self.peak - self._first

    def _used(self) -> int | None:
        try:
            told = subprocess.run(self._COMMAND, capture_output=True, text=True, check=True, timeout=10).stdout
            return int(told.split()[0])
        except (OSError, subprocess.SubprocessError, ValueError, IndexError):
            return None


def confirmed(paths: Sequence[Path], target: Target, cache: Path, seconds: float) -> Run:
    """Confirm what is found in some files, with a cache of kernels of its own.

    Raises:
        subprocess.TimeoutExpired: it takes too long.
    """
    command = [sys.executable, "-m", "nonstrict", "check", "--confirm", "--isolated", "--no-cache", "--exit-zero", "-q"]
    command += ["--python", sys.executable, "--device", target.device, "--isolation", target.isolation]
    command += ["--output-format", "json", *map(str, paths)]
    memory = Memory()
    memory.start()
    began = time.perf_counter()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=seconds, env=environment)
    finally:
        taken = memory.ended()
    found = (one for one in json.loads(done.stdout) if one["verdict"])
    kept = (Found(Path(f["filename"]).name, f["location"]["row"], f["code"], f["verdict"]) for f in found)
    return Run(time.perf_counter() - began, taken, tuple(kept))


def placed(paths: Iterable[Path], folder: Path, device: str) -> list[Path]:
    """Copies of programs that make their tensors on a device; lines stay where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        line = f'import torch; torch.set_default_device("{device}")'
        copy = folder / path.name
        copy.write_text(_IMPORT.sub(line, text, count=1) if device != "cpu" else text, encoding="utf-8")
        made.append(copy)
    return made


# -- the steps -----------------------------------------------------------------------------------------------------


def each(paths: Iterable[Path], target: Target, cache: Path, budget: Budget) -> Iterator[tuple[Path, Run]]:
    """The runs of programs, one after the other: where the time ends, what was found before is known."""
    for path in paths:
        yield path, confirmed([path], target, cache, budget.left)


def joined(runs: Iterable[Run]) -> Run:
    """All of some runs."""
    made = [*runs]
    taken = [run.memory for run in made if run.memory is not None]
    found = tuple(one for run in made for one in run.found)
    return Run(sum(run.seconds for run in made), max(taken, default=None), found)


def graphs(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
    """The programs with CUDA graphs."""
    paths = sorted(PROGRAMS.glob("*.py"))
    yield "| program | finding | expected | verdict | evidence | s |\n|---|---|---|---|---|---|\n"
    wrong, raised, runs = 0, 0, list[Run]()
    for path, run in each(paths, target, folder / "graphs", budget):
        runs.append(run)
        for code, status in _EXPECTED.findall(path.read_text(encoding="utf-8")):
            one = next((f for f in run.found if f.code == code), None)
            told = ("not found", "", 0.0) if one is None else (one.status, one.verdict["evidence"], _seconds(one))
            is_raised = one is not None and one.is_raised
            raised, wrong = raised + is_raised, wrong + (told[0] != status and not is_raised)
            yield f"| {path.stem} | {code} | {status} | {told[0]} | {_cell(told[1])} | {told[2]:.1f} |\n"
    cold = joined(runs)
    yield f"\n{wrong} of them not as expected{_raised(raised)}; "
    yield f"{cold.seconds:.0f} s with an empty cache of kernels{_memory(cold)}.\n"
    if budget.left > cold.seconds:
        warm = joined(run for _, run in each(paths, target, folder / "graphs", budget))
        yield f"Once more, with a filled one: {warm.seconds:.0f} s{_memory(warm)}.\n"


def latency(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
    """One finding, cold and warm."""
    from confirm_latency import found_in, program_text

    from nonstrict.confirm.arms import Limits
    from nonstrict.confirm.client import Agent, Options
    from nonstrict.confirm.programs import EAGER, Schedule, drivers_for, job_of
    from nonstrict.confirm.session import Session

    path, device = folder / "one.py", target.device

    def verdict(agent: Agent, run: int, constant: float) -> float:
        path.write_text(program_text(range(1), run, constant), encoding="utf-8")
        placed([path], folder, device)
        program, suspects = found_in(path)
        began = time.perf_counter()
        told = Session(agent, Limits(device=device), program).confirm(suspects)
        took = time.perf_counter() - began
        missed = [f"{s.code}: {told[s.number].judgement[:3]}" for s in suspects if told[s.number].judgement.reason]
        if missed:
            raise RuntimeError(f"not confirmed: {missed}")
        return took

    began = time.perf_counter()
    cache = folder / "agent"
    cache.mkdir()
    with Agent(sys.executable, folder, Options(cache, device=device, slots=2, isolation=target.isolation)) as agent:
        agent.wait_ready(budget.left)
        yield "| one finding | s |\n|---|---|\n"
        yield f"| agent started, until experiments run | {time.perf_counter() - began:.2f} |\n"
        yield f"| verdict with an empty cache of kernels | {verdict(agent, 0, 0.5):.2f} |\n"
        yield f"| … warm (median of 3) | {statistics.median(verdict(agent, run, 0.5) for run in (1, 2, 3)):.2f} |\n"
        new = [verdict(agent, run, 100.5 + run) for run in (4, 5)]
        yield f"| … with new kernels (median of 2) | {statistics.median(new):.2f} |\n"
        program, suspects = found_in(path)
        schedule = Schedule(drivers_for(program, suspects[0])[0])
        for backend in (EAGER, "aot_eager", "inductor"):
            result = agent.submit(job_of(program, schedule, backend, lines=False, device=device), 60).result()
            yield f"| the arm {backend} by itself | {result.seconds:.2f} |\n"


def examples(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
    """The examples on both devices."""
    paths = sorted((ROOT / "examples").glob("*.py"))
    runs: list[Run] = []
    yield "Verdicts:\n\n"
    for path, run in each(placed(paths, folder / "examples", target.device), target, folder / "kernels", budget):
        runs.append(run)
        yield f"- `{path.name}`, {run.seconds:.0f} s: {_counted(run.found) or 'no finding'}\n"
    there = joined(runs)
    took = f"in {there.seconds:.0f} s{_memory(there)}"
    yield f"\n{len(there.found)} verdicts on {target.device} {took}: {_counted(there.found)}.\n"
    if budget.left < there.seconds:
        yield "There was no time to compare them with those of the CPU.\n"
        return
    here = confirmed(paths, target._replace(device="cpu"), folder / "kernels", budget.left)
    yield from unlike(here, there)


def unlike(here: Run, there: Run) -> Iterator[str]:
    """The verdicts of the CPU and of another device that are not the same."""
    own = {(one.file, one.row, one.code): one for one in there.found}
    pairs = [(one, own.get(one[:3])) for one in here.found]
    compared = [(one, other) for one, other in pairs if other is None or one.is_raised or not other.is_raised]
    differing = [(one, other) for one, other in compared if other is None or other.status != one.status]
    same = f"{len(compared) - len(differing)} of {len(compared)}"
    yield f"{same} are those of the CPU, which took {here.seconds:.0f} s{_raised(len(pairs) - len(compared))}.\n"
    for one, other in differing:
        told = "no finding" if other is None else f"{other.status} ({_cell(other.verdict['evidence'])})"
        yield f"- `{one.file}:{one.row}` {one.code}: {one.status} on the CPU, {told} there\n"


def corpus(target: Target, folder: Path, budget: Budget) -> Iterator[str]:
    """As much of the corpus as there is time for, spread over all of it."""
    sys.path.insert(0, str(ROOT))
    from tests.corpus.score import labels_of

    paths = sorted((ROOT / "tests/corpus/cases").glob("*.py"))
    step = -(-len(paths) // PART)
    statuses: Counter[str] = Counter()
    done, seconds, longest = 0, 0.0, LEAST
    for first in range(step):
        part = paths[first::step]
        if budget.left < 1.2 * longest:
            break
        programs = placed(part, folder / f"part{first}", target.device)
        try:
            run = confirmed(programs, target, folder / "kernels", budget.left)
        except subprocess.TimeoutExpired:
            yield "The last part did not end in time.\n"
            break
        done, seconds, longest = done + len(part), seconds + run.seconds, max(run.seconds, 10.0)
        statuses.update(one.status for one in run.found)
        for one in run.found:
            expected, _, truth = labels_of(ROOT / "tests/corpus/cases" / one.file)
            if wrong(one, truth, labelled=one.code in expected.get(one.row, ())):
                yield f"- wrong: `{one.file}:{one.row}` {one.code}: {one.status} ({_cell(one.verdict['evidence'])})\n"
    told = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    yield f"{done} of {len(paths)} programs in {seconds:.0f} s: {told or 'no time for any'}.\n"


def wrong(one: Found, truth: dict[str, str], *, labelled: bool) -> bool:
    """Whether a verdict contradicts what a program was seen to do, as in tests/corpus/test_verdicts.py."""
    if one.code in {"NST803", "NST804"} or not truth:
        return False
    harmless, harmful = set(truth.values()) == {"same"}, "same" not in truth.values() and labelled
    return (harmless and one.status == "confirmed") or (harmful and one.status == "refuted")


def _seconds(one: Found) -> float:
    return float(one.verdict.get("seconds") or 0.0)


def _counted(found: Iterable[Found]) -> str:
    return ", ".join(f"{count} {status}" for status, count in Counter(one.status for one in found).most_common())


def _raised(number: int) -> str:
    return f", {number} more raise in eager mode" if number else ""


def _memory(run: Run) -> str:
    return "" if run.memory is None else f", at most {run.memory:,} MiB of the GPU"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:160]


# -- one command ---------------------------------------------------------------------------------------------------

_RUN: dict[str, Callable[[Target, Path, Budget], Iterator[str]]] = {
    "graphs": graphs,
    "latency": latency,
    "examples": examples,
    "corpus": corpus,
}


def report(steps: Sequence[str], target: Target, budget: Budget, write: Callable[[str], None]) -> None:
    """Run the steps, and write what is known after each line of them."""
    text = ""
    with tempfile.TemporaryDirectory() as name:
        for step in steps:
            folder = Path(name, step)
            folder.mkdir()
            text += f"\n## {step}\n\n"
            if budget.left < LEAST:
                text += "Not run: there was no time left.\n"
                write(text)
                continue
            try:
                for line in _RUN[step](target, folder, budget):
                    text += line
                    write(text)
            except subprocess.TimeoutExpired:
                text += "\nStopped: it did not end in time.\n"
            except subprocess.CalledProcessError as error:
                text += f"\nFailed with status {error.returncode}: {_cell(str(error.stderr)[-400:])}\n"
            except Exception as error:  # noqa: BLE001 - the other steps are run all the same
                text += f"\nFailed: {type(error).__name__}: {_cell(str(error))}\n"
            write(text)


def head(target: Target) -> str:
    """What it was measured on."""
    import torch

    device = target.device
    gpu = f", {torch.cuda.get_device_name(0)}, {torch.cuda.device_count()} GPU(s)" if device == "cuda" else ""
    versions = f"Python {sys.version.split()[0]}, torch {torch.__version__}{gpu}, {os.cpu_count()} processors"
    return f"# Verdicts on a GPU\n\n{versions} (`bench/cuda.py --device {device} --isolation {target.isolation}`).\n"


def main() -> int:
    """Measure, and write as it goes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=8.0, help="stop after so many (default: 8)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--isolation", choices=("auto", "copy-on-write", "deny", "none"), default="auto")
    parser.add_argument("--steps", default=",".join(STEPS), help=f"which, in which order (default: {','.join(STEPS)})")
    parser.add_argument("--write", nargs="?", type=Path, const=RESULTS, help="a file (default: bench/results/cuda.md)")
    options = parser.parse_args()
    budget = Budget(60 * options.minutes)
    steps = [step for step in options.steps.split(",") if step]
    if unknown := set(steps) - set(STEPS):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    if not has_gpu(options.device):
        print(NO_GPU, file=sys.stderr)
        return 2
    target = Target(options.device, options.isolation)
    before = head(target)

    def write(text: str) -> None:
        if options.write:
            shown = options.write.with_suffix(".tmp")
            shown.write_text(before + text, encoding="utf-8")
            shutil.move(shown, options.write)

    written: list[str] = []
    report(steps, target, budget, lambda text: (written.append(text), write(text))[1])
    print(before + (written[-1] if written else ""), end="")
    return 0


def has_gpu(device: str) -> bool:
    """Whether there is what is to be measured."""
    if device != "cuda":
        return True
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


if __name__ == "__main__":
    raise SystemExit(main())
