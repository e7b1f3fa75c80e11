"""Measures what the installed torch compiles anew when a value changes, and writes the table of it.

Run with an environment that has torch: `python scripts/generate_guards.py`. Each program of the grammar (`guards`) is
run with twelve values under a backend that counts. The result is `analysis/nonstrict/knowledge/data/guards.json`, and
`docs/recompilation.md` for readers. For another torch than the one that these files name, `scripts/take_in.py` runs
this.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from guards import changes, grammar, states
from guards.measuring import measured
from guards.page import page_text
from guards.writing import data_text

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "analysis/nonstrict/knowledge/data/guards.json"


def main() -> None:
    """Writes both files; with `--only` the data file of the rows whose key begins so alone."""
    import torch
    from torch._dynamo import config

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=TABLE, help="the data file to write")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/recompilation.md")
    parser.add_argument("--only", metavar="PREFIX", help="measure the rows whose key begins so, for --output")
    parser.add_argument("--processes", type=int, help="how many at a time; as many as processors by default")
    parser.add_argument("--journal", type=Path, help="a file that keeps what was measured, to go on after an end")
    options = parser.parse_args()
    if options.only and options.output == TABLE:
        parser.error("--only would replace the whole table: say --output FILE")
    rows = [row for row in (*grammar.rows(), *states.rows(), *changes.rows()) if row.key.startswith(options.only or "")]
    counted = measured(rows, options.processes, options.journal)
    text = data_text(zip(rows, counted, strict=True), torch.__version__.split("+")[0], config.recompile_limit)
    options.output.write_text(text, encoding="utf-8")
    if options.output == TABLE:
        options.page.write_text(page_text(json.loads(text)), encoding="utf-8")


if __name__ == "__main__":
    main()
