"""Finding the torch of a user's environment from its files."""

from __future__ import annotations

import os
import sys

import pytest

from nonstrict.knowledge.torch_version import (
    installed_torch,
    interpreter,
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


def program(path):
    """Stands for an interpreter: a file that may be executed, and is no script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


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


@pytest.mark.parametrize("named", ["missing/bin/python", "env/bin/uv run python", "no-such-python"])
def test_nothing_takes_the_place_of_an_interpreter_that_is_not_there(tmp_path, named):
    """Not even another interpreter beside it."""
    environment(tmp_path, "2.13.0")
    program(environment(tmp_path, "2.14.0", name="env").parents[2] / "bin" / "python")
    python = str(tmp_path / named) if "/" in named else named
    assert site_packages(python, str(tmp_path)) == []
    assert installed_torch(python, str(tmp_path)) is None
    assert interpreter(python, str(tmp_path)) == python


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
    return program(tmp_path / "bare" / "bin" / "python")


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


@pytest.fixture
def conda(bare, tmp_path):
    """An interpreter that has torch."""
    return program(environment(tmp_path, "2.13.0", name="conda").parents[2] / "bin" / "python3.12")


def finds(python, root, version):
    """Whether all that is asked about an interpreter gives the torch of one environment."""
    found = installed_torch(str(python), str(root))
    assert found is not None
    assert found.text == version
    assert site_packages(str(python), str(root))[0] == found.location
    return not lacks_torch(str(python))


@pytest.mark.parametrize("own", ["usr/lib/python3.12/dist-packages", "usr/lib/python3.11/site-packages"])
def test_the_file_at_the_end_of_links_decides(conda, tmp_path, own):
    """A link to it may be in a folder beside the packages of another interpreter."""
    (tmp_path / own).mkdir(parents=True)
    link(tmp_path / "usr" / "bin" / "python3.12", conda)
    assert finds(link(tmp_path / "usr" / "bin" / "python", "python3.12"), tmp_path, "2.13.0")


def test_a_link_to_an_interpreter_without_torch_has_none(bare, tmp_path):
    environment(tmp_path, "2.13.0", name="usr")
    python = link(tmp_path / "usr" / "bin" / "python3.12", bare)
    assert lacks_torch(str(python))
    assert installed_torch(str(python), str(tmp_path)) is None


@pytest.mark.parametrize("folder", ["venv/bin", "venv"])
def test_a_link_in_a_virtual_environment_belongs_to_it(conda, tmp_path, folder):
    python = link(tmp_path / folder / "python", conda)
    (tmp_path / "venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {conda.parent}\n")
    assert lacks_torch(str(python))
    assert installed_torch(str(python), str(tmp_path)) is None
    environment(tmp_path / "venv", "2.14.0", name="more").parent.rename(tmp_path / "venv" / "lib" / "python3.13")
    assert finds(python, tmp_path, "2.14.0")


@pytest.mark.parametrize(("key", "name"), [("version", "python3.12"), ("version_info", "python3"), ("x", "python")])
def test_the_home_of_a_virtual_environment_may_hold_a_link(conda, tmp_path, key, name):
    (tmp_path / "usr" / "lib" / "python3.12" / "dist-packages").mkdir(parents=True)
    home = link(tmp_path / "usr" / "bin" / name, conda).parent
    (tmp_path / "venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    python = link(tmp_path / "venv" / "bin" / "python", home / name)
    shared = f"home = {home}\ninclude-system-site-packages = {{}}\n{key} = 3.12.4\n"
    (tmp_path / "venv" / "pyvenv.cfg").write_text(shared.format("false"))
    assert lacks_torch(str(python))
    (tmp_path / "venv" / "pyvenv.cfg").write_text(shared.format("true"))
    assert str(installed_torch(str(python), str(tmp_path))) == "2.13.0"
    assert not lacks_torch(str(python))


@pytest.mark.parametrize("library", ["lib", "lib64"])
def test_what_the_administrator_installed_counts(bare, tmp_path, library):
    packages = environment(tmp_path, "2.13.0", name="more")
    (bare.parents[1] / "local" / library).mkdir(parents=True)
    packages.parent.rename(bare.parents[1] / "local" / library / "python3.12")
    assert str(installed_torch(str(bare), str(tmp_path))) == "2.13.0"
    assert not lacks_torch(str(bare))


def test_nothing_is_sure_of_a_script(bare):
    bare.write_text('#!/bin/sh\nexec /opt/python "$@"\n')
    assert not lacks_torch(str(bare))


ELSEWHERE = "import sys; sys.path.append('/opt/packages')"
SETUPTOOLS = (
    "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
    "enabled and __import__('_distutils_hack').add_shim(); "
)
NAMESPACE = "import sys, types, os;p = os.path.join(sys._getframe(1).f_locals['sitedir'], *('google',))"


@pytest.mark.parametrize(
    ("name", "text", "sure"),
    [
        ("site.pth", ELSEWHERE, False),
        ("site.pth", "import\tsite_of_ours", False),
        ("site.pth", f"# {ELSEWHERE}", True),
        ("site.txt", ELSEWHERE, True),
        ("_virtualenv.pth", "import _virtualenv", True),
        ("_virtualenv.pth", f"import _virtualenv; {ELSEWHERE}", False),
        ("distutils-precedence.pth", SETUPTOOLS, True),
        ("google-nspkg.pth", NAMESPACE, True),
        ("own.pth", "import __editable___own_1_0_finder; __editable___own_1_0_finder.install()", True),
    ],
)
def test_code_in_link_files_may_add_directories(bare, name, text, sure):
    (bare.parents[1] / "lib" / "python3.12" / "site-packages" / name).write_text(f"{text}\n")
    assert lacks_torch(str(bare)) is sure


@pytest.mark.parametrize("linked", [False, True])
def test_a_torch_without_a_version_is_one(bare, tmp_path, linked):
    packages = bare.parents[1] / "lib" / "python3.12" / "site-packages"
    (packages / "more.pth").write_text(f"{tmp_path / 'checkout'}\n")
    (tmp_path / "checkout").mkdir()
    assert lacks_torch(str(bare))
    ((tmp_path / "checkout" if linked else packages) / "torch").mkdir()
    assert not lacks_torch(str(bare))
