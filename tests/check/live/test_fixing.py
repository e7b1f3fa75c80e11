"""Fixes in an editor: those of a fresh check, for the texts that are open, and made without changing these."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.check.live.fixed import differences, fixed
from nonstrict.check.live.folder import Folder
from nonstrict.check.run import RunOptions, check
from nonstrict.findings import Applicability
from nonstrict.fixes.applying import with_edits
from nonstrict.settings.model import default_settings
from nonstrict.text.source import source_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.findings import Diagnostic, LocatedEdit, LocatedFix, Location

CASES = sorted((Path(__file__).parents[2] / "corpus" / "cases").glob("*.py"))
#: A marker whose result is discarded, and a second one; a suppression that suppresses nothing.
DISCARDED = """\
import torch


def scaled(x):
    return x * 2


def shifted(x):
    return x + 1


torch._dynamo.nonstrict_trace(scaled)
torch._dynamo.nonstrict_trace(shifted)


@torch.compile
def region(x):
    return scaled(shifted(x))  # nonstrict: ignore[NST101]
"""


def write(root: Path, **files: str) -> Folder:
    """A folder of files, analysed."""
    for name, text in files.items():
        (root / f"{name}.py").write_bytes(text.encode())
    folder = Folder(str(root))
    folder.scan()
    return folder


def settle(folder: Folder) -> None:
    """Examine what is left to examine."""
    while folder.pending():
        folder.examine(folder.pending()[0])


def fixes_of(folder: Folder, path: str) -> dict[tuple[str, Location], tuple[LocatedFix, ...]]:
    found = folder.diagnostics(path)
    known = folder.fixes(path, found)
    return {(one.code, one.location): known.get((one.code, one.location), one.fixes) for one in found}


def safe(diagnostics: Sequence[Diagnostic]) -> Iterable[tuple[Diagnostic, LocatedFix]]:
    return [(one, fix) for one in diagnostics for fix in one.fixes[:1] if fix.applicability is Applicability.SAFE]


def made(text: str, edits: Iterable[LocatedEdit]) -> str:
    return with_edits("a.py", text, edits)


@pytest.mark.parametrize("number", range(8))
def test_fixes_are_those_of_a_check(tmp_path: Path, number: int):
    # One function at a time in the editor, all of them in a check: neither may know of fixes that the other does not.
    offered = 0
    for case in CASES[number::8]:
        root = tmp_path / case.stem
        root.mkdir()
        path = str(shutil.copy(case, root))
        result = check([path], default_settings(str(root)), RunOptions(cache=False, jobs=1))
        folder = Folder(str(root))
        found = folder.diagnostics(path)
        assert [one.location for one in found] == [one.location for one in result.diagnostics]
        for one, fresh in zip(found, result.diagnostics, strict=True):
            known = folder.fixes(path, [one])
            assert known.get((one.code, one.location), one.fixes) == fresh.fixes, (path, one)
            offered += len(fresh.fixes)
    assert offered


def test_fixes_are_made_for_the_texts_that_are_open(tmp_path: Path):
    folder = write(tmp_path, a=DISCARDED)
    path = str(tmp_path / "a.py")
    for moved in ("", "# above\n", "# above\n\n\n"):
        text = moved + DISCARDED
        folder.set_text(path, text)
        ((edit,),) = [
            fix.edits
            for (code, where), fixes in fixes_of(folder, path).items()
            if code == "NST603"
            for fix in fixes
            if where.row == 12 + moved.count("\n")
        ]
        assert made(text, [edit]) == text.replace(
            "\ntorch._dynamo.nonstrict_trace(sc", "\nscaled = torch._dynamo.nonstrict_trace(sc"
        )


def test_nothing_is_left_afterwards_and_the_text_is_as_it_was(tmp_path: Path):
    folder = write(tmp_path, a=DISCARDED)
    path = str(tmp_path / "a.py")
    folder.set_text(path, DISCARDED)
    settle(folder)
    before = folder.diagnostics(path)
    assert [one.code for one in before] == ["NST603", "NST603", "NST902"]
    text = made(DISCARDED, fixed(folder, path, {path: DISCARDED}, safe, lambda: None))
    assert folder.diagnostics(path)[:2] == before[:2]
    assert text == DISCARDED.replace(
        "\ntorch._dynamo.nonstrict_trace(sc", "\nscaled = torch._dynamo.nonstrict_trace(sc"
    ).replace("\ntorch._dynamo.nonstrict_trace(sh", "\nshifted = torch._dynamo.nonstrict_trace(sh").replace(
        "  # nonstrict: ignore[NST101]", ""
    )
    folder.set_text(path, text)
    assert folder.diagnostics(path) == ()
    assert fixed(folder, path, {path: text}, safe, lambda: None) == ()


def test_a_closed_file_is_left_as_it_is(tmp_path: Path):
    folder = write(tmp_path, a=DISCARDED)
    path = str(tmp_path / "a.py")
    before = folder.diagnostics(path)
    assert fixed(folder, path, {}, safe, lambda: None)
    assert folder.diagnostics(path) == before
    assert not folder.opened()
    assert (tmp_path / "a.py").read_bytes().decode() == DISCARDED


def test_an_interrupted_search_leaves_the_text_as_it_was(tmp_path: Path):
    folder = write(tmp_path, a=DISCARDED)
    path = str(tmp_path / "a.py")
    folder.set_text(path, DISCARDED)
    before = folder.diagnostics(path)
    asked: list[int] = []

    def checkpoint() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fixed(folder, path, {path: DISCARDED}, safe, checkpoint)
    assert folder.diagnostics(path) == before


def test_the_cells_of_a_notebook(tmp_path: Path):
    cells = [{"cell_type": "code", "source": part} for part in DISCARDED.split("\n\n\n")]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}), encoding="utf-8")
    folder = Folder(str(tmp_path))
    path = str(tmp_path / "a.ipynb")
    edits = fixed(folder, path, {}, safe, lambda: None)
    assert {(edit.location.cell, edit.location.row, edit.text) for edit in edits} >= {
        (4, 1, "scaled = "),
        (4, 2, "shifted = "),
    }


def test_settings_decide_what_is_mended(tmp_path: Path):
    (tmp_path / "nonstrict.toml").write_text('unfixable = ["NST603"]\n', encoding="utf-8")
    folder = write(tmp_path, a=DISCARDED)
    assert not [
        fixes for (code, _), fixes in fixes_of(folder, str(tmp_path / "a.py")).items() if code == "NST603" and fixes
    ]


_TEXTS = st.lists(st.sampled_from(["", "a", "b", "ab", "é𝒳", "    return x"]), max_size=8).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(_TEXTS, _TEXTS, st.sampled_from(["\n", "\r\n"]))
def test_differences_make_one_text_of_another(before: str, after: str, end: str):
    old, new = (source_from_bytes("a.py", text.replace("\n", end).encode()) for text in (before, after))
    edits = tuple(differences(old, new))
    assert made(before, edits) == after
    assert bool(edits) == (before != after)
