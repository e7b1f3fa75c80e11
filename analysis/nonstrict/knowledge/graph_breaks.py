"""Which constructs Dynamo refuses to trace, as measured: every answer comes from `data/graph_breaks.json`.

`scripts/generate_graph_breaks.py` makes that file by compiling each construct with the torch that it names. Keys are

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

from typing import NamedTuple

from nonstrict.knowledge.store import data_file


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


def graph_break(key: str) -> GraphBreak | None:
    """The graph break of a construct; None where it does not break, or was not measured."""
    entry = _entries().get(key)
    if not entry:
        return None
    label, *words = [entry] if isinstance(entry, str) else entry
    identifier, kind, explanation, hints, url = data_file("graph_breaks.json")["reasons"][label]
    texts = [text.format(*words) if words else text for text in (explanation, *hints)]
    return GraphBreak(identifier, kind, texts[0], tuple(texts[1:]), url)


def is_measured(key: str) -> bool:
    """Whether the table knows if the construct breaks."""
    return _entries().get(key) is not None


def measured_version() -> str:
    """The version of torch that the table holds for: `2.13.0`."""
    return data_file("graph_breaks.json")["torch"]


def _entries() -> dict[str, str | list[str] | None]:
    """Keys with the label of their reason and words for it: empty where the construct is traced, None where unknown."""
    return data_file("graph_breaks.json")["entries"]
