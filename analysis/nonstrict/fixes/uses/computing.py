"""Whether traced code only computes: what calls of the program's own functions do is asked of the interpreted body."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.fixes.code.pure import acts_by_itself, is_pure_call
from nonstrict.program.domain.effects import reachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.domain.effects import Summary

#: What a function may do that nobody notices when it is not called.
_UNNOTICED = frozenset(
    {
        *(Event.READ, Event.AMBIENT, Event.QUERY, Event.MODE, Event.SHAPE, Event.STORAGE, Event.ATTRIBUTE),
        *(Event.HELPER, Event.ESCAPE, Event.POINTER, Event.BREAK),
    }
)


class Computing:
    """What the functions do that a marked function reaches."""

    def __init__(self, body: MarkedBody) -> None:
        self._body = body
        self._called: dict[Span, list[Summary]] | None = None

    def only(self, document: Document, node: ast.AST) -> bool:
        """Whether evaluating an expression does nothing besides computing; False for calls that cannot be told."""
        return not any(
            acts_by_itself(part) or (isinstance(part, ast.Call) and not self._is_unnoticed(document, part))
            for part in ast.walk(node)
        )

    def _is_unnoticed(self, document: Document, call: ast.Call) -> bool:
        if is_pure_call(document, call):
            return True
        if self._called is None:
            self._called = {}
            for one in reachable(self._body.summary):
                for edge in one.summary.calls.values():
                    self._called.setdefault(edge.span, []).append(edge.summary)
        found = self._called.get(document.span(call), ())
        return bool(found) and all(_is_idle(one) for summary in found for one in _within(summary))


def _within(summary: Summary) -> Iterator[Summary]:
    return (one.summary for one in reachable(summary))


def _is_idle(summary: Summary) -> bool:
    return not summary.draws and all(one.event in _UNNOTICED for one in summary.effects.values())
