"""A day of a team that begins with the tool: two clones, a hook, a pull request, CI of two services, a merge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.ci.services import EXAMPLES, ROOT, Request, acted, ran_job
from tests.git import Git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROJECT = {
    "pyproject.toml": '[project]\nname = "vision"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = "src"\n',
    "src/training/__init__.py": "",
    "src/vision/__init__.py": "",
    "src/vision/config.py": "WIDTH = 64\nSCALE = 0.125\n",
    "src/vision/attention.py": """\
import logging

import torch
from torch import nn
from torch.nn import functional as F

from vision import config

logger = logging.getLogger(__name__)


@torch._dynamo.nonstrict_trace
def attend(query, key, value):
    logger.debug("attending to %d keys", key.shape[-2])
    scores = query @ key.transpose(-2, -1) * config.SCALE
    return F.softmax(scores, dim=-1) @ value


class Attention(nn.Module):
    def __init__(self, width=config.WIDTH):
        super().__init__()
        self.queries = nn.Linear(width, width)
        self.keys = nn.Linear(width, width)
        self.values = nn.Linear(width, width)

    def forward(self, x):
        return attend(self.queries(x), self.keys(x), self.values(x))
""",
    "src/vision/model.py": """\
import torch
from torch import nn

from vision.attention import Attention


class Encoder(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(depth))
        self.head = nn.Linear(64, 10)

    @torch.compile
    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x.mean(dim=1))
""",
    "src/training/trainer.py": """\
import torch
from torch.nn import functional as F

from vision.model import Encoder


@torch.compile
def loss_of(model, images, labels):
    loss = F.cross_entropy(model(images), labels)
    print("loss", loss.item())
    return loss


def train(steps=2):
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = loss_of(model, torch.randn(2, 8, 64), torch.randint(10, (2,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    train()
""",
}
WRITER = "\n\ndef warm_up(step):\n    global SCALE\n    SCALE = min(0.125, step / 1000)\n"
#: Where what WRITER causes shows, and what says so.
SHOWS, CAUSE = "src/vision/attention.py:15:46", "src/vision/config.py:7:5: rebound here"
BASELINE = ".nonstrict-baseline.json"

Done = subprocess.CompletedProcess[str]


class Developer:
    """Somebody with a clone, in which the tool is used as the pages say."""

    def __init__(self, origin: Path, folder: Path) -> None:
        subprocess.run(["git", "clone", "-q", origin.as_uri(), str(folder)], check=True, capture_output=True)
        self.folder, self.git = folder, Git(folder)
        self.git("config", "user.name", folder.name)
        self.git("config", "user.email", f"{folder.name}@localhost")

    def runs(self, *arguments: str, **environment: str) -> Done:
        """Run a command of the tool."""
        return _ran(self.folder, "-m", "nonstrict", *arguments, **environment)

    def installs_the_hook(self) -> None:
        """What the page says to do once in each clone."""
        assert _ran(self.folder, "-m", "pre_commit", "install").returncode == 0

    def commits(self, message: str, *options: str) -> Done:
        """Commit all there is; hooks run in a shell that knows nothing of these tests."""
        self.git("add", "-A")
        environment = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "GIT_DIR", "CI")}
        command = ["git", "commit", "-m", message, *options]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def pushes(self) -> str:
        """Push the branch; the commit that it ends with."""
        self.git("push", "-q", "origin", "HEAD")
        return self.git("rev-parse", "HEAD")

    def writes(self, path: str, text: str) -> None:
        """Write a file."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def edits(self, path: str, before: str, after: str) -> None:
        """Replace something in a file."""
        text = (self.folder / path).read_text(encoding="utf-8")
        assert text.count(before) == 1
        self.writes(path, text.replace(before, after))

    def known(self) -> list[dict[str, Any]]:
        """What the baseline holds."""
        return json.loads((self.folder / BASELINE).read_text(encoding="utf-8"))["findings"]


class Service:
    """What hosts the repository and runs CI: each job in a shallow clone, on a machine of its own but for the cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.origin = folder, folder / "origin.git"
        self.cache: Path | None = None
        self._jobs = 0
        self.origin.mkdir(parents=True)
        for arguments in (["init", "-q", "--bare", "-b", "main"], ["config", "uploadpack.allowAnySHA1InWant", "true"]):
            subprocess.run(["git", *arguments], cwd=self.origin, check=True)

    def merges(self, branch: str, into: str) -> str:
        """The commit with which a request is merged into main, kept where `into` says."""
        merging = Developer(self.origin, self.folder / f"merge-{self._next()}")
        merging.git("merge", "-q", "--no-ff", "-m", f"Merge {branch}", f"origin/{branch}")
        merging.git("push", "-q", "origin", f"+HEAD:{into}")
        return merging.git("rev-parse", "HEAD")

    def checks(self, ref: str, request: Request | None = None) -> tuple[Done, Done]:
        """What the steps of the action say of a ref: those that check and hold the budget."""
        checkout, runner = self._job(ref)
        steps = ("Check", "Hold the budget")
        check, budget = (acted(checkout, runner, step, request, budget="true") for step in steps)
        self.cache = runner / "nonstrict-cache"
        return check, budget

    def checks_as_gitlab(self, branch: str, base: str) -> tuple[Done, list[dict[str, Any]]]:
        """What the job of the component says of a branch that left main at a commit, and its report."""
        checkout, runner = self._job(f"refs/heads/{branch}")
        done = ran_job(checkout, runner, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
        return done, json.loads((checkout / "gl-code-quality-report.json").read_text(encoding="utf-8"))

    def _job(self, ref: str) -> tuple[Path, Path]:
        """A shallow clone of what a ref is, and the folder of a runner with the cache of the last job."""
        place = self.folder / f"job-{self._next()}"
        checkout, runner = place / "checkout", place / "runner"
        checkout.mkdir(parents=True)
        runner.mkdir()
        git = Git(checkout)
        git("fetch", "-q", "--depth=1", self.origin.as_uri(), ref)
        git("checkout", "-q", "FETCH_HEAD")
        git("remote", "add", "origin", self.origin.as_uri())
        if self.cache is not None:
            shutil.copytree(self.cache, runner / "nonstrict-cache")
        return checkout, runner

    def _next(self) -> int:
        self._jobs += 1
        return self._jobs


def _ran(folder: Path, *arguments: str, **environment: str) -> Done:
    hidden = ("NONSTRICT_", "CI", "GITHUB_")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository of the tool as it is here, for the hook to be taken from."""
    if not (ROOT / ".git").exists():
        pytest.skip("which files are the tool's is known from its repository, and this is none")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "hooks"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    # Jobs of a service say so themselves.
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "tool"
    parts = ("analysis", "server", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *parts]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    git = Git(folder)
    git.commit()
    git("tag", "v0.1.0")
    yield folder
    shutil.rmtree(tmp_path / "hooks", ignore_errors=True)


def test_a_day_of_a_team(tmp_path: Path, tool: Path):
    service = Service(tmp_path / "service")
    anna = Developer(service.origin, tmp_path / "anna")
    begins(anna)
    adopts(anna, tool)
    an_edit_above_what_is_known_is_no_news(anna)
    base = anna.pushes()
    is_green(service.checks("refs/heads/main"))

    ben = Developer(service.origin, tmp_path / "ben")
    ben.installs_the_hook()
    ben.git("switch", "-q", "-c", "warm-up")
    the_hook_refuses_a_cause(ben)
    is_red_for_the_cause(service, pushed(service, ben, base), base)
    takes_the_fix(ben)
    is_green(service.checks(*pushed(service, ben, base)))

    breaks_the_graph(ben)
    is_red_for_the_budget(service.checks(*pushed(service, ben, base)))
    ben.git("revert", "--no-edit", "HEAD")
    is_green(service.checks(*pushed(service, ben, base)))

    mends_what_was_known(ben)
    is_green(service.checks(*pushed(service, ben, base)), stale=1)
    the_baseline_shrinks(ben)
    moves_a_file(ben)
    is_green(service.checks(*pushed(service, ben, base)))
    writes_down_where_it_is(ben)
    pushed(service, ben, base)

    service.merges("warm-up", "refs/heads/main")
    is_green(service.checks("refs/heads/main"))
    anna.git("pull", "-q", "--no-rebase", "origin", "main")
    takes_up_the_cache(anna, service)


def begins(anna: Developer) -> None:
    """The project as it was before the day, with three findings that nobody knows of."""
    for path, text in PROJECT.items():
        anna.writes(path, text)
    anna.git("switch", "-q", "-C", "main")
    assert anna.commits("The project").returncode == 0
    anna.pushes()


def adopts(anna: Developer, tool: Path) -> None:
    """Baseline, budget and hook, as the pages have it."""
    found = anna.runs("check")
    assert found.returncode == 1
    assert "Found 3 warnings in 2 of 6 files." in found.stdout
    written = anna.runs("check", "--write-baseline")
    assert (written.returncode, written.stdout) == (0, f"Wrote 3 findings to {BASELINE}.\n")
    assert "No findings in 6 files (3 in the baseline)." in anna.runs("check").stdout
    budget = anna.runs("budget", "--write")
    assert (budget.returncode, budget.stderr) == (0, "Wrote 2 entries into pyproject.toml.\n")
    example = EXAMPLES[".pre-commit-config.yaml"]
    assert "https://github.com/nonstrict/nonstrict" in example
    anna.writes(".pre-commit-config.yaml", example.replace("https://github.com/nonstrict/nonstrict", str(tool)))
    anna.installs_the_hook()
    assert anna.git("status", "--short").splitlines() == [
        "M pyproject.toml",
        f"?? {BASELINE}",
        "?? .pre-commit-config.yaml",
    ], "the cache is none of the project"
    done = anna.commits("What is known today")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "what is staged................................................Passed" in done.stderr + done.stdout
    anna.pushes()


def an_edit_above_what_is_known_is_no_news(anna: Developer) -> None:
    """Lines that move do not bring old findings back."""
    anna.edits(
        "src/training/trainer.py", "@torch.compile\n", "# Compiled, as it runs once per batch.\n@torch.compile\n"
    )
    done = anna.commits("Say why")
    assert done.returncode == 0, done.stdout + done.stderr


def the_hook_refuses_a_cause(ben: Developer) -> None:
    """The file of the commit has no finding; the finding is in a file that nobody touched."""
    before = ben.git("rev-parse", "HEAD")
    ben.writes("src/vision/config.py", PROJECT["src/vision/config.py"] + WRITER)
    refused = ben.commits("Warm up")
    told = refused.stdout + refused.stderr
    assert refused.returncode == 1, told
    assert "warning[NST104]" in told
    assert SHOWS in told
    assert CAUSE in told
    assert "Found 1 warning in 1 of 6 files (3 there before)." in told
    assert ben.git("rev-parse", "HEAD") == before
    assert ben.commits("Warm up", "--no-verify").returncode == 0


def pushed(service: Service, ben: Developer, base: str) -> tuple[str, Request]:
    """The ref that the service makes of the request for a run, once it is pushed, and what its event tells."""
    request = Request(base, ben.pushes())
    service.merges("warm-up", "refs/pull/1/merge")
    return "refs/pull/1/merge", request


def is_green(steps: tuple[Done, Done], stale: int = 0) -> None:
    """Nothing is found, and nothing said but how much of the baseline is stale."""
    check, budget = steps
    assert (check.returncode, check.stdout) == (0, ""), check.stdout + check.stderr
    assert (f"{stale} entry of {BASELINE} matches nothing any more" in check.stderr) is bool(stale)
    assert bool(check.stderr) is bool(stale), check.stderr
    assert budget.returncode == 0, budget.stdout + budget.stderr
    assert "2 numbers of 2 regions in the budget: all kept." in budget.stdout


def is_red_for_the_cause(service: Service, run: tuple[str, Request], base: str) -> None:
    """An annotation at the line that goes wrong, which names what leads there; on both services."""
    check, budget = service.checks(*run)
    assert (check.returncode, budget.returncode) == (1, 0), check.stderr + budget.stderr
    (annotation,) = check.stdout.splitlines()
    path, row, column = SHOWS.split(":")
    assert annotation.startswith(f"::warning title=nonstrict (NST104),file={path},line={row},col={column},")
    assert "%0Asrc/vision/attention.py:12:2: `attend` is marked with `nonstrict_trace` here" in annotation
    assert annotation.endswith(f"%0A{CAUSE}")
    done, (issue,) = service.checks_as_gitlab("warm-up", base)
    assert done.returncode == 1
    assert issue["location"]["path"] == path
    assert issue["location"]["positions"]["begin"] == {"line": int(row), "column": int(column)}
    assert issue["description"] == f"NST104: `attend` captures global `SCALE`, which changes; {CAUSE}"
    assert SHOWS in done.stdout, "the log says it too"


def takes_the_fix(ben: Developer) -> None:
    """What is offered mends it, and the hook has nothing to say of the result."""
    fixed = ben.runs("check", "--since", "main", "--fix", "--unsafe-fixes")
    assert (fixed.returncode, "1 fixed, 3 there before" in fixed.stdout) == (0, True), fixed.stdout
    assert "self.values(x), config.SCALE)" in (ben.folder / "src/vision/attention.py").read_text(encoding="utf-8")
    done = ben.commits("The scale is an argument")
    assert done.returncode == 0, done.stdout + done.stderr


def breaks_the_graph(ben: Developer) -> None:
    """A print for the time being, committed in a hurry."""
    ben.edits("src/vision/model.py", "        for layer in", '        print("encoding")\n        for layer in')
    refused = ben.commits("See what is encoded")
    assert refused.returncode == 1
    assert "src/vision/model.py:15:9" in refused.stdout + refused.stderr
    assert ben.commits("See what is encoded", "--no-verify").returncode == 0


def is_red_for_the_budget(steps: tuple[Done, Done]) -> None:
    """The region whose graphs are more, by name and with its entry; and the break, at its line."""
    check, budget = steps
    assert (check.returncode, budget.returncode) == (1, 1)
    assert "file=src/vision/model.py,line=15," in check.stdout
    entry = "src/training/trainer.py::loss_of"
    said = f"`loss_of`: 2 graphs (predicted), budget 1: exceeded (`{entry}`)"
    place = "title=nonstrict (budget),file=src/training/trainer.py,line="
    (line,) = [line for line in budget.stdout.splitlines() if line.startswith(f"::error {place}")]
    assert line.endswith(said)
    assert "1 exceeded" in budget.stdout


def mends_what_was_known(ben: Developer) -> None:
    """Of the three findings, one is gone."""
    ben.edits("src/vision/attention.py", '    logger.debug("attending to %d keys", key.shape[-2])\n', "")
    assert ben.commits("Quiet").returncode == 0
    told = ben.runs("check", CI="true")
    assert told.returncode == 0
    assert len(ben.known()) == 3, "CI writes nothing"


def the_baseline_shrinks(ben: Developer) -> None:
    """Outside of CI the file follows, and is committed."""
    done = ben.runs("check")
    assert (done.returncode, done.stderr) == (
        0,
        f"nonstrict: 1 known finding gone, and taken out of {BASELINE}.\n",
    )
    assert {one["code"] for one in ben.known()} == {"NST701"}
    assert ben.commits("One less").returncode == 0


def moves_a_file(ben: Developer) -> None:
    """What is known of a file, findings and budget, goes with it."""
    ben.git("mv", "src/training/trainer.py", "src/training/loop.py")
    done = ben.commits("Another name")
    assert done.returncode == 0, done.stdout + done.stderr


def writes_down_where_it_is(ben: Developer) -> None:
    """Baseline and budget take the new name when somebody looks."""
    assert ben.runs("check").returncode == 0
    assert {one["path"] for one in ben.known()} == {"src/training/loop.py"}
    budget = ben.runs("budget", "--write")
    assert budget.stderr == "Wrote 1 entry into pyproject.toml.\n"
    assert budget.stdout.endswith("2 numbers of 2 regions in the budget: all kept.\n")
    assert '"src/training/loop.py::loss_of" = { graphs = 1 }' in (ben.folder / "pyproject.toml").read_text()
    assert ben.commits("Where it is now").returncode == 0


def takes_up_the_cache(anna: Developer, service: Service) -> None:
    """Another clone finds the answer that the job on main kept, and writes none of its own."""
    assert service.cache is not None
    kept = answers(service.cache)
    command = ("check", "--output-format", "github")
    done = anna.runs(*command, NONSTRICT_CACHE_DIR=str(service.cache))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert answers(service.cache) == kept
    anna.writes("src/vision/config.py", "WIDTH = 32\n")
    anna.runs(*command, NONSTRICT_CACHE_DIR=str(service.cache))
    assert answers(service.cache) != kept, "an answer that is not there is written"


def answers(cache: Path) -> dict[str, bytes]:
    """The answers of whole runs that a cache holds."""
    return {path.name: path.read_bytes() for path in cache.glob("*/*.json") if path.stem != "contents"}
