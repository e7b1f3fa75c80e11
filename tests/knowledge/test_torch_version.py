"""Finding the torch of a user's environment from its files."""

from __future__ import annotations

import os
import sys

import pytest

from nonstrict.knowledge.torch_version import (
    installed_torch,
    lacks_torch,
    release_numbers,
    site_packages,
    torch_version,
)

VERSION_PY = "__version__ = '{}'\ndebug = False\n"


def environment(root, version, *, name=".venv", python="python3.12", stated=True, metadata=True):
    packages = root / name / "lib" / python / "site-packages"
    (packages / "torch").mkdir(parents=True)
    if stated:
        (packages / "torch" / "version.py").write_text(VERSION_PY.format(version))
    if metadata:
        (packages / f"torch-{version}.dist-info").mkdir()
    return packages


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def test_project_environment(tmp_path):
    packages = environment(tmp_path, "2.14.1+cu130")
    found = installed_torch(None, str(tmp_path))
    assert found is not None
    assert (str(found), found.release, found.location) == ("2.14.1+cu130", (2, 14, 1), str(packages))
    assert found.at_least("2.14")
    assert not found.at_least("2.15")


@pytest.mark.parametrize(("stated", "metadata"), [(True, False), (False, True)])
def test_either_source_is_enough(tmp_path, stated, metadata):
    environment(tmp_path, "2.13.0", stated=stated, metadata=metadata)
    assert str(installed_torch(None, str(tmp_path))) == "2.13.0"


def test_subfolder_of_a_repository(tmp_path):
    environment(tmp_path, "2.13.0")
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    assert str(installed_torch(None, str(tmp_path / "src"))) == "2.13.0"


def test_active_environment_comes_before_the_project(tmp_path, monkeypatch):
    environment(tmp_path, "2.13.0")
    environment(tmp_path, "2.15.0", name="active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert str(installed_torch(None, str(tmp_path))) == "2.15.0"


def test_conda_environment(tmp_path, monkeypatch):
    environment(tmp_path, "2.12.0", name="conda")
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    assert str(installed_torch(None, str(tmp_path / "project"))) == "2.12.0"


def test_python_setting_as_interpreter_or_directory(tmp_path):
    environment(tmp_path, "2.13.0")
    environment(tmp_path, "2.15.0", name="other")
    (tmp_path / "other" / "bin").mkdir()
    (tmp_path / "other" / "bin" / "python").write_text("")
    for setting in ("other/bin/python", str(tmp_path / "other"), str(tmp_path / "other" / "bin" / "python")):
        assert str(installed_torch(setting, str(tmp_path))) == "2.15.0"


def test_environment_that_shares_the_base_interpreters_packages(tmp_path):
    environment(tmp_path, "2.13.0", name="base")
    (tmp_path / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    settings = f"home = {tmp_path / 'base' / 'bin'}\ninclude-system-site-packages = true\n"
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(settings)
    assert str(installed_torch(None, str(tmp_path))) == "2.13.0"


def test_editable_install(tmp_path):
    checkout = tmp_path / "pytorch"
    (checkout / "torch").mkdir(parents=True)
    (checkout / "torch" / "version.py").write_text(VERSION_PY.format("2.16.0a0+git12"))
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "__editable__.torch.pth").write_text(f"import something\n{checkout}\n")
    found = installed_torch(None, str(tmp_path))
    assert found is not None
    assert (found.text, found.release) == ("2.16.0a0+git12", (2, 16, 0))


def test_environment_without_torch(tmp_path):
    (tmp_path / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    assert installed_torch(None, str(tmp_path)) is None


def test_setting_that_names_nothing_falls_back(tmp_path):
    directories = site_packages(str(tmp_path / "missing" / "bin" / "python"), str(tmp_path))
    assert all(os.path.isdir(path) for path in directories)


def test_running_interpreter_is_the_last_resort(tmp_path):
    expected = [path for path in sys.path if path.endswith("site-packages")]
    assert set(site_packages(None, str(tmp_path))) & set(expected)


def test_versions():
    assert release_numbers("2.14.0a0+git1") == (2, 14, 0)
    assert release_numbers("nightly") == ()
    assert torch_version("nightly") is None
    assert str(torch_version("2.13")) == "2.13"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """An interpreter in an environment without torch, of a user who has no packages of their own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PYTHONPATH", "PYTHONUSERBASE", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bare" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (tmp_path / "bare" / "bin").mkdir()
    python = tmp_path / "bare" / "bin" / "python"
    python.write_text("#!/bin/sh\n", encoding="utf-8")
    python.chmod(0o755)
    return python


def test_an_interpreter_surely_has_no_torch(bare):
    assert lacks_torch(str(bare))
    environment(bare.parents[2], "2.13.0", name="bare")
    assert not lacks_torch(str(bare))


@pytest.mark.parametrize("where", ["user", "path", "linked", "editable"])
def test_torch_may_be_elsewhere(bare, tmp_path, monkeypatch, where):
    packages = bare.parents[1] / "lib" / "python3.12" / "site-packages"
    if where == "user":
        environment(tmp_path / "home", "2.13.0", name=".local")
    elif where == "path":
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{environment(tmp_path, '2.13.0', name='more')}")
    elif where == "linked":
        (packages / "easy-install.pth").write_text(f"{environment(tmp_path, '2.13.0', name='more')}\n")
    else:
        (packages / "torch-2.14.0a0.dist-info").mkdir()
    assert not lacks_torch(str(bare))


def test_nothing_is_sure_of_an_interpreter_whose_packages_are_not_found(bare, tmp_path):
    assert not lacks_torch(str(tmp_path / "nowhere" / "bin" / "python"))
    script = tmp_path / "tools" / "bin" / "python"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o755)
    assert not lacks_torch(str(script))
