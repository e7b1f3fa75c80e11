"""Measures which constructs break the graph on the installed torch and writes the table of them.

Run with an environment that has torch: `python scripts/generate_graph_breaks.py`. Every construct is compiled with
`torch.compile(fullgraph=True, backend="eager")`, each in a process of its own. The result is
`analysis/nonstrict/knowledge/data/graph_breaks.json`, and `docs/graph-breaks.md` for readers. `--pieces` measures what
the constructs do where the graph may break, once the table of the same torch is there. For another torch than the one
that these files name, `scripts/take_in.py` runs this.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from graph_breaks.measuring import measured
from graph_breaks.page import page_text
from graph_breaks.pieces import measured_in_pieces, pieces_text
from graph_breaks.reading import read_constructs
from graph_breaks.sweep import swept
from graph_breaks.writing import data_text, whole

from nonstrict.knowledge.releases import release_of

if TYPE_CHECKING:
    from graph_breaks.reading import Construct

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "analysis/nonstrict/knowledge/data/graph_breaks.json"
PIECES = TABLE.with_name("graph_breaks_in_pieces.json")


def main() -> None:
    """Writes both files, or with `--only` the data file of the named keys alone."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="the data file to write")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/graph-breaks.md")
    parser.add_argument("--only", nargs="+", metavar="KEY", help="measure these keys, for --output; writes no page")
    parser.add_argument("--pieces", action="store_true", help="measure where the graph may break; no page")
    parser.add_argument("--processes", type=int, help="how many at a time; as many as processors by default")
    parser.add_argument("--journal", type=Path, help="a file that keeps what was measured, to go on after an end")
    options = parser.parse_args()
    if options.only and options.output is None:
        parser.error("--only would replace the whole table: say --output FILE")
    constructs = read_constructs()
    constructs += swept({construct.key for construct in constructs})
    if options.only:
        constructs = [construct for construct in constructs if construct.key in options.only]
    if options.pieces:
        _write_pieces(constructs, options)
        return
    verdicts = measured(constructs, options.processes, options.journal)
    version = torch.__version__.split("+")[0]
    (options.output or TABLE).write_text(data_text(verdicts, version), encoding="utf-8")
    if options.output is None:
        options.page.write_text(page_text(verdicts, constructs, version), encoding="utf-8")


def _write_pieces(constructs: list[Construct], options: argparse.Namespace) -> None:
    import torch

    version = torch.__version__.split("+")[0]
    base = whole(release_of(version))
    if base["torch"] != version:
        raise SystemExit(f"there is no table of graph breaks with torch {version} yet: measure it first")
    text = pieces_text(measured_in_pieces(constructs, options.processes, options.journal), constructs, base, version)
    (options.output or PIECES).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
