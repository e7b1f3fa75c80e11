"""Whose interpreter experiments start: never one that came with a folder which is not trusted."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.venues import chosen_python
from nonstrict.confirm import trust
from nonstrict.settings.load import nearest_settings, settings_from_assignment
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nonstrict.settings.model import Settings


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """The environment of a user who activated nothing."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    return {"XDG_CONFIG_HOME": str(tmp_path / "configuration")}


@pytest.fixture
def brought(tmp_path: Path) -> str:
    """The interpreter of an environment that a folder brings."""
    return _environment(tmp_path / "project" / ".venv")


def _environment(prefix: Path) -> str:
    python = prefix / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    (prefix / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    return str(python)


def _chosen(settings: Settings, user: Mapping[str, str]) -> trust.Python:
    return chosen_python(settings, lambda folder: trust.is_trusted(folder, user))


def test_an_environment_of_the_folder_needs_trust(tmp_path: Path, user: Mapping[str, str], brought: str) -> None:
    settings = default_settings(str(tmp_path / "project"))
    path, notice = _chosen(settings, user)
    assert path == sys.executable
    assert brought in notice
    assert sys.executable in notice
    assert "\n" not in notice
    trust.trust(str(tmp_path / "project"), user)
    assert _chosen(settings, user) == (brought, "")
    assert trust.distrust(str(tmp_path / "project"), user)
    assert _chosen(settings, user).path == sys.executable


def test_so_does_one_that_its_settings_name(tmp_path: Path, user: Mapping[str, str]) -> None:
    elsewhere = _environment(tmp_path / "elsewhere")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "nonstrict.toml").write_text(f'python = "{elsewhere}"\n')
    settings = nearest_settings(str(tmp_path / "project"))
    assert settings is not None
    assert _chosen(settings, user).path == sys.executable
    trust.trust(str(tmp_path / "project"), user)
    assert _chosen(settings, user).path == elsewhere


def test_one_that_the_user_names_does_not(tmp_path: Path, user: Mapping[str, str], brought: str) -> None:
    settings = settings_from_assignment(default_settings(str(tmp_path / "project")), f'python = "{brought}"')
    assert _chosen(settings, user) == (brought, "")


def test_one_that_the_user_activated_does_not(
    tmp_path: Path, user: Mapping[str, str], brought: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _environment(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    (tmp_path / "project" / "nonstrict.toml").write_text('python = ".venv/bin/python"\n')
    settings = nearest_settings(str(tmp_path / "project"))
    assert settings is not None
    assert _chosen(settings, user).path == other
    assert brought in _chosen(settings, user).notice


def test_trust_reaches_down_and_not_up(tmp_path: Path, user: Mapping[str, str]) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    trust.trust(str(tmp_path / "link"), user)
    assert trust.is_trusted(str(tmp_path / "a" / "b"), user)
    assert not trust.is_trusted(str(tmp_path), user)
    assert not trust.is_trusted(f"{tmp_path}/ab", user)


def test_the_list_belongs_to_its_user(tmp_path: Path, user: Mapping[str, str]) -> None:
    trust.trust(str(tmp_path), user)
    path = trust.list_path(user)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert trust.is_trusted(str(tmp_path), user)
    os.chmod(path, 0o620)
    assert not trust.is_trusted(str(tmp_path), user)
    with pytest.raises(trust.TrustError, match="written by others"):
        trust.trust(str(tmp_path / "more"), user)


def test_a_list_that_makes_no_sense_trusts_nothing(tmp_path: Path, user: Mapping[str, str]) -> None:
    trust.trust(str(tmp_path), user)
    path = trust.list_path(user)
    for text in ("{", '["/"]', '{"trusted": "/"}', '{"trusted": [1, null]}'):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        assert not trust.is_trusted(str(tmp_path), user)


def _github(tmp_path: Path, name: str, event: object) -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event))
    return {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path)}


def _of(repository: str) -> dict[str, object]:
    return {"repository": {"full_name": "us/it"}, "pull_request": {"head": {"repo": {"full_name": repository}}}}


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
def test_what_a_fork_proposes_is_trusted_by_no_list(tmp_path: Path, user: Mapping[str, str], name: str) -> None:
    trust.trust(str(tmp_path), user)
    assert trust.is_trusted(str(tmp_path), {**user, **_github(tmp_path, name, _of("us/it"))})
    assert not trust.is_trusted(str(tmp_path), {**user, **_github(tmp_path, name, _of("them/it"))})
    deleted = {"repository": {"full_name": "us/it"}, "pull_request": {"head": {"repo": None}}}
    assert not trust.is_trusted(str(tmp_path), {**user, **_github(tmp_path, name, deleted)})
    assert not trust.is_trusted(str(tmp_path), {**user, "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name})


def test_pushes_and_merges_of_ones_own_are_as_elsewhere(tmp_path: Path, user: Mapping[str, str]) -> None:
    trust.trust(str(tmp_path), user)
    assert trust.is_trusted(str(tmp_path), {**user, **_github(tmp_path, "push", {})})
    ours = {"CI_MERGE_REQUEST_PROJECT_ID": "1", "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1"}
    assert trust.is_trusted(str(tmp_path), {**user, **ours})
    assert not trust.is_trusted(str(tmp_path), {**user, **ours, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"})
