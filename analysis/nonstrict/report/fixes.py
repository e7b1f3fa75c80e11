"""Fixes in words and lines: which findings `--fix` mends, what was mended, and a fix as a small difference."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability
from nonstrict.fixes.applying import CannotApply, applicable, hunks
from nonstrict.report.style import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix, Location
    from nonstrict.fixes.applying import Hunk
    from nonstrict.report.context import Context, Lines
    from nonstrict.report.style import Style

#: So many lines of a difference are shown at most below a finding.
MAX_LINES = 12
_MAX_WIDTH = 160


# -- marks and counts -------------------------------------------------------------------------------------------------


def is_fixable(diagnostic: Diagnostic, context: Context) -> bool:
    """Whether `--fix`, with the further options of the run, mends a finding."""
    return applicable(diagnostic.fixes, context.fixing.least) is not None


def mark(diagnostic: Diagnostic, context: Context, style: Style) -> str:
    """The mark of a finding that `--fix` mends, with a blank behind it; else nothing."""
    return f"[{style.paint('note', '*')}] " if is_fixable(diagnostic, context) else ""


def is_hidden(diagnostic: Diagnostic, context: Context) -> bool:
    """Whether only `--unsafe-fixes` mends a finding, and people may be told so."""
    unsafe = applicable(diagnostic.fixes, Applicability.UNSAFE) is not None
    return unsafe and not is_fixable(diagnostic, context) and context.fixing.hint


def available(diagnostics: Sequence[Diagnostic], context: Context, style: Style) -> str:
    """A line that counts the fixes there are; empty without any."""
    ready = sum(is_fixable(diagnostic, context) for diagnostic in diagnostics)
    hidden = sum(is_hidden(diagnostic, context) for diagnostic in diagnostics)
    rest = ""
    if hidden:
        fixes = "fix" if hidden == 1 else "fixes"
        rest = f" ({hidden:,} hidden {fixes} can be enabled with the `--unsafe-fixes` option)"
    if ready:
        return f"[{style.paint('note', '*')}] {ready:,} fixable with the `--fix` option{rest}.\n"
    return f"No fixes available{rest}.\n" if hidden else ""


def listed(fixed: Sequence[Diagnostic]) -> Iterator[str]:
    """What was fixed, rule by rule in each file."""
    count = len(fixed)
    yield f"Fixed {count:,} {'finding' if count == 1 else 'findings'}:"
    paths = sorted({diagnostic.location.path for diagnostic in fixed})
    for path in paths:
        rules = Counter((one.code, one.name) for one in fixed if one.location.path == path)
        width = max(len(str(number)) for number in rules.values())
        yield f"- {one_line(path)}:"
        for (code, name), number in sorted(rules.items(), key=lambda item: (-item[1], item[0])):
            yield f"    {number:>{width}} \N{MULTIPLICATION SIGN} {code} ({name})"


# -- one fix below its finding ----------------------------------------------------------------------------------------


def shown(fix: LocatedFix, where: Location, context: Context, style: Style, width: int) -> Iterator[str]:
    """A fix below the finding at `where`: its title, then the lines that it changes, those of other places counted.

    `width` is that of the gutter.
    """
    indent = " " * width
    equals, bar = style.paint("blue", "="), style.paint("blue", "|")
    yield f"{indent} {equals} {style.paint('bold', f'fix{trust(fix)}:')} {one_line(fix.title)}"
    try:
        found = changed(fix.edits, where, context.lines)
    except CannotApply:
        return  # the file is another one by now
    room = MAX_LINES
    left: list[tuple[str, int | None]] = []
    at = (where.path, where.cell)
    for file, hunk in found:
        size = len(hunk.old) + len(hunk.new) + (file != at)
        if left or (size > room and room < MAX_LINES):
            left.append(file)
            continue
        if file != at:
            at = file
            yield f"{indent}{style.paint('blue', '-->')} {_name(file)}"
        rows = list(_rows(hunk, style, width))
        yield from rows[: room - 1] if len(rows) > room else rows
        if len(rows) > room:
            yield f"{indent} {bar}   ..."
        room -= size
    if left:
        places = f"{len(left)} more place{'s' if len(left) > 1 else ''}"
        others = {path for path, _ in left} - {where.path}
        files = f" in {len(others)} other file{'s' if len(others) > 1 else ''}" if others else ""
        several = ", some" if files and any(path == where.path for path, _ in left) else ""
        yield f"{indent} {bar} ... and {places}{several}{files}"


def trust(fix: LocatedFix) -> str:
    """How far a fix can be trusted, to stand behind the word `fix`; "" where it is safe."""
    return {Applicability.UNSAFE: " (unsafe)", Applicability.DISPLAY: " (display only)"}.get(fix.applicability, "")


def changed(edits: Sequence[LocatedEdit], where: Location, lines: Lines) -> list[tuple[tuple[str, int | None], Hunk]]:
    """The changed lines by file and cell, those of the finding at `where` first.

    Raises:
        CannotApply: the edits do not fit what the files hold.
    """
    files: dict[tuple[str, int | None], list[LocatedEdit]] = {}
    for edit in edits:
        files.setdefault((edit.location.path, edit.location.cell), []).append(edit)
    order = sorted(files, key=lambda file: (file != (where.path, where.cell), file[0], file[1] or 0))
    return [(file, hunk) for file in order for hunk in hunks(_text(file, files[file], lines), files[file])]


def _text(file: tuple[str, int | None], edits: Sequence[LocatedEdit], lines: Lines) -> list[str]:
    """The lines of a file or cell, as far down as edits reach."""
    last = max(edit.location.end_row for edit in edits)
    found = (lines.line(file[0], row, file[1]) for row in range(1, last + 1))
    return [line for line in found if line is not None]


def _rows(hunk: Hunk, style: Style, width: int) -> Iterator[str]:
    for sign, name, texts in (("-", "removed", hunk.old), ("+", "added", hunk.new)):
        for row, text in enumerate(texts, hunk.row):
            number = style.paint("blue", f"{row:>{width}}")
            yield f"{number} {style.paint(name, f'{sign} {_cut(text)}'.rstrip())}"


def _cut(text: str) -> str:
    shown = "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text.expandtabs(4)
    )
    return shown if len(shown) <= _MAX_WIDTH else shown[: _MAX_WIDTH - 3] + "..."


def _name(file: tuple[str, int | None]) -> str:
    path, cell = file
    return one_line(path) if cell is None else f"{one_line(path)}:cell {cell}"
