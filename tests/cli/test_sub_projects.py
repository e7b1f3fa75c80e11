"""A repository of several projects in one run: each has its own torch, packages, interpreter and baseline."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.folder import Folder
from nonstrict.check.live.known import write_baselines
from tests.git import Git

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command, Outcome

NAME = ".nonstrict-baseline.json"
#: A marked function that returns None beside a tensor: what torch 2.13 refuses, and 2.15 takes.
PAIR = """\
import torch


@torch._dynamo.nonstrict_trace
def pair(x):
    return x, None


@torch.compile(fullgraph=True)
def forward(x):
    return pair(x)[0]
"""
REFUSED = "main.py:6:12: error[NST502]"
#: A marked function that captures a tensor of an installed package.
CAPTURING = """\
import torch
from kernels import TABLE


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * TABLE
"""
ALONE = {"VIRTUAL_ENV": "", "CONDA_PREFIX": ""}


def installed(folder: Path, torch: str, **packages: str) -> None:
    """Make a virtual environment in a folder that holds what the analysis reads of a torch, and packages."""
    site = folder / ".venv" / "lib" / "python3.11" / "site-packages"
    for name, text in {"torch": "", **packages}.items():
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text(text)
    (site / "torch" / "version.py").write_text(f"__version__ = '{torch}'\n")
    (folder / ".venv" / "pyvenv.cfg").write_text("version = 3.11.9\n")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Two projects: `train` with torch 2.13 and `serve` with torch 2.15, below a configuration of their own."""
    (tmp_path / "nonstrict.toml").write_text("")
    for name, torch in (("train", "2.13.0"), ("serve", "2.15.0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(PAIR)
        (tmp_path / name / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n\n[tool.nonstrict]\n')
        installed(tmp_path / name, torch)
    return tmp_path


def check(nonstrict: Command, *arguments: str) -> Outcome:
    return nonstrict("check", "--output-format", "concise", *arguments, **ALONE)


def test_each_is_held_against_its_own_torch(nonstrict: Command, top: Path):
    run = check(nonstrict, "--no-cache", "-v")
    assert [line for line in run.out.splitlines() if "NST502" in line and line.startswith(f"train/{REFUSED}")]
    assert "serve/main.py" not in run.out
    assert "torch: 2.15.0, 2.13.0\n" in run.err


def test_the_settings_of_each_may_name_a_torch(nonstrict: Command, top: Path):
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.13"\n')
    (top / "train/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.15"\n')
    run = check(nonstrict, "--no-cache")
    assert f"serve/{REFUSED}" in run.out
    assert "train/main.py" not in run.out
    # The command line counts everywhere.
    assert "main.py" not in check(nonstrict, "--torch-version", "2.15").out


def test_the_same_is_found_from_within(nonstrict: Command, top: Path):
    for name in ("train", "serve"):
        inside = check(nonstrict, "--no-cache", name)
        whole = check(nonstrict, "--no-cache")
        assert [line for line in inside.out.splitlines() if f"{name}/" in line] == [
            line for line in whole.out.splitlines() if line.startswith(f"{name}/")
        ]


def test_packages_are_those_of_each(nonstrict: Command, top: Path):
    for name in ("train", "serve"):
        (top / name / "main.py").write_text(CAPTURING)
    site = top / "serve/.venv/lib/python3.11/site-packages/kernels"
    site.mkdir()
    (site / "__init__.py").write_text("import torch\n\nTABLE = torch.ones(3)\n")
    run = check(nonstrict, "--no-cache")
    assert [line.split(":")[0] for line in run.out.splitlines() if "NST101" in line] == ["serve/main.py"]


def test_a_project_may_import_from_another(nonstrict: Command, top: Path):
    (top / "train" / "helpers.py").write_text(
        "SCALE = 2.0\n\n\ndef set_scale(value):\n    global SCALE\n    SCALE = value\n"
    )
    (top / "serve" / "main.py").write_text(
        "import os\nimport sys\n\nsys.path.append(os.path.join(os.path.dirname(__file__), '..', 'train'))\n\n"
        "import helpers\nimport torch\n\n\n"
        "@torch._dynamo.nonstrict_trace\ndef scale(x):\n    return x * helpers.SCALE\n"
    )
    assert "serve/main.py:12:16: warning[NST104]" in check(nonstrict, "--no-cache").out


def test_the_cache_knows_the_environments_apart(nonstrict: Command, top: Path):
    cold = check(nonstrict)
    assert check(nonstrict).out == cold.out
    assert "from the cache" in check(nonstrict, "-v").err
    version = top / "train/.venv/lib/python3.11/site-packages/torch/version.py"
    version.write_text("__version__ = '2.15.0'\n")
    assert "main.py" not in check(nonstrict).out
    version.write_text("__version__ = '2.13.0'\n")
    assert check(nonstrict).out == cold.out
    (top / "serve/pyproject.toml").write_text("")
    # `serve` is none of its own any more: it is for the torch of whoever runs this.
    assert check(nonstrict).out == check(nonstrict, "--no-cache").out != cold.out


def test_the_state_before_a_change_is_for_what_is_installed_now(nonstrict: Command, top: Path):
    (top / ".gitignore").write_text(".venv\n.nonstrict_cache\n")
    git = Git(top)
    git.commit()
    (top / "serve/main.py").write_text("# more\n" + PAIR)
    run = check(nonstrict, "--since", "HEAD")
    assert run.status == 0
    assert "(1 there before)" in run.out
    (top / "train/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.15"\n')
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.13"\n')
    run = check(nonstrict, "--since", "HEAD")
    assert run.status == 1
    assert "serve/main.py:7:12: error[NST502]" in run.out


def test_an_editor_says_the_same(top: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    folder = Folder(str(top))
    train, serve = (str(top / name / "main.py") for name in ("train", "serve"))
    assert [one.code for one in folder.diagnostics(train)] == ["NST502"]
    assert folder.diagnostics(serve) == ()
    folder.set_text(serve, PAIR.replace("return x, None", "print(x)\n    return x, None"))
    assert [one.code for one in folder.diagnostics(serve)] == ["NST201"]
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.13"\n')
    folder.reload()
    assert [one.code for one in folder.diagnostics(serve)] == ["NST201", "NST502"]
    (made,) = [one for one in write_baselines(folder) if one.path == str(top / "serve" / NAME)]
    assert [entry.path for entry in made.entries] == ["main.py", "main.py"]
    assert folder.diagnostics(serve) == folder.diagnostics(train) == ()


def test_each_has_its_own_baseline(nonstrict: Command, top: Path):
    written = check(nonstrict, "--write-baseline").out
    assert written == f"Wrote 0 findings to {NAME}.\nWrote 1 finding to train/{NAME}.\n"
    assert not (top / "serve" / NAME).exists()
    (entry,) = json.loads((top / "train" / NAME).read_text())["findings"]
    assert (entry["path"], entry["code"]) == ("main.py", "NST502")
    assert "(1 in the baseline)" in check(nonstrict).out
    assert check(nonstrict, "train").status == 0
    assert check(nonstrict, "--isolated", "--torch-version", "2.13").status == 1
    (top / "train/main.py").write_text(PAIR.replace("x, None", "x, x"))
    assert check(nonstrict).err == f"nonstrict: 1 known finding gone, and taken out of train/{NAME}.\n"
    (top / "serve/main.py").write_text(PAIR.replace("x, None", "print(x), x"))
    assert "serve/main.py:6:12: warning[NST201]" in check(nonstrict).out


def test_without_one_of_its_own_that_of_the_run_counts(nonstrict: Command, top: Path):
    assert "to all.json" in check(nonstrict, "--write-baseline=all.json").out
    (top / "nonstrict.toml").write_text('baseline = "all.json"\n')
    assert check(nonstrict).status == 0
    # Once there is one, it counts alone, and what the other one knew of its files goes.
    check(nonstrict, "--write-baseline")
    assert json.loads((top / "all.json").read_text())["findings"] == []
    assert check(nonstrict).status == 0


def test_one_that_is_named_must_be_there(nonstrict: Command, top: Path):
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict]\nbaseline = "known.json"\n')
    run = check(nonstrict)
    assert run.status == 2
    assert f"The baseline {top}/serve/known.json does not exist." in run.err


@pytest.fixture
def marks(top: Path) -> dict[str, Path]:
    """By project, the mark that its interpreter leaves when it is started."""
    marks: dict[str, Path] = {}
    for name in ("train", "serve"):
        (top / name / "main.py").write_text(PAIR.replace("x, None", "print(x), x"))
        python = top / name / ".venv/bin/python"
        python.parent.mkdir()
        marks[name] = top / f"{name}-started"
        python.write_text(f"#!{shutil.which('sh')}\necho started >> '{marks[name]}'\n")
        python.chmod(0o755)
    return marks


def test_experiments_run_in_the_interpreter_of_each(nonstrict: Command, top: Path, marks: dict[str, Path]):
    check(nonstrict, "--confirm", "--trust", "--no-cache", "--timeout", "5")
    assert all(mark.exists() for mark in marks.values())


def test_none_is_started_that_nobody_trusts(nonstrict: Command, top: Path, marks: dict[str, Path]):
    nonstrict("trust", "train", XDG_CONFIG_HOME=str(top / "home"))
    broken = top / "broken" / "torch"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('none here')\n")
    path = os.pathsep.join([str(broken.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**ALONE, "XDG_CONFIG_HOME": str(top / "home"), "PYTHONPATH": path}
    run = nonstrict("check", "--confirm", "--no-cache", "--timeout", "5", "train", "serve", **environment)
    assert marks["train"].exists()
    assert not marks["serve"].exists()
    assert f"{top}/serve is not trusted: experiments run in {sys.executable}" in run.err


def test_of_one_that_is_for_another_torch_nothing_is_run(nonstrict: Command, top: Path, marks: dict[str, Path]):
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict]\ntorch-version = "2.14"\n')
    run = check(nonstrict, "--confirm", "--trust", "--no-cache", "--timeout", "5")
    assert marks["train"].exists()
    assert not marks["serve"].exists()
    why = "the findings are for torch 2.14, and experiments would run torch 2.15.0"
    assert f"nothing in serve/main.py was confirmed: {why}" in run.err
    assert run.status == 2


COUNTED = """\
import torch


@torch.compile
def step(x):
    x = x * 3
    print("breaks")
    return x + 1


step(torch.ones(2))
"""


def test_each_has_its_own_budget(nonstrict: Command, top: Path):
    for name in ("train", "serve"):
        (top / name / "main.py").write_text(COUNTED)
    (top / "pyproject.toml").write_text("[tool.nonstrict]\n")
    (top / "loose.py").write_text(COUNTED)
    (top / "nonstrict.toml").unlink()
    (top / "serve/pyproject.toml").write_text('[tool.nonstrict.budget]\n"main.py::step" = { graphs = 1 }\n')
    run = nonstrict("budget", **ALONE)
    assert run.status == 1
    assert "serve/main.py:5: `step`: 2 graphs (predicted), budget 1: exceeded" in run.out
    run = nonstrict("budget", "--write", **ALONE)
    assert run.status == 0
    assert sorted(run.err.splitlines()) == [
        "Wrote 1 entry into pyproject.toml.",
        "Wrote 1 entry into serve/pyproject.toml.",
        "Wrote 1 entry into train/pyproject.toml.",
    ]
    assert '"loose.py::step" = { graphs = 2 }' in (top / "pyproject.toml").read_text()
    assert '"main.py::step" = { graphs = 2 }' in (top / "serve/pyproject.toml").read_text()
    assert '"main.py::step" = { graphs = 2 }' in (top / "train/pyproject.toml").read_text()
    # An entry above is as near as its own, which counts.
    with (top / "pyproject.toml").open("a") as file:
        file.write('"serve/main.py::step" = { graphs = 1 }\n')
    assert nonstrict("budget", **ALONE).status == 0


# -- what counts where ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [False, True])
def test_what_is_staged_is_held_against_the_baseline_of_its_project(nonstrict: Command, top: Path, named: bool):
    if named:
        (top / "train/pyproject.toml").write_text('[tool.nonstrict]\nbaseline = "known.json"\n')
    (top / ".gitignore").write_text(".venv\n.nonstrict_cache\n")
    git = Git(top)
    check(nonstrict, "--write-baseline")
    git.commit()
    (top / "train/main.py").write_text(PAIR.replace("return x, None", "return x.relu(), None"))
    check(nonstrict, "--write-baseline")
    git("add", "-A")
    run = check(nonstrict, "--staged")
    assert (run.status, run.err) == (0, "")


def test_a_part_is_written_where_the_rest_is_known(nonstrict: Command, top: Path):
    (top / "train/more.py").write_text(PAIR)
    assert "to all.json" in check(nonstrict, "--write-baseline=all.json").out
    (top / "nonstrict.toml").write_text('baseline = "all.json"\n')
    assert check(nonstrict, "--write-baseline", "serve", "train/main.py").out == "Wrote 2 findings to all.json.\n"
    assert check(nonstrict).status == 0


def test_a_rule_that_a_project_leaves_out_costs_no_entry(nonstrict: Command, top: Path):
    check(nonstrict, "--write-baseline=all.json")
    (top / "nonstrict.toml").write_text('baseline = "all.json"\n')
    (top / "train/pyproject.toml").write_text('[tool.nonstrict]\nignore = ["NST502"]\n')
    assert check(nonstrict).err == ""
    assert len(json.loads((top / "all.json").read_text())["findings"]) == 1


def test_one_baseline_by_two_names_is_one(nonstrict: Command, top: Path):
    (top / "link").symlink_to(top)
    (top / "nonstrict.toml").write_text('baseline = "known.json"\n')
    (top / "train/pyproject.toml").write_text('[tool.nonstrict]\nbaseline = "../link/known.json"\n')
    (top / "loose.py").write_text(PAIR.replace("return x, None", "print(x)"))
    (top / "known.json").write_text('{"version": 1, "findings": []}')
    assert check(nonstrict, "--write-baseline", "loose.py", "train").out == "Wrote 3 findings to known.json.\n"
    for _ in range(2):
        run = check(nonstrict, "loose.py", "train")
        assert (run.status, run.err) == (0, "")


def test_the_folder_that_one_works_in_is_a_project_too(nonstrict: Command, tmp_path: Path):
    inner = tmp_path / "a"
    inner.mkdir()
    (inner / "x.py").write_text(PAIR)
    (tmp_path / "z.py").write_text(PAIR)
    (inner / "nonstrict.toml").write_text('torch-version = "2.15"\n')
    run = subprocess.run(
        [sys.executable, "-m", "nonstrict", "check", "--output-format", "concise", "--no-cache", "x.py", "../z.py"],
        cwd=inner,
        env={**os.environ, **ALONE},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "z.py:6:12: error[NST502]" in run.stdout
    assert "x.py" not in run.stdout


def test_a_text_that_is_on_no_disk_belongs_to_its_project(nonstrict: Command, top: Path):
    for name, found in (("train", 1), ("serve", 0)):
        for path in (f"{name}/new.py", str(top / name / "new.py"), f"./{name}/new.py"):
            run = nonstrict("check", "-", ".", "--no-cache", "--stdin-filename", path, stdin=PAIR, **ALONE)
            assert run.out.count(f"{name}/new.py:6:12") == found, path


def test_settings_of_an_editor_count_in_all_projects(top: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    train, new = (str(top / "train" / name) for name in ("main.py", "new.py"))
    folder = Folder(str(top), {"torch-version": "2.15"})
    folder.set_text(new, PAIR)
    assert folder.diagnostics(train) == folder.diagnostics(new) == ()
    folder.reload({"ignore": ["NST2"]})
    assert [one.code for one in folder.diagnostics(train)] == ["NST502"]
    assert [one.code for one in folder.diagnostics(new)] == ["NST502"]
    folder.reload({"ignore": ["NST502"]})
    assert folder.diagnostics(train) == ()


def test_verdicts_are_none_of_another_torch(nonstrict: Command, top: Path, marks: dict[str, Path]):
    (top / "train/.venv/lib/python3.11/site-packages/torch/version.py").write_text("__version__ = '2.9.0'\n")
    run = check(nonstrict, "--confirm", "--no-cache", "--timeout", "5", "train")
    assert not marks["train"].exists()
    assert "nothing was confirmed: the findings are for torch 2.9, and experiments would run torch 2.13" in run.err


def test_the_budget_of_the_folder_that_one_works_in(nonstrict: Command, tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(COUNTED)
    (tmp_path / "a/nonstrict.toml").write_text("# ours\n")
    command = [sys.executable, "-m", "nonstrict", "budget", ".", "../b", "--write"]
    environment = {name: text for name, text in os.environ.items() if name != "CI"}
    run = subprocess.run(
        command, cwd=tmp_path / "a", env={**environment, **ALONE}, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "Wrote 2 entries into nonstrict.toml.\n")
    text = (tmp_path / "a/nonstrict.toml").read_text()
    assert text.startswith("# ours\n")
    assert '"m.py::step" = { graphs = 2 }' in text
