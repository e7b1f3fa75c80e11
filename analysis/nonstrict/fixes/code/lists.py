"""Lists between brackets: the arguments of a call, the parameters of a function; one more element in their style."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Edit
from nonstrict.text.lexer import lexemes

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document

_PARTS = re.compile(r"[,:]")


class Element(NamedTuple):
    """One element, as positions in the code; `comma` is where the comma behind it stands, None if there is none."""

    start: int
    end: int
    comma: int | None


class Elements(NamedTuple):
    """The elements between an opening bracket and the closing one, as positions in the code behind and before these."""

    opening: int
    closing: int
    elements: tuple[Element, ...]


def arguments_of(document: Document, call: ast.Call) -> Elements:
    """The arguments of a call."""
    end = document.bounds(call)[1]
    start = document.bounds(call.func)[1]
    depth = 0
    opening = start
    # What may stand between the callee and the call is the end of parentheses around the callee.
    for token in lexemes(document.code[start:end]):
        if token.kind == "open":
            if depth == 0:
                opening = start + token.end
            depth += 1
        elif token.kind == "close" and depth:
            depth -= 1
    return _elements(document.code, opening, end - 1)


def parameters_of(document: Document, function: FunctionNode) -> Elements:
    """The parameters of a function, with `/`, `*`, `*args` and `**kwargs` as elements of their own."""
    start = document.bounds(function)[0]
    if isinstance(function, ast.Lambda):
        opening = start + len("lambda")
        return _elements(document.code, opening, _colon(document.code, opening, document.bounds(function.body)[0]))
    code = document.code
    opening = re.compile(r"(?:async\s+)?def\s+\w+\s*").match(code, start).end()  # type: ignore[union-attr]
    if code[opening] == "[":
        opening = code.index("(", _closing(code, opening))
    return _elements(code, opening + 1, _closing(code, opening) - 1)


def names_of(document: Document, statement: ast.Import | ast.ImportFrom) -> Elements:
    """The names that an import statement lists, in parentheses or not."""
    first = document.bounds(statement.names[0])[0]
    start, end = document.bounds(statement)
    brackets = [token for token in lexemes(document.code[start:end]) if token.kind in ("open", "close")]
    if not brackets:
        return _elements(document.code, first, end)
    return _elements(document.code, start + brackets[0].end, start + brackets[-1].start)


def _closing(code: str, opening: int) -> int:
    """The position behind the bracket that closes the one at `opening`."""
    depth = 0
    for token in lexemes(code[opening:]):
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind == "close" and depth == 0:
            return opening + token.end
    return len(code)


def _colon(code: str, start: int, limit: int) -> int:
    """Where the colon of a lambda stands that has parameters without lambdas."""
    depth, position = 0, start
    blank = [(start + token.start, start + token.end, token.kind) for token in lexemes(code[start:limit])]
    for first, end, kind in [*blank, (limit, limit, "")]:
        found = code.find(":", position, first)
        if depth == 0 and found >= 0:
            return found
        depth += (kind == "open") - (kind == "close")
        position = end
    return code.rindex(":", start, limit)


def _elements(code: str, opening: int, closing: int) -> Elements:
    commas = _commas(code, opening, closing)
    found: list[Element] = []
    start = opening
    for comma in [*commas, None]:
        first, end = _trimmed(code, start, closing if comma is None else comma)
        if first < end:
            found.append(Element(first, end, comma))
        start = closing if comma is None else comma + 1
    return Elements(opening, closing, tuple(found))


def _commas(code: str, start: int, end: int) -> list[int]:
    """The commas that are in no inner bracket, string or comment."""
    found: list[int] = []
    depth, position = 0, start
    for token in lexemes(code[start:end]):
        if depth == 0:
            found += (position + at.start() for at in re.finditer(",", code[position : start + token.start]))
        depth += (token.kind == "open") - (token.kind == "close")
        position = start + token.end
    if depth == 0:
        found += (position + at.start() for at in re.finditer(",", code[position:end]))
    return found


def _trimmed(code: str, start: int, end: int) -> tuple[int, int]:
    """A range without the blanks and comments at its ends."""
    first = last = -1
    position = start
    for token in lexemes(code[start:end]):
        first, last = _widened(code, position, start + token.start, first, last)
        if token.kind in ("string", "open", "close"):
            first, last = (start + token.start if first < 0 else first), start + token.end
        position = start + token.end
    first, last = _widened(code, position, end, first, last)
    return (end, end) if first < 0 else (first, last)


def _widened(code: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    text = code[start:end]
    if not text.strip():
        return first, last
    at = start + len(text) - len(text.lstrip())
    return (at if first < 0 else first), start + len(text.rstrip())


def with_element(document: Document, known: Elements, text: str, index: int | None = None) -> Edit:
    """The edit that adds an element before the one numbered `index`, or at the end.

    Where each element stands on a line of its own, the new one does too; a comma behind the last one is kept.
    """
    code, elements = document.code, known.elements
    index = len(elements) if index is None else index
    if not elements:
        space = " " if code[known.opening - 1] != "(" else ""  # a lambda without parameters
        return _at(document, known.opening, space + text)
    if index < len(elements):
        following = elements[index]
        indent = _indentation(code, following.start)
        return _at(document, following.start, f"{text}, " if indent is None else f"{text},\n{indent}")
    last = elements[-1]
    indent = _indentation(code, last.start)
    if indent is None:
        return _at(document, last.end if last.comma is None else last.comma + 1, _behind(text, last))
    line_end = code.find("\n", last.end if last.comma is None else last.comma)
    if line_end < 0 or line_end > known.closing:
        line_end = last.end if last.comma is None else last.comma + 1
    if last.comma is not None:
        return _at(document, line_end, f"\n{indent}{text},")
    return Edit(document.range(last.end, line_end), f",{code[last.end : line_end]}\n{indent}{text}")


def separator(document: Document, known: Elements) -> str:
    """What stands between two elements: a line end and blanks where each has a line of its own."""
    indent = _indentation(document.code, known.elements[-1].start) if known.elements else None
    return ", " if indent is None else f",\n{indent}"


def index_at(known: Elements, start: int) -> int | None:
    """The number of the element in which a position lies."""
    return next((number for number, one in enumerate(known.elements) if one.start <= start < one.end), None)


def without_element(document: Document, known: Elements, start: int) -> Edit | None:
    """A list without the element in which a position lies, and without one of the commas beside it.

    A comment on the line of an element goes with it if the element has the line to itself; all others stay.
    """
    index = index_at(known, start)
    if index is None:
        return None
    code, element = document.code, known.elements[index]
    lines = _own_lines(code, known, element)
    if lines is not None:
        return Edit(document.range(*lines), "")
    if index == 0:
        end = element.end if element.comma is None else element.comma + 1
        following = known.elements[1].start if len(known.elements) > 1 else known.closing
        return Edit(document.range(element.start, following), _remarks(code[end:following]))
    before = known.elements[index - 1]
    comma = before.end if before.comma is None else before.comma
    between = code[before.end : comma] + code[comma + 1 : element.start].rstrip(" \t")
    return Edit(document.range(before.end, element.end), _remarks(between))


def _remarks(gap: str) -> str:
    """What stands between elements, if there are comments in it."""
    return gap if "#" in gap else ""


def _own_lines(code: str, known: Elements, element: Element) -> tuple[int, int] | None:
    """The lines on which nothing but an element, its comma and a comment on it stand; None if there are others."""
    first = code.rfind("\n", 0, element.start) + 1
    end = element.end if element.comma is None else element.comma + 1
    line_end = code.find("\n", end)
    rest = code[end:line_end].strip()
    alone = first > known.opening and not code[first : element.start].strip() and line_end < known.closing
    return (first, line_end + 1) if alone and line_end >= 0 and (not rest or rest.startswith("#")) else None


def _behind(text: str, last: Element) -> str:
    return f", {text}" if last.comma is None else f" {text},"


def _at(document: Document, offset: int, text: str) -> Edit:
    return Edit(document.range(offset, offset), text)


def _indentation(code: str, start: int) -> str | None:
    """The blanks before a position; None if anything else stands before it on its line."""
    before = code[code.rfind("\n", 0, start) + 1 : start]
    return before if not before.strip() else None
