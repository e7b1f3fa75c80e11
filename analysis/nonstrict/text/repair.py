"""Code that does not parse, made to parse: the smallest broken statements are cut out, the line count is kept."""

from __future__ import annotations

import ast
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.text.decode import without_surrogates
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_ROUNDS = 100
_MAX_REFINEMENTS = 12
_MAX_REFINED_LINES = 1500
_TOO_DEEP = "nested too deeply to be read; split the expression"


class Cut(NamedTuple):
    """A place that does not parse, in the units of `ast`, and the words of the parser about it."""

    line: int
    column: int
    end_line: int
    end_column: int
    message: str


class Repair(NamedTuple):
    """Code that parses, its tree, and what was cut out of it."""

    code: str
    tree: ast.Module
    cuts: tuple[Cut, ...]


class _Failure(NamedTuple):
    """Why a text does not parse; `line` is 0 where the parser does not say."""

    line: int
    cut: Cut


def parse(code: str) -> ast.Module | None:
    """The tree of a module, or None when it does not parse for whatever reason; warnings of the parser are dropped."""
    tree = _attempt(code)
    return tree if isinstance(tree, ast.Module) else None


def repair(code: str, cells: Sequence[tuple[int, int]] = ()) -> Repair:
    """Cut out of a module what does not parse.

    `cells` are (first line, number of lines) of the pieces that are repaired each by itself; lines outside them are
    taken to be blank. Without cells the module is one piece.
    """
    code = without_surrogates(code).replace("\0", " ")
    lines = code.split("\n")
    cuts: list[Cut] = []
    for first, count in cells or ((1, len(lines)),):
        piece = lines[first - 1 : first - 1 + count]
        fixed, found = _repair_piece(piece)
        lines[first - 1 : first - 1 + count] = fixed
        cuts += [_moved(cut, first - 1) for cut in found]
    result = "\n".join(lines)
    tree = parse(result)
    if tree is None:
        # Pieces that parse one by one join to a module that parses; this holds even where a parser thinks otherwise.
        result = "\n" * result.count("\n")
        tree = ast.Module(body=[], type_ignores=[])
    return Repair(result, tree, tuple(cuts))


def _attempt(code: str) -> ast.Module | _Failure:
    with warnings.catch_warnings():
        # `"\d"` warns while it is parsed; whose code it is, its own tools will say so.
        warnings.simplefilter("ignore")
        try:
            return tree_of(code)
        except SyntaxError as error:
            return _failure(error, code)
        except (RecursionError, MemoryError):
            return _Failure(0, Cut(1, 0, 1, 0, _TOO_DEEP))
        except ValueError:
            return _Failure(0, Cut(1, 0, 1, 0, "not Python"))


def _failure(error: SyntaxError, code: str) -> _Failure:
    """The place of a syntax error: CPython counts code points from 1, and may point behind the text or nowhere."""
    lines = code.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    text = lines[line - 1]
    start = min(max((error.offset or 1) - 1, 0), len(text))
    end = start + 1
    if error.end_lineno == line and error.end_offset is not None and error.end_offset - 1 > start:
        end = error.end_offset - 1
    # An error at the end of a line, or in an empty one, is shown at the last character that is there.
    if start >= len(text) > 0:
        start = len(text.rstrip()) - 1 if text.strip() else 0
    end = min(max(end, start + 1), len(text))
    version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    message = f"{error.msg or 'invalid syntax'} (read with {version})"
    columns = len(text[:start].encode()), len(text[:end].encode())
    return _Failure(line, Cut(line, columns[0], line, columns[1], message))


def _moved(cut: Cut, by: int) -> Cut:
    return cut._replace(line=cut.line + by, end_line=cut.end_line + by)


def _repair_piece(lines: list[str]) -> tuple[list[str], list[Cut]]:
    """Repair one piece: find the definition around each error, and cut within it.

    What parsed once is not parsed again while there are errors below it, so that the time is that of a few parses.
    """
    cuts: list[Cut] = []
    current = list(lines)
    base = 0
    for _ in range(_MAX_ROUNDS):
        outcome = _attempt("\n".join(current[base:]))
        if isinstance(outcome, ast.Module):
            if base == 0:
                return current, cuts
            base = 0
            continue
        if outcome.line == 0:
            break
        at = base + outcome.line - 1
        if not cuts or at + 1 > cuts[-1].line:
            cuts.append(_moved(outcome.cut, base))
        if not _cut_around(current, at):
            break
        base = _block(current, at)[0]
    return _block_by_block(current, cuts)


def _cut_around(lines: list[str], at: int) -> bool:
    """Cut something out around an error, in place: the smallest region that is broken by itself. False if nothing."""
    for start, end in _regions(lines, at):
        fixed = _refined_region(lines[start:end])
        if fixed != lines[start:end]:
            lines[start:end] = fixed
            return True
    start, _ = _block(lines, at)
    if start > 0:
        # The block parses by itself: what stands above it may lack its end, as a `try` or a header alone.
        earlier, _ = _block(lines, start - 1)
        above = _refine(lines[earlier:start])
        if above != lines[earlier:start]:
            lines[earlier:start] = above
            return True
    had = bool(lines[at].strip())
    lines[at] = ""
    return had


def _regions(lines: Sequence[str], at: int) -> list[tuple[int, int]]:
    """The line ranges [start, end) around a line that may be broken by themselves: definitions, innermost first."""
    top, bottom = _block(lines, at)
    found: list[tuple[int, int]] = []
    width = _indent(lines[at]) + 1
    for start in range(at, top, -1):
        text = lines[start].lstrip()
        indent = _indent(lines[start])
        if 0 < indent < width and text.startswith(("def ", "async def ", "class ")):
            end = _deeper_end(lines, start, bottom)
            if end > at:
                found.append((start, end))
                width = indent
    return [*found, (top, bottom)]


def _deeper_end(lines: Sequence[str], start: int, bottom: int) -> int:
    """The end of the lines that are indented deeper than the one at `start`."""
    width = _indent(lines[start])
    end = start + 1
    while end < bottom and (not lines[end].strip() or _indent(lines[end]) > width or lines[end].lstrip()[0] in ")]}"):
        end += 1
    return end


def _refined_region(lines: list[str]) -> list[str]:
    """As `_refine`, for lines that may be indented; unchanged when they parse."""
    if not lines[0][:1].isspace():
        return _refine(lines)
    refined = _refine(["if 1:", *lines])[1:]
    if not any(line.strip() for line in refined):
        refined[0] = lines[0][: len(lines[0]) - len(lines[0].lstrip())] + "pass"
    return refined


def _block_by_block(lines: list[str], cuts: list[Cut]) -> tuple[list[str], list[Cut]]:
    """The last resort: parse each top-level block by itself and drop those that fail."""
    result: list[str] = []
    start = 0
    cuts = list(cuts)
    while start < len(lines):
        _, end = _block(lines, start)
        block = lines[start:end]
        outcome = _attempt("\n".join(block))
        if isinstance(outcome, _Failure):
            if outcome.line == 0 or not cuts:
                first = next((i for i, text in enumerate(block) if text.strip()), 0)
                width = len(block[first].encode())
                at = start + first + 1
                cuts.append(Cut(at, 0, at, width, outcome.cut.message))
            block = [""] * len(block)
        result += block
        start = end
    return result, sorted(cuts)


def _block(lines: Sequence[str], at: int) -> tuple[int, int]:
    """The lines [start, end) of the top-level block around a line: from one line at the margin to the next."""
    start = at
    while start > 0 and not _opens_block(lines, start):
        start -= 1
    end = at + 1
    while end < len(lines) and not _opens_block(lines, end):
        end += 1
    return start, end


def _opens_block(lines: Sequence[str], at: int) -> bool:
    """Whether a top-level statement may start at this line, decorators being the start of what they decorate."""
    text = lines[at]
    if not text or text[0] in " \t\f#)]}\"'\\":
        return False
    if text.startswith(("else", "elif", "except", "finally")) and text.split("#")[0].rstrip().endswith(":"):
        return False
    if text.startswith(("def ", "class ", "async ", "@")):
        return not _decorated(lines, at)
    return True


def _decorated(lines: Sequence[str], at: int) -> bool:
    before = at - 1
    while before >= 0 and lines[before].startswith("#"):
        before -= 1
    return before >= 0 and lines[before].startswith(("@", ")"))


def _refine(block: list[str]) -> list[str]:
    """Cut the broken statements out of a block; the result parses or is blank, or, of a long block, has a line less."""
    current = list(block)
    for _ in range(_MAX_REFINEMENTS):
        outcome = _attempt("\n".join(current))
        if isinstance(outcome, ast.Module):
            return current
        if outcome.line == 0:
            break
        one_less = list(current)
        _blank(one_less, outcome.line - 1, outcome.line)
        if parse("\n".join(one_less)) is not None:
            return one_less
        if len(block) > _MAX_REFINED_LINES:
            return one_less if one_less != block else [""] * len(block)
        attempt = _cut_errors(current, outcome.line)
        if attempt == current:
            break
        current = attempt
    return [""] * len(block)


def _cut_errors(lines: list[str], line: int) -> list[str]:
    """Cut what parso's error recovery could not place, or else the smallest statement around the line."""
    from nonstrict.text.recovery import broken_statements

    try:
        ranges = broken_statements("\n".join(lines), line)
    except RecursionError:
        return lines
    result = list(lines)
    for first, last in ranges:
        _blank(result, first - 1, last)
    if result == lines:
        _blank(result, line - 1, _same_indent_end(lines, line - 1))
    return result


def _same_indent_end(lines: Sequence[str], at: int) -> int:
    """The end (exclusive) of the lines from `at` on that are indented at least as deeply."""
    width = _indent(lines[at])
    end = at + 1
    while width and end < len(lines) and (not lines[end].strip() or _indent(lines[end]) >= width):
        end += 1
    return end


def _blank(lines: list[str], start: int, end: int) -> None:
    """Empty the lines [start, end), leaving a `pass` so that a block that loses its only statement stays one."""
    first = next((i for i in range(start, min(end, len(lines))) if lines[i].strip()), None)
    for i in range(start, min(end, len(lines))):
        was_pass = lines[i].strip() == "pass"
        keep = i == first and not was_pass and lines[i].lstrip()[:1] not in {")", "]", "}"}
        lines[i] = lines[i][: len(lines[i]) - len(lines[i].lstrip())] + "pass" if keep else ""


def _indent(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())
