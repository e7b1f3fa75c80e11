"""Tensors that a region looks up by a number or a text that varies: callers look them up (NST803, NST804).

A number is a constant of the code that looks something up with it, also if it is an argument; the tensor is none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.scopes import is_as_passed
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.captures.attributes import given_for
from nonstrict.fixes.captures.passable import is_written, usable
from nonstrict.fixes.code.edits import replaced
from nonstrict.fixes.marks.staying import recompilation
from nonstrict.fixes.uses.signatures import Passing, passed
from nonstrict.fixes.uses.sites import is_unconditional
from nonstrict.fixes.uses.spots import Spelled, chain, root_of
from nonstrict.fixes.uses.terms import is_simple, names_in, substituted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.signatures import Extended

_LOOKS_UP = frozenset({Use.POSITION, Use.KEY})


def looked_up(context: Context) -> Iterator[Fix]:
    """`block(x, cache, cache[block.layer_idx])` in place of `cache[self.layer_idx]` in the region."""
    function = context.body.mark.function
    known = context.definition(function) if function is not None else None
    reads = _reads(context, *known) if known is not None else []
    if known is None or not reads:
        return
    document, entry = known[0], reads[0]
    for name in _names(entry):
        change = passed(context.documents.uses, document, entry, _Entry(name, document, known[1], entry))
        if change is not None:
            edits: list[Edit] = [*change.edits, *(replaced(document, one, name) for one in reads)]
            yield Fix(f"Pass `{document.text(entry)}` as an argument", Applicability.UNSAFE, tuple(edits))
            return


def _reads(context: Context, document: Document, function: FunctionNode) -> list[ast.Subscript]:
    """The same look-up of a tensor, wherever the region uses what varies; none if it uses it otherwise too."""
    found = recompilation(context)
    if found is None or found.changed or is_written(context, found.place):
        return []
    uses = [seen for seen in context.body.observed(Event.GUARD) if seen.effect.place == found.place]
    held, nodes = context.body.held, [document.at(seen.effect.span, ast.Subscript) for seen in uses if not seen.chain]
    entries = [node for node in nodes if node is not None and isinstance(node.ctx, ast.Load)]
    if any((value := held.at(document.span(entry))) is None or not value.is_tensor for entry in entries):
        return []
    is_alone = len(entries) == len(uses) and {seen.effect.how for seen in uses} <= _LOOKS_UP
    is_same = len({ast.dump(node) for node in entries}) == 1
    sure = any(not seen.effect.conditional for seen in uses) and _is_always_read(document, function, entries)
    return entries if is_alone and is_same and sure and _is_kept(context, function, entries[0]) else []


def _is_always_read(document: Document, function: FunctionNode, entries: list[ast.Subscript]) -> bool:
    """Whether every call of the region looks it up: its callers can do so too."""
    statements = (document.statement(entry) for entry in entries)
    return isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
        one is not None and is_unconditional(function, one) for one in statements
    )


def _is_kept(context: Context, function: FunctionNode, entry: ast.Subscript) -> bool:
    """Whether all that a look-up is made of is what the region was given, and nothing in it is changed there."""
    names = names_in(entry)
    written = {seen.effect.place.name for seen in context.body.observed(Event.WRITE, Event.LEAK)}
    return names.isdisjoint(written) and all(is_as_passed(function, name) for name in names)


def _names(entry: ast.Subscript) -> Iterator[str]:
    last = chain(entry.value)[-1:]
    word = last[0].attr if last and isinstance(last[0], ast.Attribute) else getattr(root_of(entry), "id", "")
    yield from usable(f"{word}_entry" if word else "entry")


class _Entry(Passing):
    """The entry is passed; callers of the region look it up in what they pass."""

    def __init__(self, name: str, document: Document, function: FunctionNode, entry: ast.Subscript) -> None:
        super().__init__(name, "", frozenset({document.span(function)}))
        self.text, self.names = document.text(entry), names_in(entry)

    def written(self, function: Extended, call: Call) -> Spelled | None:
        texts: dict[str, str] = {}
        for name in self.names:
            document, given = given_for(function, call, name)
            if given is None or document is not call.document or not is_simple(given):
                return None
            texts[name] = document.text(given)
        text = substituted(self.text, texts)
        return Spelled(text) if text is not None else None
