"""Questions to the disk, kept and asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache import contents
from nonstrict.check.cache.asked import hold, kept
from nonstrict.check.cache.places import Places
from nonstrict.check.cache.runs import Cache, Kind
from nonstrict.check.cache.store import Store
from nonstrict.check.environment import Environments
from nonstrict.program.linking.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_SETTLED", -1_000_000_000_000)


def cache_of(folder: Path, kind: str = "kind") -> Cache:
    store = Store(str(folder / "cache"))
    return Cache(store, Kind(kind, kind), Places(str(folder)), Environments(), [])


def asked(folder: Path) -> Disk:
    """All that can be asked."""
    disk = Disk()
    for name in ("there.py", "none.py", "sub", "sub/none.py"):
        disk.is_file(str(folder / name))
        disk.is_folder(str(folder / name))
        disk.exists(str(folder / name))
    disk.beginning(str(folder / "sub" / "ext."))
    disk.matching(str(folder / "*" / "pyproject.toml"))
    disk.content(str(folder / "there.py"))
    disk.real(str(folder / "there.py"))
    return disk


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file goes": lambda folder: (folder / "there.py").unlink(),
    "a file comes": lambda folder: (folder / "none.py").touch(),
    "a file comes below": lambda folder: (folder / "sub" / "none.py").touch(),
    "an extension comes": lambda folder: (folder / "sub" / "ext.abi3.so").touch(),
    "a match comes": lambda folder: (folder / "sub" / "pyproject.toml").touch(),
    "a file says something else": lambda folder: (folder / "there.py").write_text("else"),
    "a file becomes a link": lambda folder: (
        (folder / "there.py").rename(folder / "moved.py"),
        (folder / "there.py").symlink_to("moved.py"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_answer_is_noticed(tmp_path: Path, change: str):
    (tmp_path / "there.py").write_text("text")
    (tmp_path / "sub").mkdir()
    rest = kept(asked(tmp_path).answers, cache_of(tmp_path), None)
    for _ in range(2):
        cache = cache_of(tmp_path)
        assert hold(rest, cache)
        cache.contents.save()
    (tmp_path / "sub" / "unrelated.txt").touch()
    assert hold(rest, cache_of(tmp_path))
    CHANGES[change](tmp_path)
    assert not hold(rest, cache_of(tmp_path))


def test_what_others_ask_of_a_folder_confirms_nothing(tmp_path: Path):
    one, other = Disk(), Disk()
    one.is_file(str(tmp_path / "one.py"))
    other.is_file(str(tmp_path / "other.py"))
    first = kept(one.answers, cache_of(tmp_path, "first"), None)
    second = kept(other.answers, cache_of(tmp_path, "second"), None)
    (tmp_path / "other.py").touch()
    cache = cache_of(tmp_path, "first")
    assert hold(first, cache)
    cache.contents.save()
    assert not hold(second, cache_of(tmp_path, "second"))


def test_questions_that_were_replaced_answer_nothing(tmp_path: Path):
    one, other = Disk(), Disk()
    one.is_file(str(tmp_path / "one.py"))
    other.is_file(str(tmp_path / "other.py"))
    rest = kept(one.answers, cache_of(tmp_path), None)
    kept(other.answers, cache_of(tmp_path), None)
    assert not hold(rest, cache_of(tmp_path))
    both = kept(one.answers, cache_of(tmp_path), kept(other.answers, cache_of(tmp_path), None))
    (tmp_path / "other.py").touch()
    assert not hold(both, cache_of(tmp_path))
