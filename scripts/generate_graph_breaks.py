"""Measures which constructs break the graph on the installed torch and writes the table of them.

Run with an environment that has torch: `python scripts/generate_graph_breaks.py`. Every construct is compiled with
`torch.compile(fullgraph=True, backend="eager")`, each in a process of its own. The result is
`analysis/nonstrict/knowledge/data/graph_breaks.json`, and `docs/graph-breaks.md` for readers. For a newer torch,
`--changes` measures the keys of that table again and writes `graph_breaks-VERSION.json` beside it: what gives another
answer. `--pieces` measures what the constructs do where the graph may break, for a newer torch after its changes.
`nonstrict.knowledge.graph_breaks` lists the versions.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from graph_breaks.measuring import measured
from graph_breaks.page import page_text
from graph_breaks.pieces import measured_in_pieces, pieces_text
from graph_breaks.reading import read_constructs
from graph_breaks.sweep import swept
from graph_breaks.writing import changed, changes_text, data_text

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
    parser.add_argument("--changes", action="store_true", help="write only what differs from the table; no page")
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
    text = data_text(verdicts, version)
    table = json.loads(text)
    if options.changes:
        text = changes_text(table, json.loads(TABLE.read_text(encoding="utf-8")))
    name = f"{TABLE.stem}-{_release(version)}.json" if options.changes else TABLE.name
    (options.output or TABLE.with_name(name)).write_text(text, encoding="utf-8")
    if not options.only and not options.changes:
        options.page.write_text(page_text(verdicts, constructs, version), encoding="utf-8")


def _write_pieces(constructs: list[Construct], options: argparse.Namespace) -> None:
    import torch

    version = torch.__version__.split("+")[0]
    base = json.loads(TABLE.read_text(encoding="utf-8"))
    output = PIECES
    if version != base["torch"]:
        changes = TABLE.with_stem(f"{TABLE.stem}-{_release(version)}")
        base = changed(base, json.loads(changes.read_text(encoding="utf-8")))
        output = PIECES.with_stem(f"{PIECES.stem}-{_release(version)}")
    text = pieces_text(measured_in_pieces(constructs, options.processes, options.journal), constructs, base, version)
    (options.output or output).write_text(text, encoding="utf-8")


def _release(version: str) -> str:
    return version.rpartition(".")[0]


if __name__ == "__main__":
    main()
