"""Writes entries of the budget into a configuration file, and leaves all else in it as it is."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping


def with_budget(
    path: str, text: str, changes: Mapping[str, Mapping[str, int]], moved: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The text of a configuration file with numbers of the budget changed, and entries added behind the last one.

    Entries that `moved` get the key that stands there for theirs.
    """
    import tomlkit
    from tomlkit.items import InlineTable

    names = ("tool", "nonstrict", "budget") if os.path.basename(path) == "pyproject.toml" else ("budget",)
    # Replaced in the text, as an entry that is taken out and added would lose its place below its comment.
    for old, new in moved.items():
        for quote in "\"'":
            text = text.replace(f"{quote}{old}{quote}", f"{quote}{new}{quote}")
    document = tomlkit.parse(text)
    table: Any = document
    for name in names:
        if name not in table:
            table[name] = tomlkit.table(is_super_table=name != names[-1])
        table = table[name]
    entries = cast("dict[str, Any]", table)
    for key, numbers in sorted(changes.items()):
        before = entries.get(key)
        if before is None or (isinstance(before, InlineTable) and not numbers.keys() <= before.keys()):
            together = {**cast("dict[str, int]", before or {}), **numbers}
            written = ", ".join(f"{number} = {most}" for number, most in together.items())
            entries[key] = tomlkit.value(f"{{ {written} }}")
            continue
        for number, most in numbers.items():
            before[number] = most
    return tomlkit.dumps(document)
