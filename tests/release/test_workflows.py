"""The workflows: valid by their schema, actions pinned to commits, jobs with no more rights than they need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from tests.release.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"^\s*-? *uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
#: What the token of a job may do, at most.
PERMISSIONS = {"contents": "read", "id-token": "write"}
SECRETS = {"marketplace": "VSCE_PAT", "open-vsx": "OVSX_PAT"}


def read(path: Path) -> dict[str, Any]:
    """A workflow; `on` is no truth value in YAML 1.2."""
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def schema_says(path: Path) -> int:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_valid(path: Path):
    assert schema_says(path) == 0


@pytest.mark.parametrize(
    "wrong", ["jobs: {}", "on: push\njobs: {a: {runs-on: b, steps: [{use: c}]}}", "on: pull\njobs: {}"]
)
def test_what_is_no_workflow_is_found(tmp_path: Path, wrong: str):
    path = tmp_path / "wrong.yml"
    path.write_text(wrong, encoding="utf-8")
    assert schema_says(path) != 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_commits(path: Path):
    uses = [line for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert uses
    assert [line for line in uses if not PINNED.match(line)] == []


def test_an_action_has_one_commit():
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    pinned = set(re.findall(r"uses: (\S+@\S+) # (\S+)", text))
    actions = [name.partition("@")[0] for name, _ in pinned]
    assert len(actions) == len(set(actions))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_may_do_what_they_need_and_no_more(path: Path):
    workflow = read(path)
    assert workflow["permissions"] == {}
    assert "pull_request_target" not in workflow["on"]
    for job in workflow["jobs"].values():
        assert job["permissions"].items() <= PERMISSIONS.items()
        assert job["timeout-minutes"] <= 180
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
            # What others can write, such as the name of a branch, is no part of a command.
            assert "${{" not in step.get("run", "")


def test_only_jobs_that_publish_have_a_secret_or_an_identity():
    jobs = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert set(jobs) == {"build", "pypi", *SECRETS}
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    for name, job in jobs.items():
        secrets = re.findall(r"secrets\.(\w+)", json.dumps(job))
        assert secrets == ([SECRETS[name]] if name in SECRETS else [])
        assert ("environment" in job) == (name != "build")
        assert (name == "pypi") == ("id-token" in job["permissions"])
        if name != "build":
            # What is published is what `build` made and checked, and nothing that the job itself fetches.
            assert "build" in job["needs"]
            assert not any("checkout" in step.get("uses", "") for step in job["steps"])


def test_what_is_published_was_checked_against_the_tag():
    workflow = read(ROOT / ".github" / "workflows" / "release.yml")
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    commands = [step.get("run") for step in workflow["jobs"]["build"]["steps"]]
    assert 'make release ARGS="--tag $GITHUB_REF_NAME"' in commands


def test_the_packager_is_the_one_of_the_npm_workspace():
    manifest = json.loads((ROOT / "client-vscode" / "package.json").read_text(encoding="utf-8"))
    version = manifest["devDependencies"]["@vscode/vsce"]
    assert f"npx --yes @vscode/vsce@{version} " in (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
