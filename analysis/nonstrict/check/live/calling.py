"""Who calls a marked function. Asked for one function at a time, by people: nothing that is found depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.stack import with_deep_stack
from nonstrict.program.discovery import callers, roots
from nonstrict.program.domain.effects import span_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Location, Span
    from nonstrict.program.discovery.exports import Exports
    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.state.machine import Machine


class SeenCaller(NamedTuple):
    """A call of a marked function: from which function (empty: from a module), and whether that is compiled."""

    caller: str
    compiled: bool
    span: Span


class Caller(NamedTuple):
    """`SeenCaller`, located for users."""

    caller: str
    compiled: bool
    location: Location


def callers_of(machine: Machine, path: str, function: str, exports: Exports) -> list[SeenCaller]:
    """The calls of a marked function of a file, by a machine that has seen nothing yet.

    `exports` are the names by which the project applies markers.
    """
    return with_deep_stack(lambda: list(_callers(machine, path, function, exports)))


def _callers(machine: Machine, path: str, function: str, exports: Exports) -> Iterator[SeenCaller]:
    _discover(machine, path, exports)
    marks = [mark for mark in machine.marks.values() if _is_wanted(mark, path, function)]
    found = [call for mark in marks for call in callers.calls_of(machine, mark)]
    # Whether a function of another file is compiled is said there.
    for other in {call.path for call in found} - {path}:
        _discover(machine, other, exports)
    compiled = set(machine.regions)
    seen: set[Span] = set()
    for call in found:
        span = span_of(call.path, call.offset, call.node)
        if span not in seen:
            seen.add(span)
            caller = call.caller
            yield SeenCaller(caller.qualname if caller else "", caller is not None and caller.node in compiled, span)


def _discover(machine: Machine, path: str, exports: Exports) -> None:
    module = machine.project.module(path)
    if module is not None:
        meant = exports.meant_in(machine.project, module)
        roots.discover(machine, module, roots.words_in(module.source.code) | meant.marking, meant.applying)


def _is_wanted(mark: Mark, path: str, function: str) -> bool:
    return mark.function is not None and mark.path == path and mark.function.qualname == function
