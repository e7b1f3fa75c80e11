"""Imports lead where they lead in Python: every case is run by Python too, and both answers are compared."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from nonstrict.check.analysis import AnalysisOptions, analyse
from nonstrict.check.files import discover
from nonstrict.check.live.folder import Folder
from nonstrict.program.linking.project import Project
from nonstrict.program.linking.search_path import project_of
from nonstrict.settings.model import default_settings


class Case(NamedTuple):
    """`files` by path; the one that holds `import_` is `importer`, Python is started with `command`."""

    files: tuple[str, ...]
    importer: str
    import_: str
    module: str
    expected: str
    command: tuple[str, ...] = ()
    #: statements before the import
    before: str = ""
    #: files that are not empty
    texts: tuple[tuple[str, str], ...] = ()


ADDS = """\
import os.path as osp
import sys


def add_path(path):
    if path not in sys.path:
        sys.path.insert(0, path)


lib = osp.join(osp.dirname(__file__), "..", "lib")
add_path(lib)
"""
HERE = "import os, sys\nfrom pathlib import Path\n"
CASES = {
    "beside the script": Case(("tools/ops.py",), "tools/train.py", "import ops", "ops", "tools/ops.py"),
    "the folder of a script goes before the root": Case(
        ("ops.py", "tools/ops.py"), "tools/train.py", "import ops", "ops", "tools/ops.py"
    ),
    "the root, with -m": Case(
        ("models/att.py",), "tools/train.py", "import models.att", "models.att", "models/att.py", ("-m", "tools.train")
    ),
    "a folder without __init__.py, from the root": Case(
        ("models/att.py",), "train.py", "from models import att", "models.att", "models/att.py"
    ),
    "a folder without __init__.py, from within it": Case(
        ("models/helper.py",),
        "models/att.py",
        "import models.helper",
        "models.helper",
        "models/helper.py",
        ("-c", "import models.att"),
    ),
    "below another folder without __init__.py": Case(
        ("lib/nn/helper.py",), "run.py", "import lib.nn.helper", "lib.nn.helper", "lib/nn/helper.py"
    ),
    "what names its own folder is not run from within it": Case(
        ("models/utils.py", "models/base.py", "utils.py"),
        "models/att.py",
        "import models.base\nimport utils",
        "utils",
        "utils.py",
        ("-c", "import models.att"),
    ),
    "a sibling folder, from a package": Case(
        ("models/__init__.py", "utils/ops.py"),
        "models/att.py",
        "import utils.ops",
        "utils.ops",
        "utils/ops.py",
        ("-c", "import models.att"),
    ),
    "a package goes before a module": Case(
        ("ops.py", "ops/__init__.py"), "train.py", "import ops", "ops", "ops/__init__.py"
    ),
    "a module goes before a folder without __init__.py": Case(
        ("ops.py", "ops/x.py"), "train.py", "import ops", "ops", "ops.py"
    ),
    "src, put first by a literal": Case(
        ("src/pkg/__init__.py",),
        "train.py",
        "import pkg",
        "pkg",
        "src/pkg/__init__.py",
        before="import sys\nsys.path.insert(0, 'src')\n",
    ),
    "src goes before the root if it is put first": Case(
        ("vendored/ops.py", "ops.py"),
        "train.py",
        "import ops",
        "ops",
        "vendored/ops.py",
        before=HERE + "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vendored'))\n",
    ),
    "what is appended goes behind": Case(
        ("vendored/ops.py", "ops.py"),
        "train.py",
        "import ops",
        "ops",
        "ops.py",
        before=HERE + "sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'vendored'))\n",
    ),
    "appended": Case(
        ("third/party/ops.py",),
        "tools/train.py",
        "import ops",
        "ops",
        "third/party/ops.py",
        before="from sys import path\nfrom os.path import dirname, join\n"
        "path.append(join(dirname(__file__), '..', 'third', 'party'))\n",
    ),
    "a path of pathlib": Case(
        ("lib/ops.py",),
        "tools/deep/train.py",
        "import ops",
        "ops",
        "lib/ops.py",
        before=HERE + "ROOT = Path(__file__).resolve().parent.parent.parent\nsys.path.insert(0, str(ROOT / 'lib'))\n",
    ),
    "the parents of a path": Case(
        ("lib/ops.py",),
        "tools/deep/train.py",
        "import ops",
        "ops",
        "lib/ops.py",
        before=HERE + "sys.path += [str(Path(__file__).absolute().parents[2] / 'lib')]\n",
    ),
    "two folders, the last one that is put first wins": Case(
        ("a/ops.py", "b/ops.py"),
        "train.py",
        "import ops",
        "ops",
        "b/ops.py",
        before="import sys\nsys.path.insert(0, 'a')\nsys.path.insert(0, 'b')\n",
    ),
    "a list before the path": Case(
        ("a/ops.py", "b/ops.py"),
        "train.py",
        "import ops",
        "ops",
        "a/ops.py",
        before="import sys\nsys.path = ['a', 'b'] + sys.path\n",
    ),
    "a function of the file puts first what it is given": Case(
        ("lib/ops.py", "ops.py"), "tools/train.py", "import ops", "ops", "lib/ops.py", before=ADDS
    ),
    "a module that is imported puts a folder first": Case(
        ("lib/models/net.py", "models/net.py"),
        "tools/train.py",
        "from models import net",
        "models.net",
        "lib/models/net.py",
        before="import _init_paths\n",
        texts=(("tools/_init_paths.py", ADDS),),
    ),
    "a module of a folder without __init__.py that is imported puts a folder first": Case(
        ("lib/ops.py", "ops.py"),
        "tools/train.py",
        "import ops",
        "ops",
        "lib/ops.py",
        ("-m", "tools.train"),
        before="from tools import paths\n",
        texts=(("tools/paths.py", ADDS),),
    ),
    "a module that imports one that puts a folder first": Case(
        ("lib/ops.py",),
        "tools/train.py",
        "import ops",
        "ops",
        "lib/ops.py",
        before="import setup_paths\n",
        texts=(
            ("tools/setup_paths.py", "import sys\nfrom _more import *\nsys.path.append('x')\n"),
            ("tools/_more.py", ADDS),
        ),
    ),
    "folders in a loop": Case(
        ("third_party/ops.py",),
        "tools/train.py",
        "import ops",
        "ops",
        "third_party/ops.py",
        before=HERE + "for name in ('lib', 'third_party'):\n"
        "    sys.path.append(str(Path(__file__).resolve().parents[1] / name))\n",
    ),
    "the start of the path": Case(
        ("a/ops.py", "b/ops.py", "ops.py"),
        "train.py",
        "import ops",
        "ops",
        "a/ops.py",
        before="import sys\nsys.path[0:0] = ['a', 'b']\n",
    ),
    "a list around the path": Case(
        ("a/ops.py", "ops.py"),
        "train.py",
        "import ops",
        "ops",
        "a/ops.py",
        before="import sys\nsys.path = ['a', *sys.path, 'b']\n",
    ),
    "a function that nobody calls puts nothing there": Case(
        ("lib/ops.py", "ops.py"),
        "train.py",
        "import ops",
        "ops",
        "ops.py",
        before="import sys\ndef add():\n    sys.path.insert(0, 'lib')\n",
    ),
    "the standard library is not looked for in the root": Case(
        ("json/decoder.py", "tools/x.py"), "tools/train.py", "import json.decoder", "json.decoder", ""
    ),
}


def written(case: Case, root: Path) -> None:
    for name in (*case.files, case.importer):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    told = f"{case.before}{case.import_}\nimport sys as _s\nprint(_s.modules[{case.module!r}].__file__)\n"
    (root / case.importer).write_text(told)
    for name, text in case.texts:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "pyproject.toml").write_text("")


def python_finds(case: Case, root: Path) -> str:
    command = [sys.executable, *(case.command or (case.importer,))]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, env=environment)
    found = os.path.relpath(run.stdout.strip(), root)
    return "" if found.startswith("..") else found


@pytest.mark.parametrize("name", CASES)
def test_an_import_leads_where_python_finds_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    written(case, tmp_path)
    assert python_finds(case, tmp_path) == case.expected
    for folder in (tmp_path, tmp_path / os.path.dirname(case.importer)):
        monkeypatch.chdir(folder)
        for path in (str(tmp_path / case.importer), os.path.relpath(tmp_path / case.importer)):
            project = Project()
            importer = project.module(path)
            assert importer is not None
            found = project.find(case.module, importer)
            assert (os.path.relpath(found, tmp_path) if found else "") == case.expected
            assert found is None or os.path.isabs(found) == os.path.isabs(path)


RELATIVE = {
    "models/att.py": "from .helper import scaled\nfrom ..shared import ops\nfrom . import other\n",
    "models/helper.py": "",
    "models/other.py": "",
    "shared/ops.py": "",
}


def test_relative_imports_need_no_init(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in RELATIVE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path / "models")
    for path in ("att.py", str(tmp_path / "models" / "att.py")):
        project = Project()
        importer = project.module(path)
        assert importer is not None
        found = [project.find(project.absolute(*one, importer), importer) for one in (("helper", 1), ("shared.ops", 2))]
        assert [os.path.basename(one or "") for one in found] == ["helper.py", "ops.py"]
        assert project.absolute("", 1, importer).endswith("models")


# -- whole runs -------------------------------------------------------------------------------------------------------

PROGRAM = {
    "models/att.py": "import torch\nfrom models.helper import scaled\n\n\n"
    "@torch._dynamo.nonstrict_trace\ndef att(x):\n    return scaled(x)\n",
    "models/helper.py": "import torch\nfrom utils.state import SCALE\n\n\ndef scaled(x):\n    return x * SCALE\n",
    "utils/state.py": "import torch\n\nSCALE = torch.ones(3)\n",
    "train.py": "from utils import state\n\n\ndef main():\n    state.SCALE = None\n",
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in PROGRAM.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(paths: list[str], root: Path, jobs: int = 1) -> list[tuple[str, str, int, int]]:
    found = analyse(paths, AnalysisOptions(jobs=jobs)).findings
    return sorted(
        (one.code, os.path.relpath(os.path.abspath(one.span.path), root), one.span.line, len(one.related))
        for one in found
    )


def test_relative_and_absolute_paths_give_the_same_answer(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted(PROGRAM)
    expected = places(names, repository)
    assert [one[:3] for one in expected] == [("NST101", "models/helper.py", 6)]
    assert places([str(repository / name) for name in names], repository) == expected
    mixed = [str(repository / name) if number % 2 else name for number, name in enumerate(names)]
    assert places(mixed, repository) == expected
    monkeypatch.chdir(repository / "models")
    assert places([os.path.relpath(repository / name) for name in names], repository) == expected
    assert places(["att.py"], repository)[0][:3] == expected[0][:3]


def test_a_folder_above_is_called_as_imports_call_it(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = discover(["."], default_settings(str(repository))).files
    monkeypatch.chdir(repository / "models")
    found = discover([".."], default_settings(str(repository))).files
    assert found == [os.path.relpath(repository / name) for name in expected]
    assert "att.py" in found


FIND = "from setuptools import setup, find_packages\nsetup(packages=find_packages({}))\n"
#: Files that say that the modules of a project are below `python`.
SETTINGS = {
    "pytest": ("pytest.ini", "[pytest]\npythonpath = python\n"),
    "setup.cfg": ("setup.cfg", "[options]\npackage_dir =\n    = python\n"),
    "a package in setup.cfg": ("setup.cfg", "[options]\npackage_dir =\n    pkg = python/pkg\n"),
    "setup.py": (
        "setup.py",
        "import setuptools\nFOLDERS = {'': 'python'}\nsetuptools.setup(package_dir=FOLDERS)\n",
    ),
    "find_packages": ("setup.py", FIND.format("'python'")),
    "find_packages by keyword": ("setup.py", FIND.format("where='python', exclude=['tests']")),
    "setuptools, find": ("pyproject.toml", '[tool.setuptools.packages.find]\nwhere = ["python"]\n'),
    "setuptools, any package": ("pyproject.toml", "[tool.setuptools]\npackage-dir = {'' = 'python'}\n"),
    "setuptools, a package": ("pyproject.toml", "[tool.setuptools.package-dir]\npkg = 'python/pkg'\n"),
    "poetry": ("pyproject.toml", "[tool.poetry]\npackages = [{include = 'pkg', from = 'python'}]\n"),
    "hatch, packages": ("pyproject.toml", "[tool.hatch.build.targets.wheel]\npackages = ['python/pkg']\n"),
    "hatch, sources": ("pyproject.toml", "[tool.hatch.build.targets.wheel]\nsources = ['python']\n"),
    "hatch, renamed sources": ("pyproject.toml", "[tool.hatch.build.sources]\n'python' = ''\n"),
    "uv": ("pyproject.toml", "[tool.uv.build-backend]\nmodule-root = 'python'\n"),
    "pdm": ("pyproject.toml", "[tool.pdm.build]\npackage-dir = 'python'\n"),
    "maturin": ("pyproject.toml", "[tool.maturin]\npython-source = 'python'\n"),
    "scikit-build": ("pyproject.toml", "[tool.scikit-build]\nwheel.packages = ['python/pkg']\n"),
}


@pytest.mark.parametrize("tool", SETTINGS)
def test_settings_of_a_project_name_folders_of_sources(tool: str, tmp_path: Path) -> None:
    name, told = SETTINGS[tool]
    for path, text in {"python/pkg/net.py": "", "scripts/run.py": "import pkg.net\n", name: told}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project()
    importer = project.module(str(tmp_path / "scripts/run.py"))
    assert importer is not None
    assert project.find("pkg.net", importer) == str(tmp_path / "python/pkg/net.py")


RENAMED = {
    "setup.py": "from setuptools import setup\nsetup(package_dir={'kernels': 'csrc/py'}, packages=['kernels'])\n",
    "setup.cfg": "[options]\npackage_dir =\n    kernels = csrc/py\n",
    "pyproject.toml": "[tool.hatch.build.targets.wheel.sources]\n'csrc/py' = 'kernels'\n",
}


@pytest.mark.parametrize("name", RENAMED)
def test_settings_call_a_folder_by_another_name(name: str, tmp_path: Path) -> None:
    files = {"csrc/py/__init__.py": "", "csrc/py/ops.py": "", "run.py": "import kernels.ops\n", name: RENAMED[name]}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project()
    importer = project.module(str(tmp_path / "run.py"))
    assert importer is not None
    assert project.find("kernels", importer) == str(tmp_path / "csrc/py/__init__.py")
    assert project.find("kernels.ops", importer) == str(tmp_path / "csrc/py/ops.py")
    assert project.name_of(str(tmp_path / "csrc/py/ops.py")) == (str(tmp_path), "kernels.ops")


@pytest.mark.parametrize(
    ("importer", "text", "names"),
    [
        pytest.param("models/att.py", "import models.helper\n", ["models.helper", "helper"], id="its own folder"),
        pytest.param("models/att.py", "import helper\n", ["helper", "models.helper"], id="beside it"),
        pytest.param("tools/run.py", "import models\n", ["models.helper"], id="another folder"),
        pytest.param(
            "tools/run.py",
            "import sys\nsys.path.append('../models')\nimport helper\n",
            ["helper", "models.helper"],
            id="on the path",
        ),
    ],
)
def test_how_a_module_is_imported(importer: str, text: str, names: list[str], tmp_path: Path) -> None:
    for path in ("models/helper.py", importer, "pyproject.toml"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text if path == importer else "")
    project = Project()
    module = project.module(str(tmp_path / importer))
    assert module is not None
    assert project.spellings(str(tmp_path / "models/helper.py"), module) == names


def test_a_file_belongs_to_its_project_or_its_package(tmp_path: Path) -> None:
    for path in ("repo/models/att.py", "repo/models/deep/__init__.py", "repo/models/deep/net.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    att, net = tmp_path / "repo/models/att.py", tmp_path / "repo/models/deep/net.py"
    assert project_of(str(att), "") == str(tmp_path / "repo/models")
    assert project_of(str(att), "from .. import x\n") == str(tmp_path / "repo")
    assert project_of(str(net), "") == str(tmp_path / "repo/models/deep")
    (tmp_path / "repo/pyproject.toml").write_text("")
    assert {project_of(str(one), "") for one in (att, net)} == {str(tmp_path / "repo")}


def told(folder: Folder, path: str) -> list[tuple[str, int]]:
    folder.scan()
    for one in folder.pending():
        folder.examine(one)
    return [(one.code, one.location.row) for one in folder.diagnostics(path)]


def test_the_server_finds_what_the_command_line_finds(repository: Path) -> None:
    folder = Folder(str(repository))
    helper = str(repository / "models/helper.py")
    assert told(folder, helper) == [("NST101", 6)]
    (repository / "utils/state.py").rename(repository / "utils/kept.py")
    folder.touched([str(repository / "utils/state.py"), str(repository / "utils/kept.py")])
    assert told(folder, helper) == []
    (repository / "utils/kept.py").rename(repository / "utils/state.py")
    folder.touched([str(repository / "utils/state.py"), str(repository / "utils/kept.py")])
    assert told(folder, helper) == [("NST101", 6)]


def test_the_server_hears_of_an_edit_of_the_path(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/state.py").write_text("import torch\n\nSCALE = torch.ones(3)\n")
    text = (
        "import sys\nimport torch\n{}\nfrom state import SCALE\n\n\n"
        "@torch._dynamo.nonstrict_trace\ndef scaled(x):\n    return x * SCALE\n"
    )
    path = str(tmp_path / "train.py")
    Path(path).write_text(text.format(""))
    folder = Folder(str(tmp_path))
    folder.set_text(path, text.format(""))
    folder.scan()
    assert folder.diagnostics(path) == ()
    folder.set_text(path, text.format('sys.path.insert(0, "lib")'))
    assert [one.code for one in folder.diagnostics(path)] == ["NST101"]


def test_the_server_hears_of_an_edit_of_what_changes_the_path(tmp_path: Path) -> None:
    texts = {
        "tools/_init_paths.py": "import sys\nsys.path.insert(0, 'elsewhere')\n",
        "tools/train.py": "import _init_paths\nimport torch\nfrom state import SCALE\n\n\n"
        "@torch._dynamo.nonstrict_trace\ndef scaled(x):\n    return x * SCALE\n",
        "lib/state.py": "import torch\n\nSCALE = torch.ones(3)\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    folder = Folder(str(tmp_path))
    train, paths = str(tmp_path / "tools/train.py"), str(tmp_path / "tools/_init_paths.py")
    assert told(folder, train) == []
    folder.set_text(paths, "import sys\nsys.path.insert(0, '../lib')\n")
    assert told(folder, train) == [("NST101", 8)]
    folder.set_text(paths, "import sys\n")
    assert told(folder, train) == []
