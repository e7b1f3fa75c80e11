"""Projects that are installed together: members of a workspace, and dependencies that are given by their path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program.linking.disk import Disk
from nonstrict.program.linking.linked_projects import linked_projects
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path

MEMBER = '[project]\nname = "some"\n'
WORKSPACE = '[tool.uv.workspace]\nmembers = ["packages/*"]\nexclude = ["packages/old"]\n'


def written(folder: Path, files: dict[str, str]) -> Project:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return Project()


def found(project: Project, folder: Path, importer: str, dotted: str) -> str | None:
    module = project.module(str(folder / importer))
    assert module is not None
    path = project.find(dotted, module)
    return path and path.removeprefix(f"{folder}/")


@pytest.fixture
def workspace(tmp_path: Path) -> Project:
    return written(
        tmp_path,
        {
            "pyproject.toml": WORKSPACE,
            "train.py": "",
            "packages/app/pyproject.toml": MEMBER,
            "packages/app/src/app/main.py": "",
            "packages/lib/pyproject.toml": "[tool.uv.build-backend]\nmodule-root = 'python'\n",
            "packages/lib/python/lib/ops.py": "",
            "packages/flat/pyproject.toml": MEMBER,
            "packages/flat/flat/ops.py": "",
            "packages/old/pyproject.toml": MEMBER,
            "packages/old/src/old/ops.py": "",
            "packages/no_member/src/other/ops.py": "",
        },
    )


@pytest.mark.parametrize("importer", ["train.py", "packages/app/src/app/main.py", "packages/flat/flat/ops.py"])
@pytest.mark.parametrize(
    ("dotted", "path"),
    [
        ("lib.ops", "packages/lib/python/lib/ops.py"),
        ("flat.ops", "packages/flat/flat/ops.py"),
        ("app.main", "packages/app/src/app/main.py"),
        ("old.ops", None),
        ("other.ops", None),
    ],
)
def test_members_of_a_workspace(
    workspace: Project, tmp_path: Path, importer: str, dotted: str, path: str | None
) -> None:
    assert found(workspace, tmp_path, importer, dotted) == path


def test_a_project_within_a_workspace_that_is_no_member_imports_nothing_of_it(
    workspace: Project, tmp_path: Path
) -> None:
    assert found(workspace, tmp_path, "packages/old/src/old/ops.py", "lib.ops") is None


SOURCES = {
    "uv": "[tool.uv.sources]\nlib = {path = '../lib', editable = true}\n",
    "uv, by platform": "[tool.uv.sources]\nlib = [{path = '../lib', marker = 'x'}, {index = 'i'}]\n",
    "poetry": "[tool.poetry.dependencies]\npython = '^3.10'\nlib = {path = '../lib', develop = true}\n",
    "a group of poetry": "[tool.poetry.group.dev.dependencies]\nlib = {path = '../lib'}\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_dependencies_by_their_path_and_theirs(name: str, tmp_path: Path) -> None:
    files = {
        "app/pyproject.toml": SOURCES[name],
        "app/main.py": "",
        "lib/pyproject.toml": "[tool.uv.sources]\nbase = {path = '../base'}\napp = {path = '../app'}\n",
        "lib/src/lib/ops.py": "",
        "base/setup.py": "",
        "base/base/ops.py": "",
    }
    project = written(tmp_path, files)
    assert found(project, tmp_path, "app/main.py", "lib.ops") == "lib/src/lib/ops.py"
    assert found(project, tmp_path, "app/main.py", "base.ops") == "base/base/ops.py"
    assert linked_projects(str(tmp_path / "app"), Disk()) == (str(tmp_path / "lib"), str(tmp_path / "base"))


@pytest.mark.parametrize(
    "text",
    [
        "[tool.uv]\nworkspace = 1\nsources = 2\n",
        "[tool.uv.workspace]\nmembers = 3\n[tool.uv.sources]\nlib = {path = 4}\n",
        "[tool.uv.sources]\nlib = {path = 'lib-1.0-py3-none-any.whl'}\nother = {git = 'https://example.org/other'}\n",
        "[tool.poetry]\ndependencies = []\ngroup = {dev = 1}\n",
        "no TOML",
    ],
)
def test_settings_that_name_no_project(text: str, tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": text, "main.py": ""})
    assert linked_projects(str(tmp_path), Disk()) == ()
