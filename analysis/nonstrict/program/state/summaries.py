"""The summaries of functions that were called, and how far one question may lead through them.

A marked function, a region or a definition reaches so many functions, each for so many kinds of arguments; what lies
further is taken as unknown. A summary that such a limit cut short is kept only as long as the question lasts: what
the next one finds does not depend on which were asked before.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Summary

#: How many functions one question may reach before what lies further is taken as unknown.
BUDGET = 400
#: For how many kinds of arguments a function is told apart.
_MAX_KINDS = 12


class Summaries:
    """What is known by now of calls, by function and kinds of arguments."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], Summary] = {}
        #: those that are being made, and those among them that were asked for meanwhile
        self.open: dict[tuple[object, ...], int] = {}
        self.recursive: set[tuple[object, ...]] = set()
        #: how many more functions may be interpreted
        self.budget = BUDGET
        #: the kinds of arguments that were seen of functions, and of functions as code outside any trace
        self._kinds: dict[Function, set[tuple[object, ...]]] = {}
        self._outside: dict[Function, set[tuple[object, ...]]] = {}
        #: summaries that rest on something that a limit cut short
        self._cut: set[tuple[object, ...]] = set()

    def begin(self) -> None:
        """Another question is asked: it may lead as far as the one before."""
        self.budget = BUDGET
        self._kinds = {}
        for key in self._cut.difference(self.open):
            self.known.pop(key, None)
        self._cut &= self.open.keys()

    @contextmanager
    def aside(self, budget: int = BUDGET) -> Generator[None]:
        """What is found out once, for all who ask: that takes nothing from whoever asks first."""
        left, kinds = self.budget, self._kinds
        self.budget, self._kinds = budget, {}
        try:
            yield
        finally:
            self.budget, self._kinds = left, kinds

    def tells_apart(self, function: Function, key: tuple[object, ...], *, static: bool) -> bool:
        """Whether calls of a function for these kinds of arguments are told from others: there are not too many."""
        # Code outside any trace is interpreted once for all who ask.
        kinds = (self._outside if static else self._kinds).setdefault(function, set())
        if key in kinds or len(kinds) < _MAX_KINDS:
            kinds.add(key)
            return True
        if not static:
            self.cut_short()
        return False

    def is_spent(self) -> bool:
        """Whether no more functions may be interpreted, so that one is not looked into."""
        if self.budget <= 0:
            self.cut_short()
        return self.budget <= 0

    def cut_short(self) -> None:
        """A limit keeps something from being looked into: what is being made rests on that."""
        self._cut.update(self.open)

    def get(self, key: tuple[object, ...]) -> Summary | None:
        """The summary of a call, if it is known."""
        if key in self._cut:
            self.cut_short()
        return self.known.get(key)
