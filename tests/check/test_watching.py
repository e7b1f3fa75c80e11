"""Which folders are watched between runs, and which changes in them call for another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache.held import Depends
from nonstrict.check.watching import Change, Scope, changed_since, scope_of
from nonstrict.program.linking.disk import Ask, Question
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name in ("pkg/model.py", "node_modules/lib/bad.py", "pkg/__pycache__/model.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    monkeypatch.chdir(folder)
    return folder


def scope(project: Path, depends: Depends | None = None) -> Scope:
    return scope_of(["."], default_settings(str(project)), None, depends or Depends())


def test_folders_that_are_left_out_are_not_watched(project: Path):
    inside = {path for path in scope(project).folders if path.startswith(str(project))}
    assert inside == {str(project), str(project / "pkg")}


def test_a_loop_of_links_is_no_loop(project: Path):
    (project / "pkg" / "again").symlink_to(project)
    assert scope(project).folders == scope(project)._replace(files=frozenset()).folders
    assert not any("again" in path for path in scope(project).folders)


@pytest.mark.parametrize(
    ("name", "content", "counts"),
    [
        ("pkg/model.py", True, True),
        ("pkg/notes.swp", False, False),
        ("pyproject.toml", False, True),
        ("pkg/.gitignore", True, True),
        ("pkg", False, True),
        ("pkg", True, False),
        ("lib", False, True),
        ("lib/limits.so", False, True),
        ("lib/limits.so", True, False),
        ("lib/other.so", False, False),
        ("native/ops-3.so", False, True),
        ("native/other-3.so", False, False),
        ("csrc/made.cpp", False, True),
        ("csrc/made.h", False, False),
        ("site/torch-2.13.dist-info", False, True),
        ("site/README", False, False),
        ("base.toml", True, True),
    ],
)
def test_changes_that_count(project: Path, name: str, content: bool, counts: bool):
    at = {name: str(project / name) for name in ("lib/limits.so", "native/ops", "csrc/*.cpp", "base.toml", "site")}
    questions = (
        Question(Ask.FILE, at["lib/limits.so"]),
        Question(Ask.BEGINNING, at["native/ops"]),
        Question(Ask.MATCHES, at["csrc/*.cpp"]),
    )
    known = scope(project, Depends(frozenset({at["base.toml"]}), questions, frozenset({at["site"]})))
    path = str(project / name)
    assert known.certain([Change(path, content)]) == ({path} if counts else set())


def test_the_settings_of_a_repository_count_up_to_its_top(project: Path):
    (project.parent / ".git").mkdir()
    assert str(project.parent) in scope(project).folders
    assert os.path.dirname(project.parent) not in scope(project).folders


def test_what_changed_before_a_folder_was_watched_is_known(project: Path):
    known = scope(project)
    now = 10**18
    os.utime(project / "pkg" / "model.py", ns=(now, now))
    folders = frozenset({str(project / "pkg")})
    moment = (project / "pkg" / "model.py").stat().st_ctime_ns
    assert Change(str(project / "pkg" / "model.py"), content=True) in changed_since(moment, known, folders)
    assert changed_since(moment + 10**12, known, folders) == []
    assert changed_since(moment, known, frozenset()) == []
