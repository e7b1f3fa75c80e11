"""What parso's error recovery could not place: the line ranges of broken statements. The only user of parso here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from parso.grammar import load_grammar

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Node(Protocol):
    """What is used of parso's nodes and leaves; its own annotations leave their types open."""

    type: str
    start_pos: tuple[int, int]
    end_pos: tuple[int, int]


_BLOCKS = frozenset({"file_input", "suite"})
_ERRORS = frozenset({"error_node", "error_leaf"})


def broken_statements(code: str, line: int) -> list[tuple[int, int]]:
    """Line ranges (from 1, both ends included) to cut out of code that does not parse.

    These are the pieces that error recovery set aside; where there is none (the grammar accepts what Python's
    compiler refuses), the smallest statement around `line`.
    """
    module = cast("_Node", load_grammar().parse(code))  # pyright: ignore[reportUnknownMemberType]
    ranges: list[tuple[int, int]] = []
    # Without recursion: trees of broken code can be deep.
    stack = [module]
    while stack:
        node = stack.pop()
        if node.type in _ERRORS:
            ranges.append(_lines_of(node))
        else:
            stack.extend(_children(node))
    return ranges or [_smallest_statement(module, line)]


def _smallest_statement(module: _Node, line: int) -> tuple[int, int]:
    """The lines of the innermost statement of a block that contains a line."""
    found = (line, line)
    node: _Node | None = module
    in_block = True
    while node is not None:
        if node.type in _BLOCKS:
            in_block = True
        elif in_block:
            found, in_block = _lines_of(node), False
        node = next((child for child in _children(node) if _contains(child, line)), None)
    return found


def _contains(node: _Node, line: int) -> bool:
    first, last = _lines_of(node)
    return first <= line <= last and node.type not in {"newline", "endmarker"}


def _children(node: _Node) -> Sequence[_Node]:
    return cast("Sequence[_Node]", getattr(node, "children", ()))


def _lines_of(node: _Node) -> tuple[int, int]:
    first, last = node.start_pos[0], node.end_pos
    # A statement that owns its line end stops before the first column of the next line.
    return first, max(first, last[0] - 1 if last[1] == 0 else last[0])
