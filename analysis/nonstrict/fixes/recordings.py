"""Recorded calls of functions, as whoever runs the analysis hands them to fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias


class Recording(NamedTuple):
    """One call: specifications of its arguments and of what it returned (`nonstrict_agent.inputs.specification`).

    `arguments` is `{"args": [...], "kwargs": {...}}`; `result` is None where it was not recorded.
    """

    arguments: Mapping[str, Any]
    result: Mapping[str, Any] | None


#: The calls of a function, by the path and the text of its file, its qualified name, and its lines.
Recordings: TypeAlias = Callable[[str, str, str, tuple[int, int]], Iterable[Recording]]


def nothing(path: str, code: str, name: str, lines: tuple[int, int]) -> Iterable[Recording]:
    """No calls: nobody looked for any."""
    return ()
