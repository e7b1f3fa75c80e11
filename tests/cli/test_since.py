"""`--since` and `--staged`: what a change caused, in a repository of git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.run import RunOptions, check
from nonstrict.cli.main import main
from nonstrict.report.context import Lines
from nonstrict.settings.load import settings_in
from nonstrict.settings.model import default_settings
from tests.git import Git
from tests.histories import History

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Command

CONFIG = "SCALE = 2.0\n"
WRITER = "\n\ndef set_scale(value):\n    global SCALE\n    SCALE = value\n"
ATTENTION = """\
import torch
from pkg import config


@torch._dynamo.nonstrict_trace
def attend(x):
    return x * config.SCALE


@torch.compile
def step(x):
    return attend(x)
"""
FOUND = "pkg/attention.py:7:16: warning[NST104]"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    made = Git(tmp_path)
    for path, text in (("config.py", CONFIG), ("attention.py", ATTENTION), ("__init__.py", "")):
        (tmp_path / "pkg").mkdir(exist_ok=True)
        (tmp_path / "pkg" / path).write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.nonstrict]\n")
    made.commit()
    return made


@pytest.fixture
def since(nonstrict: Command) -> Callable[..., tuple[int, str]]:
    def run(*arguments: str) -> tuple[int, str]:
        done = nonstrict("check", "--no-cache", "--output-format", "concise", *arguments)
        assert done.err == ""
        return done.status, done.out

    return run


def test_a_writer_elsewhere_brings_the_finding_where_it_is(git: Git, since: Callable[..., tuple[int, str]]):
    assert since("--since", "HEAD")[0] == 0
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    status, out = since("--since", "HEAD")
    assert status == 1
    assert out.startswith(FOUND)
    git.commit()
    status, out = since("--since", "HEAD")
    assert status == 0
    assert out.startswith("No findings in 3 files (1 there before).\n")
    assert since("--since", "HEAD~1")[1].startswith(FOUND)
    assert since("--since", "HEAD~1", str(git.folder / "pkg"))[0] == 1


def test_lines_that_move_and_files_that_are_renamed_bring_nothing(git: Git, since: Callable[..., tuple[int, str]]):
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    git.commit()
    (git.folder / "pkg/attention.py").write_text("# moved\n\n" + ATTENTION)
    git("mv", "pkg/attention.py", "pkg/attending.py")
    assert since("--since", "HEAD")[0] == 0
    git.commit()
    assert since("--since", "HEAD~1")[0] == 0


def test_of_two_that_are_equal_one_is_new(git: Git, since: Callable[..., tuple[int, str]]):
    text = ATTENTION.replace("    return x * config.SCALE", "    x = x * config.SCALE\n    return x")
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    (git.folder / "pkg/attention.py").write_text(text)
    git.commit()
    twice = text.replace("    return x\n", "    x = x * config.SCALE\n    return x\n", 1)
    (git.folder / "pkg/attention.py").write_text(twice)
    status, out = since("--since", "HEAD")
    assert status == 1
    assert "Found 1 warning in 1 of 3 files (1 there before)." in out


def test_what_is_staged_is_checked_in_place_of_the_files(git: Git, since: Callable[..., tuple[int, str]]):
    config = git.folder / "pkg/config.py"
    config.write_text(CONFIG + WRITER)
    assert since("--staged")[0] == 0
    git("add", "-A")
    config.write_text(CONFIG)
    status, out = since("--staged")
    assert status == 1
    assert out.startswith(FOUND)
    assert since("--since", "HEAD")[0] == 0


def test_settings_that_fix_change_no_file_for_what_is_staged(git: Git, since: Callable[..., tuple[int, str]]):
    (git.folder / "pyproject.toml").write_text("[tool.nonstrict]\nfix = true\nunsafe-fixes = true\n")
    git.commit()
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    git("add", "-A")
    status, out = since("--staged")
    assert status == 1
    assert out.startswith(FOUND)
    assert (git.folder / "pkg/attention.py").read_text() == ATTENTION


def test_the_frame_of_what_is_staged_shows_it(git: Git, nonstrict: Command):
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    git("add", "-A")
    (git.folder / "pkg/attention.py").write_text("# another\n" * 20)
    out = nonstrict("check", "--staged").out
    assert "    return x * config.SCALE\n" in out
    assert "another" not in out


def test_a_branch_is_compared_with_where_it_left(git: Git, since: Callable[..., tuple[int, str]]):
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    git.commit()
    git("checkout", "-q", "-b", "feature")
    git.commit("nothing")
    git("checkout", "-q", "main")
    (git.folder / "pkg/config.py").write_text(CONFIG)
    git.commit("mended")
    git("checkout", "-q", "feature")
    status, out = since("--since", "main")
    assert status == 0
    assert "(1 there before)" in out


def test_a_shallow_clone_compares_with_what_it_has(
    git: Git,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    first = git("rev-parse", "HEAD")
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    git.commit()
    clone = tmp_path_factory.mktemp("clone")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    subprocess.run(["git", "clone", "-q", "--depth=1", git.folder.as_uri(), str(clone)], check=True)
    monkeypatch.chdir(clone)
    assert main(["check", "--no-cache", "--since", first]) == 2
    assert f"`git fetch --depth=1 origin {first}` brings it" in capsys.readouterr().err
    subprocess.run(["git", "fetch", "-q", "--depth=1", "origin", first], cwd=clone, check=True)
    assert main(["check", "--no-cache", "--since", first]) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--since", "nowhere"), "git knows no commit nowhere. Name a commit, a branch or a tag that is here"),
        (("--since", "--output=x"), "--since takes a value."),
        (("--since=--output=x",), "git knows no commit --output=x."),
        (("--since=",), "--since takes a commit, a branch or a tag, not nothing."),
        (("--since", "HEAD", "-"), "--since asks git, which knows nothing of standard input."),
        (("--staged", "--fix"), "--staged and --fix exclude each other"),
        (("--since", "HEAD", "--write-baseline"), "--write-baseline and --since exclude each other"),
    ],
)
def test_what_cannot_be_meant(git: Git, nonstrict: Command, arguments: tuple[str, ...], told: str):
    done = nonstrict("check", *arguments)
    assert done.status == 2
    assert told in done.err


def test_outside_of_git(nonstrict: Command, project: Path):
    done = nonstrict("check", "--since", "HEAD")
    assert done.status == 2
    assert "is not in a git working tree" in done.err


def test_without_git(git: Git, nonstrict: Command, tmp_path: Path):
    done = nonstrict("check", "--since", "HEAD", PATH=str(tmp_path))
    assert (done.status, done.out) == (2, "")
    assert "Install git" in done.err


def test_nothing_is_left_behind_and_nothing_is_touched(
    git: Git,
    since: Callable[..., tuple[int, str]],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(place))
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    before = git("status", "--porcelain"), sorted((git.folder / ".git").rglob("*"))
    assert since("--since", "HEAD")[0] == 1
    assert not list(place.iterdir())
    assert (git("status", "--porcelain"), sorted((git.folder / ".git").rglob("*"))) == before


def test_what_git_ignores_is_there_in_both_states(git: Git, since: Callable[..., tuple[int, str]]):
    (git.folder / ".gitignore").write_text("generated/\n")
    (git.folder / "generated").mkdir()
    (git.folder / "generated/__init__.py").write_text(
        "import pkg.config\n\n\ndef set_scale(value):\n    pkg.config.SCALE = value\n"
    )
    (git.folder / "generated/limits.py").write_text("import torch\n\nMASK = torch.ones(3)\n")
    text = ATTENTION.replace("from pkg import config", "from generated import limits").replace(
        "config.SCALE", "limits.MASK"
    )
    (git.folder / "pkg/attention.py").write_text(text)
    git.commit()
    (git.folder / "pkg/config.py").write_text("# more\n")
    status, out = since("--since", "HEAD")
    assert (status, "(1 there before)" in out) == (0, True)


def test_a_repository_names_no_program_that_is_run(git: Git, since: Callable[..., tuple[int, str]]):
    ran = git.folder.parent / f"{git.folder.name}-ran"
    script = git.folder.parent / f"{git.folder.name}.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    (git.folder / ".gitattributes").write_text("*.py diff=own filter=own\n")
    git.commit()
    for name in ("core.fsmonitor", "diff.external", "diff.own.command", "diff.own.textconv", "core.pager"):
        git("config", name, str(script))
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    assert since("--since", "HEAD")[0] == 1
    assert not ran.exists()


def test_the_settings_of_each_state_count(git: Git, since: Callable[..., tuple[int, str]]):
    (git.folder / "pkg/config.py").write_text(CONFIG + WRITER)
    settings = git.folder / "pyproject.toml"
    settings.write_text('[tool.nonstrict]\nignore = ["NST104"]\n')
    git.commit()
    settings.write_text("[tool.nonstrict]\n")
    assert since("--since", "HEAD")[0] == 1
    settings.write_text("[tool.nonstrict]\nwrong = 1\n")
    git.commit()
    settings.write_text("[tool.nonstrict]\n")
    assert since("--since", "HEAD")[0] == 0


def _full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, ...]]:
    """All findings of a folder, by what a reader would say of them."""
    monkeypatch.chdir(folder)
    run = RunOptions(jobs=1, nested=settings_in, fixes=None)
    result = check(["."], settings_in(str(folder), ["pyproject.toml"]) or default_settings(str(folder)), run)
    lines = Lines(result.read)
    return Counter(
        (one.code, one.location.path, one.function, (lines.line(one.location.path, one.location.row) or "").strip())
        for one in result.diagnostics
    )


@pytest.mark.parametrize("seed", range(2))
def test_what_is_reported_is_the_difference_of_two_full_runs(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    git = Git(tmp_path)
    history = History(tmp_path, seed)
    git.commit("first")
    caused = 0
    for edit in history.edits(20):
        git.commit(edit)
        before = tmp_path_factory.mktemp("before")
        git("worktree", "add", "-q", "--detach", str(before), "HEAD~1")
        after, earlier = _full(tmp_path, monkeypatch), _full(before, monkeypatch)
        git("worktree", "remove", "--force", str(before))
        shutil.rmtree(before, ignore_errors=True)
        renamed = dict(
            line.split("\t")[1:]
            for line in git("diff", "-M", "--diff-filter=R", "--name-status", "HEAD~1").splitlines()
        )
        earlier = Counter(
            {(code, renamed.get(path, path), *rest): count for (code, path, *rest), count in earlier.items()}
        )
        expected = Counter((code, path) for code, path, *_ in (after - earlier).elements())
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        main(["check", "--no-cache", "-j1", "--since", "HEAD~1", "--output-format", "json-lines"])
        found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        told = [(one["code"], os.path.relpath(one["filename"])) for one in found]
        assert Counter(told) == expected, edit
        caused += len(told)
    assert caused
