"""Counts what the measured tables say of releases of torch, for docs/torch-versions.md: bench/results/releases.md.

    python scripts/count_releases.py

Everything above `Measured with those builds` is counted from `analysis/nonstrict/knowledge/data` and from the
constructs and programs of `scripts/`. What is below is kept: it was measured with builds of torch, and no data file
holds it. `make docs` runs this; torch is not needed.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_breaks.reading import read_constructs
from guards import changes, grammar, states

from nonstrict.knowledge.releases import BASE, measured, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.knowledge.releases import Release

RESULTS = Path(__file__).resolve().parent.parent / "bench" / "results" / "releases.md"
KEPT = "## Measured with those builds\n"
HEAD = f"""\
# Releases of torch

Counted by `scripts/count_releases.py` from the tables in `analysis/nonstrict/knowledge/data`. The table of
{shown(BASE)} is complete; another release has the entries that differ from it.
"""


def counted() -> str:
    """What is counted."""
    others = [release for release in measured("graph_breaks") if release != BASE]
    parts = [
        HEAD,
        f"## The tables of {shown(BASE)}\n",
        rows(("what", "number"), _base()),
        "## Graph breaks with `fullgraph=True`\n",
        rows(
            (
                "torch",
                "constructs that differ",
                f"broken on {shown(BASE)}, traced there",
                f"traced on {shown(BASE)}, broken there",
                f"not known on {shown(BASE)}, broken there",
                "broken with another id",
            ),
            ((shown(release), *_breaks(release)) for release in others),
        ),
        "## Graph breaks without `fullgraph=True`\n",
        rows(
            (
                "torch",
                "functions given up there alone",
                f"given up on {shown(BASE)} alone",
                "context managers resumed otherwise",
            ),
            ((shown(release), *_pieces(release)) for release in measured("graph_breaks_in_pieces") if release != BASE),
        ),
        "## Recompilations\n",
        rows(
            ("torch", "programs that differ", "by what the region does with the value"),
            ((shown(release), *_guards(release)) for release in measured("guards") if release != BASE),
        ),
    ]
    return "\n".join(parts)


def _base() -> Iterator[tuple[str, int]]:
    entries: dict[str, Any] = table("graph_breaks", BASE)["entries"]
    written = {construct.key for construct in read_constructs()}
    swept = entries.keys() - written
    yield "constructs", len(entries)
    yield "constructs written by hand", len(entries.keys() & written)
    yield "constructs found by going through modules", len(swept)
    yield "… that break", sum(bool(entries[key]) for key in swept)
    programs = Counter(bool(row.options) for row in (*grammar.rows(), *states.rows(), *changes.rows()))
    yield "programs for recompilations, without options", programs[False]
    yield "programs for recompilations, with options", programs[True]


def _breaks(release: Release) -> tuple[int, ...]:
    """How many constructs differ, and how."""
    known: dict[str, Any] = table("graph_breaks", BASE)["entries"]
    entries: dict[str, Any] = table("graph_breaks", release)["entries"]
    kinds = Counter(_kind(known.get(key), entry) for key, entry in entries.items())
    return (len(entries), *(kinds[kind] for kind in ("traced", "broken", "unknown", "other")))


def _kind(known: Any, entry: Any) -> str:
    if not entry:
        return "traced"
    return "other" if known else "unknown" if known is None else "broken"


def _pieces(release: Release) -> tuple[int, ...]:
    own, base = (table("graph_breaks_in_pieces", one) for one in (release, BASE))
    falling, known = set(own["falls_back"]), set(base["falls_back"])
    return len(falling - known), len(known - falling), len(set(own["restored"]) ^ set(base["restored"]))


def _guards(release: Release) -> tuple[int, str]:
    uses = Counter(key.split("/")[2] for key in table("guards", release)["rows"])
    return uses.total(), ", ".join(f"{use}: {count}" for use, count in uses.most_common()) or "none"


def rows(header: Iterable[str], cells: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    titles = list(header)
    lines = [titles, ["---"] * len(titles), *([str(cell) for cell in row] for row in cells)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(before: str) -> str:
    """The whole file: what is counted, and what was measured as it stands in the file before."""
    _, heading, kept = before.partition(KEPT)
    return f"{counted()}\n{heading or KEPT}{kept}"


if __name__ == "__main__":
    RESULTS.write_text(page(RESULTS.read_text(encoding="utf-8")), encoding="utf-8")
