"""What set an experiment going, and what its first call was given: part of what a verdict rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.drivers import DIRECT, Source
from nonstrict.confirm.fingerprints import form_of
from nonstrict.confirm.groups import RANKS, needs_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.confirm.programs import Schedule

_KINDS = {
    "function": "`{name}()`",
    "test": "the test `{name}`",
    "guard": "the main guard",
    "block": "the top level of the file",
    "calls": "calls of `{name}`",
    "traced": "calls of what `make_fx` makes of `{name}`",
    "source": "an example that calls `{name}`",
    "returned": "calls of what only returns the result of `{name}`",
}
#: More inputs, and longer ones, are not told.
_INPUTS, _LENGTH = 6, 60


def driver_of(schedule: Schedule) -> str:
    """What set the run going, in words: `main()`, the main guard, calls of the function."""
    driver = schedule.driver
    told = _KINDS[driver.kind].format(name=driver.name) if driver.kind in _KINDS else ""
    return f"{told} with a fake process group of {RANKS} ranks" if told and needs_group(schedule) else told


def source_of(schedule: Schedule) -> Source:
    """Where what the function was given comes from."""
    if schedule.driver.kind == "test":
        return Source.TESTS
    elsewhere = schedule.program is not None and schedule.driver.kind not in DIRECT
    return Source.CALLERS if elsewhere else schedule.driver.source


def inputs_of(trace: Mapping[str, Any]) -> tuple[str, ...]:
    """What the first call of a region was given, as `x: tensor float32 [2, 3]`; of many inputs the first ones."""
    calls = trace.get("calls", ())
    given: Mapping[str, str] = calls[0].get("inputs", {}) if calls else {}
    forms = [(path, form_of(told) or told) for path, told in given.items() if not path.startswith("<")]
    return tuple(f"{path}: {_short(form)}" for path, form in forms[:_INPUTS])


def _short(form: str) -> str:
    line = " ".join(form.split())
    return line if len(line) <= _LENGTH else f"{line[: _LENGTH - 1]}…"
