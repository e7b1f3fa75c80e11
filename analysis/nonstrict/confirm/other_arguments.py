"""Calls that differ in the subject of a finding alone, where that is an argument of the function itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.owners import position_of

if TYPE_CHECKING:
    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect


def differing_calls(program: Program, suspect: Suspect, given: str, count: int) -> str:
    """The first of some given calls (JSON of specifications), `count` times, each with another value of the subject.

    A flag has two values. Empty where the subject is not an argument of which other values are known, or is not given.
    """
    subject = suspect.subject
    if not given or subject is None or subject.origin != "argument" or subject.path:
        return ""
    first: dict[str, Any] = json.loads(given)[0]
    place = position_of(program, suspect, subject.name)
    held: dict[Any, Any] | list[Any] = first.get("kwargs", {})
    key: Any = subject.name
    if place is not None and place < len(first.get("args", ())):
        held, key = first["args"], place
    if not isinstance(held, list) and key not in held:
        return ""
    values = _others(held[key], count)
    name = "args" if isinstance(held, list) else "kwargs"
    return json.dumps([{**first, name: _with(held, key, value)} for value in values]) if values else ""


def _with(held: dict[Any, Any] | list[Any], key: Any, value: dict[str, Any]) -> dict[Any, Any] | list[Any]:
    if isinstance(held, list):
        return [*held[:key], value, *held[key + 1 :]]
    return {**held, key: value}


def _others(spec: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """The value that a specification describes, then others of its kind; none where no others are known."""
    value = spec.get("value")
    if spec.get("kind") != "literal" or isinstance(value, str):
        return []
    if isinstance(value, bool):
        return [{**spec, "value": value}, {**spec, "value": not value}]
    if isinstance(value, (int, float)):
        return [{**spec, "value": value + step} for step in range(count)]
    return []
