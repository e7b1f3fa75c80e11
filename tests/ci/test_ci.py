"""What services run: files that are valid by their schemas, and whose commands do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.git import Git

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "ci.md"
FENCE = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = dict(FENCE.findall(PAGE.read_text(encoding="utf-8")))
#: The command that says whether a file of a kind is valid; schemas are those that come with the package.
VALIDATE = {
    ".pre-commit-config.yaml": ("pre_commit", "validate-config"),
    ".github/workflows/nonstrict.yml": ("check_jsonschema", "--builtin-schema", "vendor.github-workflows"),
    ".gitlab-ci.yml": ("check_jsonschema", "--builtin-schema", "vendor.gitlab-ci"),
    "azure-pipelines.yml": ("check_jsonschema", "--builtin-schema", "vendor.azure-pipelines"),
}
PINNED = re.compile(r"^\s*uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
CONFIG = "SCALE = 2.0\n"
WRITER = "\n\ndef set_scale(value):\n    global SCALE\n    SCALE = value\n"
ATTENTION = """\
import torch
from pkg import config


@torch._dynamo.nonstrict_trace
def attend(x):
    return x * config.SCALE
"""


def valid(kind: tuple[str, ...], path: Path) -> bool:
    return subprocess.run([sys.executable, "-m", *kind, str(path)], capture_output=True, check=False).returncode == 0


def read(path: Path) -> dict[str, Any]:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository in which what is staged makes a finding of another file."""
    folder = tmp_path / "project"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").touch()
    (folder / "pkg" / "config.py").write_text(CONFIG)
    (folder / "pkg" / "attention.py").write_text(ATTENTION)
    git = Git(folder)
    git.commit()
    (folder / "pkg" / "config.py").write_text(CONFIG + WRITER)
    git("add", "-A")
    return folder


@pytest.mark.parametrize("name", VALIDATE)
def test_the_page_shows_files_that_are_valid(tmp_path: Path, name: str):
    assert EXAMPLES.keys() == VALIDATE.keys()
    path = tmp_path / Path(name).name
    path.write_text(EXAMPLES[name], encoding="utf-8")
    assert valid(VALIDATE[name], path)
    path.write_text("[wrong", encoding="utf-8")
    assert not valid(VALIDATE[name], path)


def test_the_hooks_are_valid():
    assert valid(("pre_commit", "validate-manifest"), ROOT / ".pre-commit-hooks.yaml")
    hooks = {hook["id"] for hook in YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    used = re.findall(r"- id: (\S+)", EXAMPLES[".pre-commit-config.yaml"])
    assert set(used) <= hooks
    assert all(f"`{name}`" in PAGE.read_text(encoding="utf-8") for name in hooks)


def test_the_action_is_valid_and_pins_what_it_uses():
    path = ROOT / "action.yml"
    assert valid(("check_jsonschema", "--builtin-schema", "vendor.github-actions"), path)
    uses = [line for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert uses
    assert [line for line in uses if not PINNED.match(line)] == []
    for step in read(path)["runs"]["steps"]:
        # What others can write, such as the name of a branch, is no part of a command.
        assert "${{" not in step.get("run", "")


def test_the_component_is_valid(tmp_path: Path):
    text = (ROOT / "templates" / "nonstrict.yml").read_text(encoding="utf-8")
    head, _, body = text.partition("\n---\n")
    inputs = YAML(typ="safe").load(head)["spec"]["inputs"]
    for name, told in inputs.items():
        body = body.replace(f"$[[ inputs.{name} ]]", told["default"])
    assert "$[[" not in body
    path = tmp_path / ".gitlab-ci.yml"
    path.write_text(body, encoding="utf-8")
    assert valid(VALIDATE[".gitlab-ci.yml"], path)


def installed(folder: Path) -> Path:
    """A folder that holds the command as the action installs it."""
    (folder / "bin").mkdir(parents=True)
    command = folder / "bin" / "nonstrict"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m nonstrict "$@"\n')
    command.chmod(0o755)
    return folder


def stepped(project: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the action that checks, with what its inputs and the runner say."""
    action = read(ROOT / "action.yml")
    (step,) = (one for one in action["runs"]["steps"] if one["name"] == "Check")
    given = {name: told["default"] for name, told in action["inputs"].items()} | inputs
    temporary = project.parent / "runner"
    installed(temporary / "nonstrict")

    def said(text: str) -> str:
        text = text.replace("${{ runner.temp }}", str(temporary))
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], text)

    environment = {name: said(text) for name, text in step["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=project,
        env={**os.environ, **environment, "GITHUB_ACTIONS": "true", "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_annotates_what_a_request_causes(project: Path, tmp_path: Path):
    git, shallow = Git(project), tmp_path / "shallow"
    base = git("rev-parse", "HEAD")
    git.commit()
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("clone", "-q", "--depth=1", project.as_uri(), str(shallow))
    done = stepped(shallow, since=base, sarif="true")
    assert done.returncode == 1, done.stderr
    assert "::warning" in done.stdout
    assert "file=pkg/attention.py,line=7" in done.stdout
    assert '"NST104"' in (shallow / "nonstrict.sarif").read_text(encoding="utf-8")


def test_the_action_reports_everything_where_nothing_is_compared(project: Path):
    Git(project).commit()
    done = stepped(project, since="")
    assert done.returncode == 1
    assert "NST104" in done.stdout
    assert (project.parent / "runner" / "nonstrict-cache" / "CACHEDIR.TAG").is_file()


def test_pre_commit_runs_the_hook(project: Path, tmp_path: Path):
    if not (ROOT / ".git").exists():
        pytest.skip("pre-commit takes hooks from a repository of git, and this is none")
    environment = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "GIT_DIR")}
    environment |= {"PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "nonstrict", *options]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    done = run()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "pkg/attention.py:7:16" in done.stdout
    Git(project).commit()
    assert run("--all-files").returncode == 0
    ranged = run("--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert ranged.returncode == 1, ranged.stdout + ranged.stderr
    shutil.rmtree(tmp_path / "home")
