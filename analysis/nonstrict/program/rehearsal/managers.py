"""What `with` enters, and what happens when it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.rehearsal.things import UNKNOWN, Instance, Setting, Tensor

if TYPE_CHECKING:
    from collections.abc import Generator

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Scope, Thing


class Managed:
    """A function with `@contextmanager`, called: what it does before and behind its `yield`."""

    def __init__(self, running: Generator[Thing, None, None]) -> None:
        self.running = running


def entered(stage: Stage, manager: Thing, scope: Scope) -> Generator[Thing, None, None]:
    """Enter a context manager, yield what it gives, and leave it."""
    if isinstance(manager, Setting):
        before = stage.settings.get(manager.name) if manager.before is UNKNOWN else manager.before
        stage.settings[manager.name] = manager.value
        try:
            yield None
        finally:
            stage.settings[manager.name] = before
    elif isinstance(manager, Managed):
        try:
            yield next(manager.running, UNKNOWN)
        finally:
            next(manager.running, None)
    elif isinstance(manager, Instance):
        given = stage.call(stage.member(manager, "__enter__"), (), {}, stage.here, scope)
        try:
            yield given
        finally:
            stage.call(stage.member(manager, "__exit__"), (None, None, None), {}, stage.here, scope)
    else:
        yield manager if isinstance(manager, Tensor) else UNKNOWN
