"""Which constructs Dynamo refuses to trace, as measured: every answer comes from `data/graph_breaks*.json`.

`scripts/generate_graph_breaks.py` makes these files by compiling each construct with the torch that they name: all, and
for another release (`nonstrict.knowledge.releases`) those of which it says something else. They are compiled *whole*,
with `fullgraph=True`; what is another matter *in pieces*, where the graph may break, has a file of its own. Keys are

- `call:NAME`: a call of a function or class, whatever its arguments; the name is dotted, as users write it
  (`call:os.path.exists`, `call:builtins.print`, `call:torch.save`);
- `arg:NAME:CONDITION`: a call that breaks only with such arguments (`arg:torch.ones:requires_grad=True`);
- `method:RECEIVER.NAME`: a method of a kind of object (`method:Tensor.backward`, `method:logging.Logger.info`), with
  a variant behind a colon where dtypes differ (`method:Tensor.tolist:int`);
- `with:NAME`: entering a context manager (`with:threading.Lock`);
- `stmt:NAME`: a statement or an expression (`stmt:if-tensor`);
- `disabled-call`: a call of a function that `torch.compiler.disable` was applied to.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.knowledge.releases import BASE, table, tables

if TYPE_CHECKING:
    from nonstrict.knowledge.releases import Release


class GraphBreak(NamedTuple):
    """What torch says of one graph break.

    `id` is torch's own (`GB0059`), None where an exception without one ends the compilation: then `type` names that
    exception and `url` is empty. `explanation` is the first sentence of torch's, `hints` are all of them.
    """

    id: str | None
    type: str
    explanation: str
    hints: tuple[str, ...]
    url: str


_WHOLE, _IN_PIECES = "graph_breaks", "graph_breaks_in_pieces"


def graph_break(key: str, torch: Release = BASE, *, whole: bool = True) -> GraphBreak | None:
    """The graph break of a construct; None where it does not break, or was not measured.

    Where the graph is not `whole`, more breaks, as scalars and sizes that follow from data are not captured; and what
    decides on one of these does not, as it is a plain number by then.
    """
    pieces = _pieces(torch)
    table = pieces if not whole and key in pieces["entries"] else _table_for(key, torch)
    entry = table["entries"].get(key)
    if not entry:
        return None
    label, *words = [entry] if isinstance(entry, str) else entry
    identifier, kind, explanation, hints, url = table["reasons"][label]
    texts = [text.format(*words) if words else text for text in (explanation, *hints)]
    return GraphBreak(identifier, kind, texts[0], tuple(texts[1:]), url)


def may_break(key: str, torch: Release = BASE) -> bool:
    """Whether a construct breaks, be the graph whole or in pieces."""
    return any(graph_break(key, torch, whole=whole) is not None for whole in (True, False))


def falls_back(key: str, torch: Release = BASE) -> bool:
    """Whether nothing of a function is compiled that holds the construct, where the graph may break."""
    return key in _keys("falls_back", torch)


def is_restored(key: str, torch: Release = BASE) -> bool:
    """Whether a function resumes after a break in the block of a context manager: `with:torch.no_grad`."""
    return key in _keys("restored", torch)


@cache
def _keys(part: str, torch: Release) -> frozenset[str]:
    return frozenset(_pieces(torch)[part])


def is_measured(key: str, torch: Release = BASE) -> bool:
    """Whether the table knows if the construct breaks."""
    return _table_for(key, torch)["entries"].get(key) is not None


@cache
def constructs_by_reason(torch: Release = BASE) -> dict[str, tuple[str, ...]]:
    """The keys of the constructs that break, by torch's id, or by the type of the exception where there is none."""
    found: dict[str, dict[str, None]] = {}
    keys = {key for one in (*tables(_WHOLE, torch), _pieces(torch)) for key in one["entries"]}
    for key in sorted(keys):
        for whole in (True, False):
            if (known := graph_break(key, torch, whole=whole)) is not None:
                found.setdefault(known.id or known.type, {})[key] = None
    return {reason: tuple(keys) for reason, keys in found.items()}


def measured_version(torch: Release = BASE) -> str:
    """The version of torch that the answers for one were measured with: `2.13.0`."""
    return tables(_WHOLE, torch)[0]["torch"]


def _pieces(torch: Release) -> dict[str, Any]:
    """The table for where the graph may break: what differs from the table of whole graphs of the same release."""
    return table(_IN_PIECES, torch)


def _table_for(key: str, torch: Release) -> dict[str, Any]:
    """The nearest table that answers for a construct.

    `entries` are keys with the label of their reason and words for it: empty where the construct is traced, None where
    unknown.
    """
    *nearer, base = tables(_WHOLE, torch)
    return next((one for one in nearer if key in one["entries"]), base)
