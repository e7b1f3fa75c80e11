"""Keeps what long measurements found so far, so that one that was interrupted goes on where it stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


Item = TypeVar("Item")
Found = TypeVar("Found", bound=tuple[Any, ...])


def resumed(
    items: Sequence[Item],
    name: Callable[[Item], str],
    measure: Callable[[list[Item]], Iterable[Found]],
    read: Callable[[list[Any]], Found],
    journal: Path | None,
) -> list[Found]:
    """What is measured of each item, in their order: read from the journal, else measured and written there at once.

    The journal has a line for each item: its name and what was found, as JSON. Without one everything is measured.
    """
    known: dict[str, Found] = {}
    if journal is not None and journal.exists():
        # A process that was ended may have left half a line.
        lines = [line for line in journal.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
        known = {item: read(found) for item, found in map(json.loads, lines)}
        journal.write_text("".join(lines), encoding="utf-8")
    left = [item for item in items if name(item) not in known]
    for item, found in zip(left, measure(left), strict=True):
        known[name(item)] = found
        if journal is not None:
            with journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name(item), found]) + "\n")
    return [known[name(item)] for item in items]
