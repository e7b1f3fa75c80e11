"""Measures which uses of data-dependent sizes and numbers fail to compile, and where nonstrict says something else.

Run with an environment that has torch: `python scripts/measure_unbacked.py --seed 7`. The bodies are composed of
`scripts/unbacked/grammar.py`, and depend on the seed alone. `--output` keeps what was measured, `--measured` compares
with that again without compiling.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from unbacked.asking import reported
from unbacked.bodies import Body, sample
from unbacked.measuring import Verdict, measured


def main() -> None:
    """Prints every body of which nonstrict and torch think differently, and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--backend", default="aot_eager")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=Path, help="keep what was measured in this file")
    parser.add_argument("--measured", type=Path, help="compare with what was kept")
    options = parser.parse_args()
    if options.measured:
        kept = json.loads(options.measured.read_text(encoding="utf-8"))
        rows = [(Body(*body), Verdict(*verdict)) for body, verdict in kept]
    else:
        bodies = sample(options.seed, options.count)
        rows = list(zip(bodies, measured(bodies, options.backend, options.processes), strict=True))
    if options.output:
        options.output.write_text(json.dumps(rows, indent=0), encoding="utf-8")
    compare([(body, verdict) for body, verdict in rows if verdict.outcome in ("agrees", "fails", "differs")])


def compare(rows: list[tuple[Body, Verdict]]) -> None:
    """Prints where the two differ, and the numbers."""
    missed = false = 0
    for (body, verdict), errors in zip(rows, reported([body for body, _ in rows]), strict=True):
        if bool(errors) == (verdict.outcome != "agrees"):
            continue
        missed += not errors
        false += bool(errors)
        print(f"{'false' if errors else 'missed'} ({body.wrapper})")
        print("    " + f"{body.source}\n{body.rest}".replace("\n", "\n    "))
        print(f"  {errors[0] if errors else verdict.message}\n")
    failing = sum(verdict.outcome != "agrees" for _, verdict in rows)
    print(f"{len(rows)} bodies, {failing} fail: {missed} missed, {false} false")


if __name__ == "__main__":
    main()
