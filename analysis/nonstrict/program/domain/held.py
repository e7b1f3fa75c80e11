"""What an expression holds, wherever a function or what it calls evaluates it: asked by its place in a file.

A function may be called from several places, with arguments of several kinds: what its expressions hold is the join of
what they held each time (`Summary.held`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program.domain.effects import reachable, span_of
from nonstrict.program.domain.values import join

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.domain.values import Value


class Held:
    """Answers for what a summary, that of a function, reaches."""

    def __init__(self, root: Summary, function: Function | None) -> None:
        self._summaries = {
            reached.summary: function if reached.summary is root else reached.summary.definition
            for reached in reachable(root)
        }
        self._files: dict[str, dict[Span, Value]] = {}

    def at(self, span: Span) -> Value | None:
        """What the expression, parameter, bound name or `return` statement of a range holds; None if it never runs."""
        if span.path not in self._files:
            self._files[span.path] = self._of_file(span.path)
        return self._files[span.path].get(span)

    def function(self, span: Span) -> Function | None:
        """The function that is defined in a range, if it is reached."""
        reached = (one for one in self._summaries.values() if one is not None)
        return next((one for one in reached if span_of(one.module.path, one.offset, one.node) == span), None)

    def _of_file(self, path: str) -> dict[Span, Value]:
        found: dict[Span, Value] = {}
        for summary, function in self._summaries.items():
            if function is None or function.module.path != path:
                continue
            for node in walk(function.node):
                value = summary.held.get(node)
                if value is not None and node is not function.node:  # what a lambda returns is not what it is
                    span = span_of(path, function.offset, node)
                    found[span] = join(found.get(span), value)
        return found
