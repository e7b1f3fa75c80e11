"""What services do with our files: the steps of the action, the job of the component."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^```yaml\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: The files that the page shows, by their names.
EXAMPLES = dict(_FENCE.findall((ROOT / "docs" / "ci.md").read_text(encoding="utf-8")))
_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


class Request(NamedTuple):
    """A pull request as the event tells it: the commits of its base and of its branch."""

    base: str
    head: str


def read(path: Path) -> dict[str, Any]:
    """A file in YAML."""
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def installed(folder: Path) -> Path:
    """A folder that holds the command as the action installs it."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    command = folder / "bin" / "nonstrict"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m nonstrict "$@"\n')
    command.chmod(0o755)
    return folder


def component() -> dict[str, Any]:
    """What the GitLab component makes of a pipeline that includes it without inputs."""
    text = (ROOT / "templates" / "nonstrict.yml").read_text(encoding="utf-8")
    head, _, body = text.partition("\n---\n")
    inputs = YAML(typ="safe").load(head)["spec"]["inputs"]
    for name, told in inputs.items():
        body = body.replace(f"$[[ inputs.{name} ]]", told["default"])
    return YAML(typ="safe").load(body)


def acted(
    checkout: Path, runner: Path, step: str = "Check", request: Request | None = None, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run a step of the action, with what its inputs, the event (of a request, else a push) and the runner say."""
    action = read(ROOT / "action.yml")
    (found,) = (one for one in action["runs"]["steps"] if one["name"] == step)
    told = {f"inputs.{name}": one["default"] for name, one in action["inputs"].items()}
    told |= {f"inputs.{name}": text for name, text in inputs.items()}
    told |= {
        "runner.temp": str(runner),
        "github.event.pull_request.base.sha": request.base if request is not None else "",
        "github.event.pull_request.head.sha": request.head if request is not None else "",
    }

    def said(text: str) -> str:
        while (match := _EXPRESSION.search(text)) is not None:
            text = text.replace(match[0], told[match[1]])
        return text

    installed(runner / "nonstrict")
    environment = {name: said(text) for name, text in found["env"].items()}
    return _ran(["-eo", "pipefail", "-c", found["run"]], checkout, {**environment, "GITHUB_ACTIONS": "true"})


def ran_job(checkout: Path, runner: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the job of the component, in an image that has the command already."""
    job = component()["nonstrict"]
    install, *commands = job["script"]
    assert install.startswith("pip install ")
    path = f"{installed(runner / 'nonstrict') / 'bin'}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "CI_PROJECT_DIR": str(checkout), "NONSTRICT_CACHE_DIR": str(runner / "nonstrict-cache")}
    return _ran(["-eo", "pipefail", "-c", "\n".join(commands)], checkout, {**own, **variables, "GITLAB_CI": "true"})


def _ran(arguments: list[str], checkout: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What bash does with them in a checkout, where CI is told."""
    hidden = ("NONSTRICT_", "GITHUB_", "CI_")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", *arguments],
        cwd=checkout,
        env={**inherited, "CI": "true", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
