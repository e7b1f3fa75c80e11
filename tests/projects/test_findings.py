"""The projects are checked as their authors would: what is labelled is found, and nothing else above note."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PROJECTS = sorted(path.parent for path in HERE.glob("*/truth.json"))
#: The least share of the labels of all projects that are found.
FOUND = 0.9


def findings(project: Path) -> list[dict[str, Any]]:
    """What `nonstrict check` says of a project."""
    arguments = ["check", "--no-cache", "--output-format", "json", str(project)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)


def line_of(project: Path, finding: dict[str, Any]) -> str:
    """The line that a finding stands on, of a notebook in its cell."""
    path = Path(finding["filename"])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][finding["cell"] - 1]["source"])
    return text.split("\n")[finding["location"]["row"] - 1]


def labels(project: Path) -> list[dict[str, str]]:
    """What is labelled: the file, a piece of its line, and the code."""
    return json.loads((project / "truth.json").read_text(encoding="utf-8"))


def is_labelled(project: Path, finding: dict[str, Any], label: dict[str, str]) -> bool:
    """Whether a finding is the one of a label."""
    here = Path(finding["filename"]).resolve() == (project / label["file"]).resolve()
    return here and finding["code"] == label["code"] and label["text"] in line_of(project, finding)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_what_is_above_note_is_labelled(project: Path) -> None:
    known = labels(project)
    above = [one for one in findings(project) if one["severity"] != "note"]
    strange = [one for one in above if not any(is_labelled(project, one, label) for label in known)]
    assert not strange, [(one["filename"], one["location"], one["code"], one["message"]) for one in strange]


def test_most_labels_are_found() -> None:
    found = {project: findings(project) for project in PROJECTS}
    wanted = [(project, label) for project in PROJECTS for label in labels(project)]
    missing = [
        (project.name, label["text"], label["code"])
        for project, label in wanted
        if not any(is_labelled(project, one, label) for one in found[project])
    ]
    assert len(PROJECTS) == 6
    assert len(missing) <= (1 - FOUND) * len(wanted), missing
