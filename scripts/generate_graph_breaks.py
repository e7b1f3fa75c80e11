"""Measures which constructs break the graph on the installed torch and writes the table of them.

Run with an environment that has torch: `python scripts/generate_graph_breaks.py`. Every construct is compiled with
`torch.compile(fullgraph=True, backend="eager")`, each in a process of its own. The result is
`analysis/nonstrict/knowledge/data/graph_breaks.json`, and `docs/graph-breaks.md` for readers.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from graph_breaks.measuring import measured
from graph_breaks.page import page_text
from graph_breaks.reading import read_constructs
from graph_breaks.sweep import swept
from graph_breaks.writing import data_text

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Writes both files, or with `--only` the data file of the named keys alone."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "analysis/nonstrict/knowledge/data/graph_breaks.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/graph-breaks.md")
    parser.add_argument("--only", nargs="+", metavar="KEY", help="measure these keys; writes no page")
    parser.add_argument("--processes", type=int, help="how many at a time; as many as processors by default")
    options = parser.parse_args()
    constructs = read_constructs()
    constructs += swept({construct.key for construct in constructs})
    if options.only:
        constructs = [construct for construct in constructs if construct.key in options.only]
    verdicts = measured(constructs, options.processes)
    version = torch.__version__.split("+")[0]
    text = data_text(verdicts, version)
    json.loads(text)
    options.output.write_text(text, encoding="utf-8")
    if not options.only:
        options.page.write_text(page_text(verdicts, constructs, version), encoding="utf-8")


if __name__ == "__main__":
    main()
