"""A directory of entries: damage is noticed, and there is a limit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache import store
from nonstrict.check.cache.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_is_read(tmp_path: Path):
    kept = Store(str(tmp_path / "cache"))
    assert kept.read("one") is None
    kept.write("one", b"data" * 1000)
    assert kept.read("one") == b"data" * 1000
    assert (tmp_path / "cache/.gitignore").read_text() == "*\n"
    assert store.is_cache(str(tmp_path / "cache"))


@pytest.mark.parametrize("at", [0, 15, 16, 20, -1])
def test_a_byte_that_is_another_makes_it_no_entry(tmp_path: Path, at: int):
    kept = Store(str(tmp_path))
    kept.write("one", bytes(range(256)))
    (path,) = tmp_path.glob("*/one")
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    assert kept.read("one") is None
    path.write_bytes(bytes(data[:-3]))
    assert kept.read("one") is None


def test_what_was_used_least_recently_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kept = Store(str(tmp_path))
    for number in range(4):
        kept.write(str(number), os.urandom(1000))
        (path,) = tmp_path.glob(f"*/{number}")
        os.utime(path, (number, number))
    assert kept.read("0") is not None
    monkeypatch.setattr(store, "MAX_BYTES", 2500)
    kept.write("new", b"")
    assert {path.name for path in tmp_path.glob("*/*")} == {"new", "0", "3"}


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    kept = Store(str(tmp_path / "file"))
    kept.write("one", b"data")
    assert kept.read("one") is None
