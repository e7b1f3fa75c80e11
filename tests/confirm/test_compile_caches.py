"""What experiments compiled is kept apart, removed when asked for, and does not grow without end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.confirm import compile_caches

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86400.0


def _cache(home: Path, tier: str, root: Path, size: int, days: float) -> Path:
    """A cache of some bytes that was last used some days ago."""
    path = home / tier / "projects" / compile_caches.name_of(str(root))
    path.mkdir(parents=True)
    (path / "kernel").write_bytes(b"x" * size)
    when = path.stat().st_mtime - days * DAY
    os.utime(path, (when, when))
    return path


def test_two_names_of_a_folder_are_one_project(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "project")
    assert compile_caches.name_of(f"{tmp_path}/link") == compile_caches.name_of(f"{tmp_path}/project")
    assert compile_caches.name_of(f"{tmp_path}/other") != compile_caches.name_of(f"{tmp_path}/project")


def test_the_oldest_are_removed_until_the_rest_fits(tmp_path: Path) -> None:
    old = _cache(tmp_path, "deny", tmp_path / "a", 500, 9)
    older = _cache(tmp_path, "copy-on-write", tmp_path / "b", 500, 20)
    new = _cache(tmp_path, "copy-on-write", tmp_path / "a", 500, 1)
    warm = tmp_path / "deny" / "warm"
    warm.mkdir()
    compile_caches.prune(str(tmp_path), 1500)
    assert old.exists()
    assert older.exists()
    compile_caches.prune(str(tmp_path), 1000)
    assert not older.exists()
    compile_caches.prune(str(tmp_path), 10)
    assert [path.name for path in (tmp_path / "deny" / "projects").iterdir()] == []
    assert not new.exists()
    assert warm.exists()


def test_what_may_be_in_use_is_kept(tmp_path: Path) -> None:
    used = _cache(tmp_path, "deny", tmp_path / "a", 500, 0)
    compile_caches.prune(str(tmp_path), 10)
    assert used.exists()


def test_links_that_code_planted_lead_to_no_other_files(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"x" * 10_000)
    cache = _cache(tmp_path / "home", "deny", tmp_path / "a", 10, 9)
    when = cache.stat().st_mtime
    (cache / "link").symlink_to(precious)
    (cache.parent / "planted").symlink_to(precious)
    os.utime(cache, (when, when))
    compile_caches.prune(str(tmp_path / "home"), 5_000)
    assert cache.exists()
    compile_caches.prune(str(tmp_path / "home"), 5)
    assert not cache.exists()
    assert (precious / "file").exists()


def test_those_of_one_project_are_removed_in_all_tiers(tmp_path: Path) -> None:
    own = [_cache(tmp_path, tier, tmp_path / "a", 5, 1) for tier in ("copy-on-write", "deny", "none")]
    other = _cache(tmp_path, "deny", tmp_path / "b", 5, 1)
    assert compile_caches.remove(str(tmp_path), str(tmp_path / "a")) == [str(path) for path in own]
    assert not any(path.exists() for path in own)
    assert other.exists()
