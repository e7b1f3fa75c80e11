"""A folder that brings an interpreter: it is started where the user allows it, and nowhere else."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


@pytest.fixture
def hostile(project: Path) -> Path:
    """The mark that the interpreter of the project leaves when it is started."""
    python = project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!{shutil.which('sh')}\necho started >> '{project}/mark'\n")
    python.chmod(0o755)
    (project / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    return project / "mark"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose own interpreter has no torch either, which ends experiments at once."""
    package = tmp_path / "broken" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('none of the user')\n")
    path = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    homes = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    return {**homes, "VIRTUAL_ENV": "", "CONDA_PREFIX": "", "PYTHONPATH": path}


@pytest.mark.parametrize("arguments", [("check", "--confirm", "bad.py"), ("confirm", "bad.py")])
@pytest.mark.parametrize("named", [False, True])
def test_it_is_not_started_unasked(
    nonstrict: Command, hostile: Path, settings: dict[str, str], arguments: tuple[str, ...], named: bool
):
    if named:
        (hostile.parent / "nonstrict.toml").write_text('python = ".venv/bin/python"\n')
    said = nonstrict(*arguments, **settings)
    assert not hostile.exists()
    assert f"experiments run in {sys.executable}, its {hostile.parent}/.venv/bin/python is not started" in said.err
    assert said.err.count("is not trusted") == 1


def test_it_is_not_started_to_show_graphs(nonstrict: Command, hostile: Path, settings: dict[str, str]):
    said = nonstrict("confirm", "--show", "graph", "bad.py", **settings)
    assert not hostile.exists()
    assert "is not trusted" in said.err


def test_it_is_where_the_folder_is_trusted(nonstrict: Command, hostile: Path, settings: dict[str, str]):
    assert nonstrict("trust", **settings).out == f"{hostile.parent} is trusted.\n"
    assert nonstrict("trust", "--list", **settings).out == f"{hostile.parent}\n"
    assert "is not trusted" not in nonstrict("confirm", "bad.py", **settings).err
    assert hostile.exists()
    hostile.unlink()
    assert nonstrict("trust", "--remove", **settings).out == f"{hostile.parent} is no longer trusted.\n"
    nonstrict("confirm", "bad.py", **settings)
    assert not hostile.exists()


def test_it_is_for_one_run_on_request(nonstrict: Command, hostile: Path, settings: dict[str, str]):
    assert "is not trusted" not in nonstrict("check", "--confirm", "--trust", "bad.py", **settings).err
    assert hostile.exists()


def test_the_list_does_not_count_for_a_stranger(nonstrict: Command, hostile: Path, settings: dict[str, str]):
    nonstrict("trust", **settings)
    strange = {**settings, "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}
    nonstrict("confirm", "bad.py", **strange)
    assert not hostile.exists()
    nonstrict("confirm", "--trust", "bad.py", **strange)
    assert hostile.exists()


def test_only_folders_are_trusted(nonstrict: Command, project: Path):
    assert nonstrict("trust", "nowhere").status == 2
    assert nonstrict("trust", str(project / "bad.py")).status == 2
