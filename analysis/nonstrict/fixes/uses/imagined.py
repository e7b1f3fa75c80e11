"""What a function would do with some edits in it: whether a fix would bring to light what nobody saw before."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from nonstrict.events import Event, How
from nonstrict.facts.scopes import FunctionNode
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.definitions import Function, Mark
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import FRESH, Kind, Value
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

#: What no rule reports: functions of the file that are mentioned, and what was not looked into.
_UNREPORTED = frozenset({Event.HELPER, Event.UNSEEN})
_Effects = Counter[tuple[Event, str, How | None, Root, tuple[str, ...]]]


def adds_nothing(context: Context, document: Document, node: ast.AST, edits: Sequence[Edit]) -> bool:
    """Whether the traced function around a node has no effect with some edits that it does not have without them.

    The edits lie in that function, or make no functions. False where this cannot be told.
    """
    known = _traced(context, document, node)
    if known is None:
        return False
    function, definition = known
    try:
        tree = tree_of(_edited(document, edits))
    except SyntaxError:
        return False
    before = [one for one in _in_order(document.tree) if _start(one) < _start(definition)]
    after = _in_order(tree)
    if len(before) >= len(after):
        return False
    changed = replace(function, node=after[len(before)], offset=0)
    return not _effects(context, changed) - _effects(context, function)


def _traced(context: Context, document: Document, node: ast.AST) -> tuple[Function, FunctionNode] | None:
    """The innermost function around a node that the marked function is, or calls."""
    reached = (one.summary.definition for one in reachable(context.body.summary))
    functions = [one for one in (context.body.mark.function, *reached) if one is not None]
    definitions = {known[1]: function for function in functions if (known := context.definition(function)) is not None}
    around = (one for one in document.around(node) if isinstance(one, FunctionNode))
    return next(((definitions[one], one) for one in around if one in definitions), None)


def _edited(document: Document, edits: Sequence[Edit]) -> str:
    """The code of a file with edits, which do not overlap."""
    code = document.code
    spans = [(edit.span, edit.text) for edit in edits]
    places = [(document.offset(*at[1:3]), document.offset(*at[3:5]), text) for at, text in spans]
    for start, end, text in sorted(places, reverse=True):
        code = code[:start] + text + code[end:]
    return code


def _in_order(tree: ast.Module) -> list[FunctionNode]:
    return sorted((one for one in ast.walk(tree) if isinstance(one, FunctionNode)), key=_start)


def _start(node: FunctionNode) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _effects(context: Context, function: Function) -> _Effects:
    """What a function does, as if it were marked as the one of the finding is; where it does it does not matter."""
    own = context.body.mark
    target = Value(Kind.FUNCTION, FRESH, function)
    mark = Mark(own.kind, own.api, target, function.module.path, function.offset, function.node, function)
    mark.operator, mark.calls = own.operator, own.calls
    body = MarkedBody(context.documents.uses.machine, mark, context.body.torch)
    found: _Effects = Counter()
    for seen in body.observed(*(event for event in Event if event not in _UNREPORTED)):
        place = seen.effect.place
        found[seen.effect.event, seen.effect.what, seen.effect.how, place.root, place.path] += 1
    return found
