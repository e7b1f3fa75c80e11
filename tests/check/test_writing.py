"""Writing changed files: all or none, and nothing is lost."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from nonstrict.check import writing
from nonstrict.check.fixing import Change
from nonstrict.check.writing import CannotWrite, write_all

if TYPE_CHECKING:
    from pathlib import Path


def change(path: Path, before: bytes = b"old", after: bytes = b"new") -> Change:
    return Change(str(path), before, after)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for path in paths:
        path.write_bytes(b"old")
    return paths


def test_files_are_replaced_with_their_permissions(files: list[Path], tmp_path: Path):
    files[0].chmod(0o640)
    files[1].chmod(0o755)
    write_all([change(path) for path in files])
    assert [path.read_bytes() for path in files] == [b"new"] * 3
    assert [stat.S_IMODE(path.stat().st_mode) for path in files[:2]] == [0o640, 0o755]
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py", "c.py"]


def test_links_stay_links(files: list[Path], tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.py"
    link.symlink_to("../a.py")
    write_all([change(link)])
    assert link.is_symlink()
    assert files[0].read_bytes() == b"new"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_one_that_cannot_be_written_leaves_all_as_they_are(files: list[Path], tmp_path: Path, number: int):
    files[number].chmod(0o444)
    with pytest.raises(CannotWrite, match=rf"{files[number].name} is read-only.*No file was changed"):
        write_all([change(path) for path in files])
    assert [path.read_bytes() for path in files] == [b"old"] * 3
    assert len(os.listdir(tmp_path)) == 3


def test_a_file_that_somebody_else_changed_is_left_alone(files: list[Path]):
    files[2].write_bytes(b"theirs")
    with pytest.raises(CannotWrite, match=r"c\.py was changed by somebody else"):
        write_all([change(path) for path in files])
    assert [path.read_bytes() for path in files] == [b"old", b"old", b"theirs"]


def test_a_file_that_is_gone_is_not_made_anew(files: list[Path], tmp_path: Path):
    files[1].unlink()
    with pytest.raises(CannotWrite, match=r"b\.py cannot be written: .*No file was changed"):
        write_all([change(path) for path in files])
    assert sorted(os.listdir(tmp_path)) == ["a.py", "c.py"]


def test_what_was_written_before_a_failure_is_told(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    replace = os.replace

    def fails_at_last(source: str, target: str) -> None:
        if target.endswith("c.py"):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(writing.os, "replace", fails_at_last)
    with pytest.raises(CannotWrite, match=r"c\.py cannot be written: No space.*changed before: .*a\.py, .*b\.py"):
        write_all([change(path) for path in files])
    assert [path.read_bytes() for path in files] == [b"new", b"new", b"old"]
    assert len(os.listdir(tmp_path)) == 3
