"""What `nonstrict check` finds at the places that a text names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.confirm.runs.places import Code
from nonstrict.report.regions import Shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.check.run import CheckResult
    from nonstrict.coverage import Callee
    from nonstrict.explain.places import Place
    from nonstrict.findings import Diagnostic, Location


class Found(NamedTuple):
    """The findings at a place: on its line, or `nearby`, in the function around it, if none is."""

    findings: tuple[Diagnostic, ...] = ()
    nearby: bool = False


class Findings:
    """The findings of a run, by place."""

    def __init__(self, result: CheckResult) -> None:
        """Ask nothing yet."""
        self._result = result
        self._shown = Shown(result.looked, result.read)

    def at(self, place: Place, codes: Collection[str]) -> Found:
        """Those at a place: of the rules with some codes alone, if there are such."""
        on_line = tuple(dict.fromkeys(self._on_line(place)))
        wanted = tuple(one for one in on_line if one.code in codes)
        if on_line:
            return Found(wanted or on_line)
        # In the function around a line there may be much else.
        return Found(tuple(one for one in self._around(place) if one.code in codes), nearby=True)

    def _on_line(self, place: Place) -> Iterator[Diagnostic]:
        """The findings on a line, those that its calls lead to, and those of marked functions that it calls."""
        called = {callee.function for callee, where in self._calls() if _is_at(place, where)}
        for one in self._result.diagnostics:
            calls = (related.location for related in one.related[1 : one.links])
            if _is_at(place, one.location) or any(_is_at(place, where) for where in calls) or one.function in called:
                yield one

    def _calls(self) -> Iterator[tuple[Callee, Location]]:
        for region in self._result.looked.regions:
            for callee in region.marked:
                yield callee, self._shown.at(callee.span)

    def _around(self, place: Place) -> Iterator[Diagnostic]:
        read = ((os.path.abspath(path), source) for path, source in self._result.read.items())
        source = next((source for path, source in read if path == place.path), None)
        if source is None:
            return
        code = Code(source)
        function = _function_at(code, place.line)
        for one in self._result.diagnostics:
            is_here = os.path.abspath(one.location.path) == place.path
            if function and is_here and _function_at(code, one.location.row) == function:
                yield one


def _function_at(code: Code, line: int) -> tuple[str, int] | None:
    """The innermost function around a line, and where it begins: several may have one name."""
    name = code.anchor(line).function
    return (name, code.begin(name, line)) if name else None


def _is_at(place: Place, where: Location) -> bool:
    return where.row <= place.line <= where.end_row and os.path.abspath(where.path) == place.path
