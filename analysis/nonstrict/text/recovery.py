"""What parso's error recovery could not place: the line ranges of broken statements. The only user of parso here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import parso

if TYPE_CHECKING:
    from parso.tree import BaseNode, NodeOrLeaf

_BLOCKS = frozenset({"file_input", "suite"})
_ERRORS = frozenset({"error_node", "error_leaf"})


def broken_statements(code: str, line: int) -> list[tuple[int, int]]:
    """Line ranges (from 1, both ends included) to cut out of code that does not parse.

    These are the pieces that error recovery set aside; where there is none (the grammar accepts what Python's
    compiler refuses), the smallest statement around `line`.
    """
    module = parso.parse(code)
    ranges: list[tuple[int, int]] = []
    _collect(module, ranges)
    if ranges:
        return ranges
    leaf = module.get_leaf_for_position((line, 0), include_prefixes=True)
    statement: NodeOrLeaf | None = leaf
    while statement is not None and statement.parent is not None and statement.parent.type not in _BLOCKS:
        statement = statement.parent
    if statement is None or statement.type in {"newline", "endmarker"}:
        return [(line, line)]
    return [_lines_of(statement)]


def _collect(node: BaseNode, ranges: list[tuple[int, int]]) -> None:
    """Gather the error nodes, outermost only, without recursion: trees of broken code can be deep."""
    stack: list[NodeOrLeaf] = [node]
    while stack:
        current = stack.pop()
        if current.type in _ERRORS:
            ranges.append(_lines_of(current))
            continue
        stack.extend(getattr(current, "children", ()))


def _lines_of(node: NodeOrLeaf) -> tuple[int, int]:
    first, last = node.start_pos[0], node.end_pos
    # A statement that owns its line end stops before the first column of the next line.
    return first, max(first, last[0] - 1 if last[1] == 0 else last[0])
