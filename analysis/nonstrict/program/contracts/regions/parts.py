"""What calls pass in the lists, tuples and dictionaries that their text writes out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.steps import entry
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.program.state.frames import Frame

#: The step to any entry.
_ANY = "[]"


def parts(frame: Frame, passed: ast.expr, path: tuple[str, ...]) -> Mapping[tuple[str, ...], ast.expr]:
    """What some steps lead to in what a call passes, by the steps that the text has for it; none where it has none.

    Any entry of a list is each of those that are written, or the one that a comprehension repeats.
    """
    if not path:
        return {(): passed}
    made = source(naming.text_of(frame), passed)
    held = {_ANY: made.elt} if isinstance(made, ast.ListComp) else _entries(made)
    step, rest = path[0], path[1:]
    reached = held if step == _ANY or _ANY in held else {step: held[step]} if step in held else {}
    return {(at, *more): one for at, node in reached.items() for more, one in parts(frame, node, rest).items()}


def written_part(made: ast.expr, path: tuple[str, ...]) -> ast.expr | None:
    """What some steps lead to in a container that is written out, as far as they do; None where it may be several."""
    for step in path:
        if not isinstance(made, (ast.Dict, ast.List, ast.Tuple)):
            return made
        entries = _entries(made)
        found = next(iter(entries.values()), None) if len(entries) == 1 else entries.get(step)
        if found is None:
            return None
        made = found
    return made


def _entries(made: ast.expr) -> dict[str, ast.expr]:
    """The entries of a container that is written out, by the steps that lead to them; none where some are unpacked."""
    if isinstance(made, ast.Dict):
        return {entry(key): one for key, one in zip(made.keys, made.values, strict=True) if key is not None}
    written = made.elts if isinstance(made, (ast.List, ast.Tuple)) else []
    unpacked = any(isinstance(one, ast.Starred) for one in written)
    return {} if unpacked else {f"[{at}]": one for at, one in enumerate(written)}
