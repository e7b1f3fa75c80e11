"""Makes the projects of `worlds.md`, each a repository with a history, and what real runs left in some of them."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from tests.confirm.runs.logs import Log, guard
from tests.git import Git

ROOT = Path(__file__).resolve().parents[2]
_FILE = re.compile(r"^`([^`\n]+)`(?:, (on the branch|staged))?\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)
#: Where the job of the logs had the project.
JOB = "/scratch/job7/repo"
RANKS = 8
#: After so many compilations torch gives a function up.
LIMIT = 8


def worlds() -> dict[str, list[tuple[str, str, str]]]:
    """By page: path, when it is written ("" on main), and text of each file."""
    page = Path(__file__).with_name("worlds.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:])
    return {name: _FILE.findall(body) for name, _, body in parts}


def make(name: str, folder: Path) -> None:
    """Write the project for a page into a folder that does not exist yet."""
    files = worlds().get(name) or worlds()["any"]
    folder.mkdir(parents=True)
    if not worlds().get(name):
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    git = Git(folder)
    for state in ("", "on the branch", "staged"):
        for path, when, text in files:
            if when == state:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
        if state == "staged":
            git("add", "-A")
        else:
            git.commit()
        if not state:
            git("update-ref", "refs/remotes/origin/main", "main")
            git("checkout", "-q", "-b", "work")
    _logs(folder / "traces")


def _longer(number: int) -> str:
    """The guard that fails with one more key."""
    return guard(f"len(keys) == {number}", f"{JOB}/train.py", 7, "attend", "for key in keys:", f"0/{number - 1}")


def _logs(folder: Path) -> None:
    """What `TORCH_TRACE` had a job of eight ranks write: regions of the pages on records and on budgets."""
    when = {"start_time": time.time() - 7230.0}
    for rank in range(RANKS):
        log = Log(folder, rank)
        path = f"{JOB}/train.py"
        log.started("0/0", path, 4, "attend")
        log.done("0/0", "attend", **when)
        for number in range(1, LIMIT):
            log.started(f"0/{number}", path, 4, "attend")
            log.done(f"0/{number}", "attend", recompile_reason=_longer(number), entire_frame_compile_time_s=3.1, **when)
        refused = {"fail_type": "Unsupported", "graph_op_count": None, "entire_frame_compile_time_s": 0.1}
        log.done(f"0/{LIMIT}", None, recompile_reason=_longer(LIMIT), **refused, **when)
    log = Log(folder, name="budget")
    path = f"{JOB}/src/model.py"
    log.started("1/0", path, 12, "forward")
    log.broke("1/0", path, 14, "forward", 'log.info("forward")')
    log.done("1/0", "forward", **when)
    log.started("2/0", path, 14, "torch_dynamo_resume_in_forward_at_14")
    log.done("2/0", "torch_dynamo_resume_in_forward_at_14", **when)
    for number in (1, 2):
        log.started(f"1/{number}", path, 12, "forward")
        reason = guard(f"tensor 'x' size mismatch at index 0. expected {number}", path, 12, "forward", "", "1/0")
        log.done(f"1/{number}", "forward", recompile_reason=reason, **when)
    path = f"{JOB}/src/pkg/train.py"
    log.started("3/0", path, 5, "step")
    log.broke("3/0", path, 7, "step", 'print("step")')
    log.done("3/0", "step", **when)
    log.started("4/0", path, 7, "torch_dynamo_resume_in_step_at_7")
    log.done("4/0", "torch_dynamo_resume_in_step_at_7", **when)
