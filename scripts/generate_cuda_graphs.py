"""Measures what the installed torch captures in CUDA graphs, and writes the table of it.

Run with an environment that has torch: `python scripts/generate_cuda_graphs.py`. Each program of `cuda_graphs` is run
on a GPU; where there is none, on one that is pretended, which needs `g++`, and what only memory tells is left out. The
result is `analysis/nonstrict/knowledge/data/cuda_graphs.json`, and `docs/cuda-graphs.md` for readers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cuda_graphs.measuring import measured
from cuda_graphs.page import page_text
from cuda_graphs.programs import programs
from cuda_graphs.writing import data_text

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "analysis/nonstrict/knowledge/data/cuda_graphs.json"


def main() -> None:
    """Writes both files; with `--only` the data file of the rows whose key begins so alone."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="the data file to write (default: that of the package)")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/cuda-graphs.md")
    parser.add_argument("--only", metavar="PREFIX", help="measure the rows whose key begins so, for --output")
    parser.add_argument("--processes", type=int, help="how many at a time; as many as processors by default")
    options = parser.parse_args()
    version, output = torch.__version__.split("+")[0], options.output or TABLE
    if options.only and output == TABLE:
        parser.error("--only would replace the whole table: say --output FILE")
    if options.output is None and (told := other_version(TABLE, version)):
        parser.error(told)
    rows = [row for row in programs() if row.key.startswith(options.only or "")]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    text = data_text(zip(rows, measured(rows, options.processes), strict=True), version, device)
    output.write_text(text, encoding="utf-8")
    if output == TABLE:
        options.page.write_text(page_text(json.loads(text)), encoding="utf-8")


def other_version(table: Path, version: str) -> str:
    """Why a version of torch does not write to the table unasked: the table is of another one; "" if it may."""
    known = json.loads(table.read_text(encoding="utf-8"))["torch"] if table.exists() else version
    if known == version:
        return ""
    return f"the table is of torch {known}, and this is {version}: say --output FILE, which may be that of the table"


if __name__ == "__main__":
    main()
