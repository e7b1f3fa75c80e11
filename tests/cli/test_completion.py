"""Completion, in the shells themselves: what they offer behind a word that was begun."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

_BASH = """\
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_shtab_nonstrict
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
_FISH = """\
source {script}
complete -C {line} | string replace -r '\\t.*' ''
true
"""
#: `compadd` and what is built on it only work in an editor of lines: one is run in a terminal of its own.
_ZSH = """\
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell {setup}
zpty -r shell out '*READY*READY*'
zpty -w -n shell {line}$'\\t\\x04'
sleep 1
zpty -w shell $'\\x03'
zpty -w shell 'print -r DO''NE'
zpty -r shell out '*DONE*'
print -r -- "$out"
zpty -d shell
"""
CASES = [
    ("che", ["check"]),
    ("check --ignore-sup", ["--ignore-suppressions"]),
    ("check --output-format sa", ["sarif"]),
    ("check --select NST10", [f"NST10{digit}" for digit in range(1, 8)]),
    ("check --select NST101,NST30", ["NST101,NST301", "NST101,NST302"]),
    ("check --fix --unfixable global-tens", ["global-tensor-capture"]),
    ("regions --target", ["--target-python"]),
    ("rule NST80", [f"NST80{digit}" for digit in range(1, 9)]),
    ("explain NST90", [f"NST90{digit}" for digit in range(5)]),
    ("config required", ["required-version"]),
    ("completion z", ["zsh"]),
    ("check bad", ["bad.py"]),
    ("check --add-ignore bad", ["bad.py"]),
]


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


@pytest.fixture
def script(project: Path, nonstrict: Command, request: pytest.FixtureRequest) -> Path:
    name = request.node.originalname.rpartition("_")[2]
    outcome = nonstrict("completion", name)
    assert (outcome.status, outcome.err) == (0, "")
    path = project / "folder" / "completion"
    path.parent.mkdir()
    path.write_text(outcome.out, encoding="utf-8")
    return path


def said(project: Path, *command: str) -> list[str]:
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.splitlines()))


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[line for line, _ in CASES])
def test_words_are_completed_in_bash(project: Path, script: Path, line: str, offered: list[str]):
    words = " ".join(map(shlex.quote, ["nonstrict", *line.split(" ")]))
    text = _BASH.format(script=script, words=words)
    assert said(project, shell("bash"), "--norc", "-c", text) == offered


@pytest.mark.parametrize(("line", "offered"), CASES, ids=[line for line, _ in CASES])
def test_words_are_completed_in_fish(project: Path, script: Path, line: str, offered: list[str]):
    text = _FISH.format(script=script, line=shlex.quote(f"nonstrict {line}"))
    assert said(project, shell("fish"), "--no-config", "-c", text) == offered


@pytest.mark.parametrize(("line", "offered"), [CASES[1], CASES[2], CASES[4], CASES[10]])
def test_words_are_completed_in_zsh(project: Path, script: Path, line: str, offered: list[str]):
    setup = f"autoload -Uz compinit; compinit -u -D; source {script}; compdef _shtab_nonstrict nonstrict; print READY"
    text = _ZSH.format(setup=shlex.quote(setup), line=shlex.quote(f"nonstrict {line}"))
    done = subprocess.run([shell("zsh"), "-f", "-c", text], cwd=project, capture_output=True, check=False, timeout=60)
    shown = done.stdout.decode("utf-8", "replace")
    assert all(word.rpartition(",")[2] in shown for word in offered), shown


def test_an_unknown_shell_is_refused(nonstrict: Command):
    outcome = nonstrict("completion", "tcsh")
    assert outcome.status == 2
    assert "Choose one of bash, zsh, fish." in outcome.err
