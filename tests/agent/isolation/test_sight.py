"""The project, the interpreter and temporary files are seen, and nothing else: no home, and no secret of a project."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict_agent.isolation.containment import Containment, Tier
from nonstrict_agent.isolation.sight import sight_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.agent.isolation.containing import Runner


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder in the home of the user who runs the tests, where nothing is open by itself."""
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix=".nonstrict-test-") as directory:
        yield Path(directory)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _file(path: Path, text: str = "secret") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_home_is_not_seen(run: Runner, closed: Path, tmp_path: Path) -> None:
    places = [_file(closed / name) for name in ("notes.txt", ".unheard-of/token", "other-project/model.py")]
    assert run.result(lambda: [_read(path) for path in places], directory=str(tmp_path)) == ["", "", ""]


def test_a_project_in_a_home_is_all_that_is_seen_of_it(run: Runner, closed: Path) -> None:
    own, other = _file(closed / "work/project/sub/model.py", "mine"), _file(closed / "work/other/model.py")
    beside = _file(closed / "work/notes.txt")

    def work() -> list[object]:
        return [_read(own), _read(other), _read(beside), sorted(os.listdir(own.parent.parent))]

    assert run.result(work, directory=str(closed / "work/project")) == ["mine", "", "", ["sub"]]


def test_a_project_is_reached_through_links(run: Runner, closed: Path) -> None:
    own = _file(closed / "disk/project/model.py", "mine")
    secret = _file(closed / "disk/secret")
    (closed / "link").symlink_to(closed / "disk")
    (own.parent / "way-out").symlink_to(secret)
    spelled = closed / "link/project"

    def work() -> list[str]:
        return [_read(spelled / "model.py"), _read(Path("model.py")), _read(spelled / "way-out")]

    assert run.result(work, directory=str(spelled)) == ["mine", "mine", ""]


def test_secrets_of_a_project_are_not_seen(run: Runner, tmp_path: Path) -> None:
    names = [".env", ".env.local", "service/prod.env", ".envrc", ".git/config", ".streamlit/secrets.toml", ".netrc"]
    hidden = [_file(tmp_path / name) for name in names]
    (tmp_path / "config.txt").symlink_to(tmp_path / ".env")
    shown = [_file(tmp_path / name, "open") for name in (".env.example", "service/model.py", ".git/HEAD", "env.py")]

    def work() -> list[object]:
        found = [_read(path) for path in [*hidden, tmp_path / "config.txt"]]
        return [found, [_read(path) for path in shown], ".git" in os.listdir(tmp_path)]

    secret, others, listed = run.result(work, directory=str(tmp_path))
    assert secret == [""] * (len(names) + 1)
    assert others == ["open"] * 4
    assert listed


def test_an_environment_called_like_a_secret_is_one(run: Runner, tmp_path: Path) -> None:
    module = _file(tmp_path / ".env/lib/module.py", "open")
    _file(tmp_path / ".env/pyvenv.cfg", "")
    assert run.result(lambda: _read(module), directory=str(tmp_path)) == "open"


def test_the_interpreter_works(run: Runner, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import json, pytest; print(json.dumps([1]))"]

    def work() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert run.result(work, directory=str(tmp_path)) == "[1]\n"


def test_what_is_asked_for_is_seen_too(run: Runner, closed: Path, tmp_path: Path) -> None:
    folder, file = _file(closed / "shared/data.txt", "data"), _file(closed / "single.txt", "one")
    _file(closed / "more.txt")

    def work() -> list[str]:
        return [_read(path) for path in (folder, file, closed / "more.txt")]

    visible = (str(folder.parent), str(file))
    assert run.result(work, directory=str(tmp_path), visible=visible) == ["data", "one", ""]


def test_a_closed_home_is_written_to_in_memory(copying: Runner, closed: Path, tmp_path: Path) -> None:
    _file(closed / "existing.txt")

    def work() -> str:
        _file(closed / ".cache/library/state", "x")
        return _file(closed / "existing.txt", "mine").read_text()

    answer = copying(work, directory=str(tmp_path))
    assert answer["result"] == "mine"
    assert (closed / "existing.txt").read_text() == "secret"
    assert not (closed / ".cache").exists()
    assert answer["changes"] == [
        ["created", f"{closed}/.cache/", 0],
        ["created", f"{closed}/.cache/library/", 0],
        ["created", f"{closed}/.cache/library/state", 1],
        ["written", f"{closed}/existing.txt", 4],
    ]


def test_a_home_is_no_project_because_a_variable_names_it(
    run: Runner, closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = _file(closed / "notes.txt")
    monkeypatch.setenv("HOME", str(closed))
    monkeypatch.setenv("PATH", os.pathsep.join([str(closed), os.fspath(closed.parent), os.environ["PATH"]]))
    assert run.result(lambda: _read(secret), directory=str(tmp_path)) == ""


def test_a_very_large_project_takes_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nonstrict_agent.isolation.secrets._MOST_FOLDERS", 3)
    near = _file(tmp_path / ".env")
    _file(tmp_path / "a/b/c/d/e/.env")
    sight = sight_of(Containment(Tier.DENY, directory=str(tmp_path)), os.environ)
    assert [path for path in sight.hidden if path.startswith(str(tmp_path))] == [str(near)]
