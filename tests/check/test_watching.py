"""Which folders are watched between runs, and which changes in them call for another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache.held import Depends
from nonstrict.check.watching import Change, Scope, changed_since, scope_of
from nonstrict.program.linking.disk import Ask, Question
from nonstrict.settings.choosing import Remembered, settings_below
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
        ("env/lib/python3.11/site-packages/torch-2.13.dist-info", False, True),
        ("env/lib/python3.11/site-packages/README", False, False),
        ("base.toml", True, True),
    ],
)
def test_changes_that_count(project: Path, name: str, content: bool, counts: bool):
    at = {name: str(project / name) for name in ("lib/limits.so", "native/ops", "csrc/*.cpp", "base.toml")}
    (project / "env/lib/python3.11/site-packages").mkdir(parents=True)
    questions = (
        Question(Ask.FILE, at["lib/limits.so"]),
        Question(Ask.BEGINNING, at["native/ops"]),
        Question(Ask.MATCHES, at["csrc/*.cpp"]),
    )
    settings = default_settings(str(project))._replace(python=str(project / "env"))
    known = scope_of(["."], settings, None, Depends(frozenset({at["base.toml"]}), questions))
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
    assert changed_since(moment + 10**6, known, folders) != [], "times of files follow the ticks of the clock"
    assert changed_since(moment + 10**12, known, folders) == []
    assert changed_since(moment, known, frozenset()) == []


@pytest.mark.parametrize("python", [None, "later"])
def test_an_environment_that_is_made_is_another_one(project: Path, monkeypatch: pytest.MonkeyPatch, python: str | None):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    named = str(project / "envs" / python) if python is not None else None
    settings = default_settings(str(project))._replace(python=named)
    prefix = project / "envs" / "later" if python is not None else project / ".venv"
    torch = prefix / "lib" / "python3.11" / "site-packages" / "torch"
    # Each folder is seen in the one above, which is watched by then.
    for folder in [one for one in (*reversed(torch.parents), torch) if not one.exists()]:
        before = scope_of(["."], settings, None, Depends())
        assert str(folder.parent) in before.folders
        assert before.possible([Change(str(folder), content=False)])
        folder.mkdir()
    before = scope_of(["."], settings, None, Depends())
    (torch / "version.py").write_text("__version__ = '2.13.0'\n")
    change = Change(str(torch / "version.py"), content=True)
    assert before.possible([change])
    later = scope_of(["."], settings, None, Depends())
    assert before.differing(later, [change]) == {change.path}
    assert before.differing(later, []) == {str(torch.parent)}
    assert later.differing(later, [change]) == set()


def test_what_links_lead_to_counts(project: Path):
    outside = project.parent / "ext"
    (outside / "pkg").mkdir(parents=True)
    (outside / "real.py").write_text("")
    (outside / "link.py").symlink_to("real.py")
    (project / "helper.py").symlink_to(outside / "link.py")
    (project / "loop.py").symlink_to("loop.py")
    (project / "lib").symlink_to(outside / "pkg")
    read = frozenset({str(project / name) for name in ("helper.py", "loop.py", "lib/limits.py")})
    known = scope(project, Depends(read))
    for name in ("real.py", "link.py"):
        assert known.certain([Change(str(outside / name), content=True)]) == {str(outside / name)}
    assert str(outside) in known.folders
    # The system tells one of the names of a folder.
    for folder in (outside / "pkg", project / "lib"):
        told = known.certain([Change(str(folder / "limits.py"), content=True)])
        assert told == {str(project / "lib" / "limits.py")}


def test_settings_that_were_valid_count_while_they_are_not(project: Path):
    own = project / "sub" / "nonstrict.toml"
    (project / "sub" / "gone").mkdir(parents=True)
    own.write_text('extend-exclude = ["gone"]\n')
    nested = Remembered(settings_below(lambda settings: settings))
    settings = default_settings(str(project))
    before = scope_of(["."], settings, nested.lenient, Depends())
    own.write_text("unknown = 1\n")
    assert scope_of(["."], settings, nested.lenient, Depends()) == before
    assert list(nested.errors) == [str(project / "sub")]
    own.write_text("")
    assert str(project / "sub" / "gone") in scope_of(["."], settings, nested.lenient, Depends()).folders
    assert nested.errors == {}
