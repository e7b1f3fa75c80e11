"""Turns what was counted into the data file `guards.json`, and what another torch does into what it changes there."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from guards.grammar import COUNT, OPTIONS
from nonstrict.knowledge.releases import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from guards.grammar import Row
    from guards.measuring import Counted
    from nonstrict.knowledge.releases import Release


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
    return _text(head, {key: json.dumps(_entry(found)) for key, found in rows.items()})


def changes_text(table: dict[str, Any], base: dict[str, Any]) -> str:
    """The data file of another torch: the rows of its table in which the region is compiled another number of times.

    How torch words the guard that failed makes no difference.
    """
    rows = {key: row for key, row in table["rows"].items() if row[1:] != base["rows"].get(key, [""])[1:]}
    head = {name: value for name, value in table.items() if name != "rows"}
    return _text({**head, "base": base["torch"]}, {key: json.dumps(row) for key, row in rows.items()})


def whole(release: Release) -> dict[str, Any]:
    """The table that holds for a release, with all its rows."""
    nearest, *others = tables("guards", release)
    rows = {key: row for table in reversed(others) for key, row in table["rows"].items()}
    return {**nearest, "rows": {**rows, **nearest["rows"]}}


def _text(head: Mapping[str, object], rows: dict[str, str]) -> str:
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    entries = ",\n".join(f"{json.dumps(key)}: {row}" for key, row in sorted(rows.items()))
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
