"""Strings that are made of values: f-strings, `%` and `+`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.events import Event, Step, Taken
from nonstrict.program.domain.references import Pattern
from nonstrict.program.domain.values import NO_CONSTANT, STRING, TENSORS, Kind, Value
from nonstrict.program.linking import schemas
from nonstrict.program.objects import iteration

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame


def joined(frame: Frame, node: ast.JoinedStr) -> Value:
    """The value of an f-string; its text is known if that of all parts is."""
    taint: frozenset[object] = frozenset()
    texts: list[object] = []
    for part in node.values:
        texts.append(getattr(part, "value", None))
        if isinstance(part, ast.FormattedValue):
            value = frame.consume(part.value, frame.machine.evaluate(frame, part.value))
            texts[-1] = written(value) if part.format_spec is None and part.conversion < 0 else None
            taint |= value.taint
            frame.observer.written(frame, part.value, value)
            if part.format_spec is not None:
                _formatted(frame, part.value, value, Step.TENSOR_IN_FSTRING)
                frame.needed(value, exactly=True)
    known = [text for text in texts if isinstance(text, str)]
    made = STRING._replace(const="".join(known)) if len(known) == len(texts) else STRING._replace(ref=_pattern(texts))
    return made.with_taint(taint)


def written(value: Value) -> str | None:
    """How an f-string, or `str`, writes a value that is known."""
    return str(value.const) if isinstance(value.const, (str, int)) else None


#: Widths to which nothing is padded here.
_MAX_WIDTH = 99
_WIDE = re.compile(r"[%:][^a-zA-Z]*\d{3}")
#: Methods that make nothing but text of text and numbers.
_METHODS = frozenset(
    {"capitalize", "casefold", "format", "join", "ljust", "lower", "lstrip", "removeprefix", "removesuffix", "replace"}
    | {"rjust", "rsplit", "rstrip", "split", "splitlines", "strip", "swapcase", "title", "upper", "zfill"}
)


def method(
    frame: Frame, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value | None:
    """What a method of a string that is known makes of constants; None where something is not known."""
    if name not in _METHODS or not isinstance(receiver.const, str) or keywords:
        return None
    if _WIDE.search(receiver.const) or any(isinstance(one.const, int) and one.const > _MAX_WIDTH for one in positional):
        return None
    arguments = [iteration.texts(frame, one) if name == "join" else one.const for one in positional]
    if any(one is None or one is NO_CONSTANT for one in arguments):
        return None
    if any(frame.machine.mutations.is_rebound(one.place) for one in (receiver, *positional)):
        return None
    try:
        made = getattr(receiver.const, name)(*arguments)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError, MemoryError):
        return None
    if isinstance(made, str):
        return STRING._replace(const=made)
    parts = [STRING._replace(const=part) for part in made]
    return iteration.listed(Kind.LIST, parts, STRING)


def _pattern(texts: list[object]) -> Pattern:
    """What is known of a string of which only some parts are."""
    first, last = texts[0], texts[-1]
    return Pattern(first if isinstance(first, str) else "", last if isinstance(last, str) else "")


def tensor_written(frame: Frame, node: ast.AST, tensor: Value) -> None:
    """What a tensor holds becomes a text."""
    frame.emit(Event.ESCAPE, node, tensor.place, tensor, "formatting the value of a tensor", how=Taken.TEXT)


def _formatted(frame: Frame, node: ast.AST, value: Value, step: Step = Step.TENSOR_IN_PERCENT) -> None:
    candidates = [value]
    if value.kind is Kind.TUPLE and value.heap is not None and value.heap.element is not None:
        candidates = [*value.heap.items.values()] or [value.heap.element]
    for candidate in candidates:
        if candidate.kind in TENSORS:
            tensor_written(frame, node, candidate)
            frame.observer.came_to(frame, node, step)
            return


def _percent(left: Value, right: Value) -> str | None:
    """`"step %d" % 3` of what is known."""
    if not isinstance(left.const, str) or not isinstance(right.const, (str, int)) or _WIDE.search(left.const):
        return None
    try:
        return left.const % right.const
    except (TypeError, ValueError):
        return None


def combined(frame: Frame, node: ast.AST, left: Value, right: Value, operator: ast.operator) -> Value:
    """A string that an operator makes of another one."""
    if isinstance(operator, ast.Mod):
        frame.observer.formatted(frame, node, right)
        _formatted(frame, node, right)
    named = schemas.named_schema(left, right) if isinstance(operator, ast.Add) else None
    if named is not None:
        return named
    taint = left.taint | right.taint
    if isinstance(operator, ast.Mod) and (text := _percent(left, right)) is not None:
        return STRING._replace(const=text, taint=taint)
    if isinstance(operator, ast.Add) and isinstance(left.const, str) and isinstance(right.const, str):
        return STRING._replace(const=left.const + right.const, taint=taint)
    return STRING.with_taint(taint)
