"""Turns what was counted into the data file `guards.json`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from guards.grammar import COUNT, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guards.grammar import Row
    from guards.measuring import Counted


def data_text(counted: Iterable[tuple[Row, Counted]], version: str, limit: int) -> str:
    """The data file: one line a row, so that a change of torch shows as a readable difference.

    A row is the first guard that failed, and a result for each of the ways to compile; the results under keys of the
    configuration follow, where they are other ones than without. A result is the number of compilations, with `!` if
    the last call did not run what was compiled; the name of an exception if one ended the program.
    """
    rows: dict[str, dict[str, Counted]] = {}
    for row, one in counted:
        rows.setdefault(row.key, {})[row.options] = one
    python = ".".join(map(str, sys.version_info[:2]))
    head = {"torch": version, "python": python, "values": COUNT, "limit": limit, "ways": list(OPTIONS)}
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    entries = ",\n".join(f"{json.dumps(key)}: {json.dumps(_entry(found))}" for key, found in sorted(rows.items()))
    return "{\n" + ",\n".join(parts) + f',\n"rows": {{\n{entries}\n}}\n}}\n'


def _entry(found: dict[str, Counted]) -> list[object]:
    guard = next((one.guard for one in found.values() if one.guard), "")
    plain = _result(found[""])
    others = {
        options: _result(one) for options, one in found.items() if options not in OPTIONS and _result(one) != plain
    }
    return [guard, *(_result(found[options]) for options in OPTIONS), *([others] if others else [])]


def _result(one: Counted) -> str:
    return one.error or f"{one.compilations}{'' if one.lasting else '!'}"
