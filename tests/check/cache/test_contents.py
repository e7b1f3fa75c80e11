"""Digests of files, and when a file need not be read again."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache import contents
from nonstrict.check.cache.contents import GONE, Contents, folder_state
from nonstrict.check.cache.store import Store
from nonstrict.text.source import source_from_text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every file count as one that did not change just now."""
    monkeypatch.setattr(contents, "_SETTLED", -1_000_000_000_000)


def again(folder: Path) -> Contents:
    return Contents(Store(str(folder / "cache")))


def noted(folder: Path, path: Path) -> str:
    known = again(folder)
    digest = known.digest(str(path))
    known.save()
    return digest


@pytest.mark.usefixtures("settled")
def test_a_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.py"
    path.write_text("one")
    digest = noted(tmp_path, path)
    monkeypatch.setattr(contents, "blake2b", None)
    assert again(tmp_path).digest(str(path)) == digest


@pytest.mark.usefixtures("settled")
def test_another_text_of_the_same_size_and_time_is_seen(tmp_path: Path):
    path = tmp_path / "a.py"
    path.write_text("one")
    before, status = noted(tmp_path, path), path.stat()
    path.write_text("two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert again(tmp_path).digest(str(path)) != before
    path.unlink()
    assert again(tmp_path).digest(str(path)) == GONE


def test_texts_that_are_supposed_stand_for_files(tmp_path: Path):
    path = tmp_path / "a.py"
    path.write_text("one")
    one, other = (
        Contents(Store(str(tmp_path / "cache")), {str(path): source_from_text(str(path), text)})
        for text in ("one", "other")
    )
    assert len({again(tmp_path).digest(str(path)), one.digest(str(path)), other.digest(str(path))}) == 3
    assert (again(tmp_path).text(str(path)), other.text(str(path))) == ("one", "other")
    assert other.text(str(tmp_path / "b.py")) == ""


def test_what_changed_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.py"
    path.write_text("one")
    noted(tmp_path, path)
    known = again(tmp_path)
    monkeypatch.setattr(contents, "blake2b", None)
    with pytest.raises(TypeError):
        known.digest(str(path))


@pytest.mark.usefixtures("settled")
def test_a_note_holds_until_something_comes_or_goes(tmp_path: Path):
    known = again(tmp_path)
    folder, none = tmp_path / "folder", tmp_path / "none"
    folder.mkdir()
    for place in (folder, none):
        assert not known.is_noted(str(place), folder_state(str(place)))
        known.note(str(place), folder_state(str(place)))
    known.save()
    assert all(again(tmp_path).is_noted(str(place), folder_state(str(place))) for place in (folder, none))
    assert not again(tmp_path).is_noted(f"other {folder}", folder_state(str(folder)))
    time.sleep(0.02)
    (folder / "new").touch()
    none.mkdir()
    assert not any(again(tmp_path).is_noted(str(place), folder_state(str(place))) for place in (folder, none))


@pytest.mark.usefixtures("settled")
def test_notes_that_nobody_uses_are_dropped_when_they_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    known = again(tmp_path)
    known.note("used", [1, 1])
    known.note("unused", [1, 1])
    known.save()
    monkeypatch.setattr(contents, "_MAX_NOTES", 1)
    after = again(tmp_path)
    assert after.is_noted("used", [1, 1])
    after.note("new", [1, 1])
    after.save()
    assert after.is_noted("used", [1, 1])
    assert not again(tmp_path).is_noted("unused", [1, 1])


@pytest.mark.usefixtures("settled")
def test_notes_of_another_machine_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.py"
    path.write_text("one")
    digest = noted(tmp_path, path)
    shutil.copytree(tmp_path / "cache", tmp_path / "elsewhere")
    monkeypatch.setattr(contents, "_machine", lambda: "another")
    read: list[object] = []
    known = contents.blake2b
    monkeypatch.setattr(contents, "blake2b", lambda *given, **named: read.append(given) or known(*given, **named))
    assert again(tmp_path).digest(str(path)) == digest
    assert read
