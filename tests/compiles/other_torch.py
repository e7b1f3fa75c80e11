"""Holds what is recorded of programs against another torch: `python -m tests.compiles.other_torch PYTHON`.

PYTHON is an interpreter with the torch in question. The programs are the cases of `tests/corpus`, whose recorded truth
is that of torch 2.13, and the examples in the documentation of the rules. Each runs as plain Python, then with both
backends; what differs from the record is printed, one line a program and backend. No test: it takes a quarter of an
hour, and what it prints is for people to judge.
"""

# ruff: noqa: T201 -- what it prints is its result

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.rules.examples import examples

CASES = Path(__file__).parents[1] / "corpus" / "cases"
BACKENDS = ("aot_eager", "inductor")
SECONDS = 120
_GRADIENT = re.compile(r",? ?grad_fn=<\w+>")


class Program(NamedTuple):
    """A program, and what is recorded of it by backend: same, silent-wrong, effect-lost, error, or wrong for any."""

    name: str
    source: str
    recorded: dict[str, str]


def programs() -> list[Program]:
    """The cases of the corpus with a recorded truth, and the examples of all rules."""
    found: list[Program] = []
    for path in sorted(CASES.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        truth = re.search(r"truth:\s*(.*)", source)
        if truth is not None:
            found.append(Program(path.stem, source, dict(re.findall(r"(\w+)=([\w-]+)", truth.group(1)))))
    for example in examples():
        source = example.case.files.get("main.py", "")
        if "def main()" in source:
            found.append(Program(example.name, source, dict.fromkeys(BACKENDS, "same" if example.good else "wrong")))
    return found


def ran(python: str, chosen: list[Program], backends: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """What the programs print and raise, by `NAME-BACKEND`; one process imports torch for all."""
    jobs = [
        {"id": f"{program.name}-{backend}", "source": program.source, "backend": backend, "seconds": SECONDS}
        for program in chosen
        for backend in ("python", *backends)
    ]
    command = [python, str(Path(__file__).with_name("run_programs.py"))]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout)


def outcome(plain: dict[str, str], compiled: dict[str, str]) -> str:
    """What became of a program when it was compiled: same, error or differs; raising as plain Python does is an error.

    The names of gradient functions say nothing: compiled ones have their own.
    """
    if compiled["error"]:
        return "error"
    printed = (_GRADIENT.sub("", result["output"]) for result in (plain, compiled))
    return "same" if len(set(printed)) == 1 and not plain["error"] else "differs"


def agrees(recorded: str, found: str) -> bool:
    """Whether an outcome is the recorded one."""
    return found == recorded or (found == "differs" and recorded in {"silent-wrong", "effect-lost"})


def told(program: Program, backends: tuple[str, ...], results: dict[str, dict[str, str]]) -> list[str]:
    """A line for each backend on which a program does not do what is recorded of it."""
    plain = results[f"{program.name}-python"]
    found = {backend: outcome(plain, results[f"{program.name}-{backend}"]) for backend in backends}
    if "wrong" in program.recorded.values():
        unseen = set(found.values()) == {"same"}
        return [f"{program.name}: goes wrong no more"] if unseen else []
    return [
        f"{program.name} {backend}: {program.recorded[backend]} -> {result} "
        f"{results[f'{program.name}-{backend}']['error'][:160]}".rstrip()
        for backend, result in found.items()
        if backend in program.recorded and not agrees(program.recorded[backend], result)
    ]


def main() -> None:
    """Run everything with the interpreter, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("python", help="an interpreter with torch")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=list(BACKENDS))
    parser.add_argument("--only", metavar="REGEX", default="", help="programs whose name holds a match")
    options = parser.parse_args()
    backends = tuple(options.backends)
    chosen = [program for program in programs() if re.search(options.only, program.name)]
    results = ran(options.python, chosen, backends)
    lines = [line for program in chosen for line in told(program, backends, results)]
    print("\n".join(lines))
    print(f"{len(chosen)} programs, {len(lines)} differences")


if __name__ == "__main__":
    main()
