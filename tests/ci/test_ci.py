"""What services run: files that are valid by their schemas, and whose commands do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.ci.services import EXAMPLES, ROOT, Request, acted, component, ran_job, read
from tests.git import Git

PAGE = ROOT / "docs" / "ci.md"
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
    job = component()
    path = tmp_path / ".gitlab-ci.yml"
    YAML(typ="safe").dump(job, path)
    assert "$[[" not in path.read_text(encoding="utf-8")
    assert valid(VALIDATE[".gitlab-ci.yml"], path)
    # Without a rule that says so, a job runs for branches alone, and what a request causes is never told.
    assert any("merge_request_event" in rule["if"] for rule in job["nonstrict"]["rules"])


def test_the_action_annotates_what_a_request_causes(project: Path, tmp_path: Path):
    git, shallow = Git(project), tmp_path / "shallow"
    base = git("rev-parse", "HEAD")
    git.commit()
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("clone", "-q", "--depth=1", project.as_uri(), str(shallow))
    done = acted(shallow, tmp_path, since=base, sarif="true")
    assert done.returncode == 1, done.stderr
    assert "::warning" in done.stdout
    assert "file=pkg/attention.py,line=7" in done.stdout
    assert "%0Apkg/config.py:6:5: rebound here" in done.stdout, "the request changes that file alone"
    assert '"NST104"' in (shallow / "nonstrict.sarif").read_text(encoding="utf-8")


def test_the_action_reports_everything_where_nothing_is_compared(project: Path, tmp_path: Path):
    Git(project).commit()
    done = acted(project, tmp_path)
    assert done.returncode == 1
    assert "NST104" in done.stdout
    assert (tmp_path / "nonstrict-cache" / "CACHEDIR.TAG").is_file()


@pytest.fixture
def stale(project: Path, tmp_path: Path) -> tuple[Path, Request, str]:
    """A shallow clone of a request merged into a branch that went on since it was opened, and what it goes into now.

    What the branch had of its own is a finding, and the request causes none.
    """
    git = Git(project)
    git("stash", "-q")
    base = git("rev-parse", "HEAD")
    git("switch", "-q", "-c", "request")
    (project / "pkg" / "other.py").write_text("WIDTH = 4\n")
    head = git.commit()
    git("switch", "-q", "main")
    git("stash", "pop", "-q")
    now = git.commit("what somebody else merged")
    git("merge", "-q", "--no-ff", "-m", "as GitHub merges it", "request")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("clone", "-q", "--depth=1", project.as_uri(), str(tmp_path / "shallow"))
    return tmp_path / "shallow", Request(base, head), now


def test_the_action_lays_at_the_door_of_a_request_what_it_brings(stale: tuple[Path, Request, str], tmp_path: Path):
    checkout, request, _ = stale
    done = acted(checkout, tmp_path, request=request)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    told = acted(checkout, tmp_path, request=request._replace(head="0" * 40))
    assert "NST104" in told.stdout, "what is checked out is no merge of the request"


def test_the_component_lays_at_the_door_of_a_request_what_it_brings(stale: tuple[Path, Request, str], tmp_path: Path):
    checkout, request, now = stale
    merged = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": request.base, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": now}
    done = ran_job(checkout, tmp_path, **merged)
    assert done.returncode == 0, done.stdout + done.stderr
    done = ran_job(checkout, tmp_path, CI_MERGE_REQUEST_DIFF_BASE_SHA=request.base)
    assert (done.returncode, "NST104" in done.stdout) == (1, True), done.stderr


def test_pre_commit_looks_at_a_commit_of_settings():
    hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert all("toml" in hook["types_or"] for hook in hooks)


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
