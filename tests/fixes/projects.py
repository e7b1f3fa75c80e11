"""Small projects whose findings are mended as `--fix` does it: the texts afterwards, and what is found in them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.run import RunOptions, check
from nonstrict.findings import Applicability
from nonstrict.fixes.applying import applicable, with_edits
from nonstrict.settings.model import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.check.diagnostics import Diagnostic

_ROUNDS = 10


class Mended(NamedTuple):
    """The files afterwards, the fixes that were made, and the codes of the findings before and after."""

    files: dict[str, str]
    titles: list[str]
    before: list[str]
    after: list[str]


def changed(text: str, *lines: tuple[str, str]) -> str:
    """A text with some pieces replaced, each of which stands in it once."""
    for old, new in lines:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def mended(folder: Path, files: dict[str, str], codes: set[str], least: Applicability = Applicability.UNSAFE) -> Mended:
    """Make the first fix of every finding with one of some codes, again and again until there is none."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = _found(folder, files)
    before, titles = _codes(found), list[str]()
    for _ in range(_ROUNDS):
        changed = _round(folder, found, codes, least)
        if not changed:
            break
        titles += changed
        found = _found(folder, files)
    else:
        raise AssertionError(f"no end of fixes: {titles}")
    return Mended({name: (folder / name).read_text() for name in files}, titles, before, _codes(found))


def _round(folder: Path, found: list[Diagnostic], codes: set[str], least: Applicability) -> list[str]:
    """One fix: what it changes may be what the next one was made for."""
    fixes = (applicable(diagnostic.fixes, least) for diagnostic in found if diagnostic.code in codes)
    fix = next((fix for fix in fixes if fix is not None), None)
    if fix is None:
        return []
    for path in {edit.location.path for edit in fix.edits}:
        edits = [edit for edit in fix.edits if edit.location.path == path]
        file = folder / path
        text = with_edits(path, file.read_text(), edits)
        ast.parse(text)
        file.write_text(text)
    return [fix.title]


def _found(folder: Path, files: dict[str, str]) -> list[Diagnostic]:
    paths = [str(folder / name) for name in files]
    return list(check(paths, Settings(str(folder)), RunOptions(jobs=1)).diagnostics)


def _codes(found: list[Diagnostic]) -> list[str]:
    return sorted(diagnostic.code for diagnostic in found)
