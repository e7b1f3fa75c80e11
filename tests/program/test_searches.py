"""Answers about the bytes of all files follow files that come, go and change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program.linking.elsewhere import Elsewhere
from nonstrict.program.linking.project import Project
from nonstrict.program.linking.searches import HELD, Bytes

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {"used.py": "LIMIT = 1\n", "user.py": "import used\n\nused.LIMIT = 2\n", "other.py": "LIMIT = 3\n"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: str(tmp_path / name) for name in sorted(TEXTS)}


def asked(found: Bytes) -> Elsewhere:
    """Questions of each kind, answered."""
    elsewhere = Elsewhere(Project(), list(found.files), found)
    elsewhere.importing(b"used")
    elsewhere.holding(["LIMIT"])
    elsewhere.holding(["LIMIT"], whole=True)
    elsewhere.files_storing("LIMIT")
    return elsewhere


def test_who_imports_a_name_that_no_file_has(files: dict[str, str]):
    found = Bytes(list(files.values()), {})
    elsewhere = asked(found)
    assert elsewhere.importing(b"used") == [files["user.py"]]
    left = [path for path in files.values() if path != files["used.py"]]
    assert (b"used", b"") in found.replace_files(left, [files["used.py"]])
    assert found.hits[b"used", b""] == []
    assert Bytes(left, {}).importing(b"used") == []
    assert (b"used", b"") in found.replace_files(list(files.values()), [files["used.py"]])
    assert found.hits[b"used", b""] == [files["user.py"]]


def test_answers_that_were_kept_are_renewed(files: dict[str, str], tmp_path: Path):
    found = Bytes(list(files.values()), {})
    kept = found.answers(asked(found).asked())
    later = Bytes(list(files.values()), {})
    later.resume(kept)
    (tmp_path / "other.py").write_text("nothing = 1\n", encoding="utf-8")
    assert later.renew(files["other.py"]) >= {HELD + b"LIMIT"}
    fresh = Bytes(list(files.values()), {})
    assert later.answers(asked(later).asked()) == fresh.answers(asked(fresh).asked())


def test_what_a_file_outside_of_the_run_says_is_remembered(files: dict[str, str]):
    inside = [files["user.py"]]
    elsewhere = Elsewhere(Project(), inside, Bytes(inside, {}))
    assert elsewhere.says(files["user.py"], "LIMIT")
    assert elsewhere.says(files["used.py"], "LIMIT")
    assert elsewhere.consulted == {files["used.py"]}


def test_words_are_not_found_in_longer_ones(tmp_path: Path):
    texts = {"asks.py": "from torch.func import grad\n", "other.py": "with no_grad():\n    gradient = 1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in texts]
    found = Bytes(files, {})
    elsewhere = Elsewhere(Project(), files, found)
    assert elsewhere.holding(["grad"]) == files
    assert elsewhere.holding(["grad"], whole=True) == files[:1]
    (tmp_path / "other.py").write_text("with no_grad():\n    grad(f)\n")
    assert HELD + b"word grad" in found.renew(files[1])
    assert elsewhere.holding(["grad"], whole=True) == files
