"""Run the property tests with fresh seeds until the time is over, and print the counter-examples.

    python scripts/fuzz.py --minutes 10 [TEST ...]

Exit status: 0 if every property held, 1 otherwise. One process at a time; a test that the end of the time cuts off
counts for nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", "--durations=0"]
#: Of pytest's output on a failure, so many of the last lines are shown.
SHOWN = 120


def main() -> int:
    """Draw until the time is over."""
    parser = argparse.ArgumentParser(description="Run the property tests with fresh seeds.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("tests", nargs="*", default=["tests"], help="what to run (default: all property tests)")
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60
    tests = _properties(options.tests)
    if not tests:
        print("No property tests there.", file=sys.stderr)
        return 1
    chance = random.SystemRandom()
    failed: dict[str, int] = {}
    runs = 0
    while time.monotonic() < end:
        for test in chance.sample(tests, len(tests)):
            seed = chance.getrandbits(32)
            left = end - time.monotonic()
            held = _held(test, seed, left) if left > 0 else None
            runs += held is not None
            if held is False:
                failed[test] = seed
    print(f"{runs:,} runs of {len(tests)} property tests; {len(failed)} failed.")
    for test, seed in sorted(failed.items()):
        print(f"  pytest {test} --hypothesis-profile=fuzz --hypothesis-seed={seed}")
    return 1 if failed else 0


def _properties(places: list[str]) -> list[str]:
    """The property tests, as names that pytest takes."""
    command = [*PYTEST, "-m", "hypothesis", "--collect-only", *places]
    listed = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if "::" in line]


def _held(test: str, seed: int, left: float) -> bool | None:
    """Whether a property held for a seed; None if the time was over before that was known."""
    command = [*PYTEST, "--tb=short", "--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", test]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False, timeout=left
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == 0:
        return True
    lines = (done.stdout + done.stderr).splitlines()
    print(f"{test} with seed {seed}:", *lines[-SHOWN:], "", sep="\n", flush=True)
    return False


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


if __name__ == "__main__":
    sys.exit(main())
