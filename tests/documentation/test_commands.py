"""Every command of README.md and docs runs, and prints what the page shows."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.documentation import worlds
from tests.documentation.commands import ROOT, blocks, shown, texts, transcripts

if TYPE_CHECKING:
    from collections.abc import Callable

#: What the words in capitals stand for here; those further up come first.
PLACEHOLDERS = (
    ("--baseline FILE", "--baseline known.json"),
    ("=FILE", "=other.json"),
    ("--output-file FILE", "--output-file report.txt"),
    ("--confirm PATH ...", "--confirm src/model.py"),
    ("--probe PATH ...", "--probe src/model.py"),
    ("FILE::FUNCTION --show", "train.py::doubled --show"),
    ("FILE::FUNCTION", "src/model.py::scaled"),
    ("train.log", "src/model.py"),
    ("FILE", "src/model.py"),
    ("[PATH]", "src"),
    ("PATH ...", "src"),
    ("PATH", "src"),
    ("DIR", "traces"),
    ("FOLDER", "src"),
    ("REASON", "later"),
    ("RULES", "NST1"),
    ("REF", "main"),
    ("KEY", "select"),
    ("SHELL", "bash"),
    ("TEXT", "'Please convert all Tensors to FakeTensors first'"),
    ("VERSION", "2.13"),
    ("N", "2"),
)
#: In running text these name a command that needs arguments; what they stand for.
NAMES = {
    "nonstrict audit": "nonstrict audit --help",
    "nonstrict check --confirm": "nonstrict check --confirm src/model.py",
    "nonstrict check --confirm --trust": "nonstrict check --confirm --trust src/model.py",
    "nonstrict confirm": "nonstrict confirm --help",
    "nonstrict explain": "nonstrict explain --help",
    "nonstrict import": "nonstrict import --help",
    "nonstrict record": "nonstrict record --help",
}
#: Commands that are not run here, by what they begin with: the test or file that has to do with them, and what of the
#: command is found there.
ELSEWHERE = {
    "dask ": ("tests/confirm/fleet/test_cluster.py", "cluster"),
    "CUDA_VISIBLE_DEVICES=0 dask ": ("tests/confirm/fleet/test_cluster.py", "cluster"),
    "nonstrict check --confirm --cluster ": ("tests/confirm/fleet/test_cluster.py", "cluster"),
    "nonstrict confirm --cluster ": ("tests/confirm/fleet/test_cluster.py", "cluster"),
    "nonstrict check --watch | head": ("tests/cli/test_watch.py", "head"),
    "make ": ("Makefile", ""),
    "pip install ": ("pyproject.toml", ""),
    "pre-commit install": ("tests/ci/test_ci.py", "pre-commit"),
    "python -m tests.compiles.other_torch ": ("tests/compiles/other_torch.py", ""),
    "python tests/corpus/score.py ": ("tests/corpus/score.py", "--nonstrict"),
}
#: Commands that a page shows to say what keeps them from working: what is then printed.
REFUSED = {"nonstrict import traces": "Try `--map /scratch/job7/repo=.`"}
#: What has to happen before the commands of a page print what it shows.
BEFORE = {"docs/budget.md": "nonstrict import traces --map /scratch/job7/repo=. --quiet"}
#: What differs from run to run.
_VARYING = (
    (r"\b\d+(\.\d+)? ?s\b", "<seconds>"),
    (r"torch \d+\.\d+\.\d+\S*", "torch <version>"),
    (r"\d+ (s|min|h|d) ago", "<then>"),
)


def expanded(text: str) -> str:
    """A command with something in the place of each word in capitals."""
    text = NAMES.get(text, text)
    for word, instead in PLACEHOLDERS:
        text = re.sub(
            rf"(?<![\w:=.-]){re.escape(word)}(?![\w.])" if word[0] not in "-=" else re.escape(word), instead, text
        )
    return text


def kind_of(command: str) -> str:
    """How a command is tested."""
    if command.startswith(tuple(ELSEWHERE)):
        return "elsewhere"
    if command.startswith(("nonstrict server", "nonstrict mcp")):
        return "server"
    if command.startswith("nonstrict check --watch"):
        return "watch"
    if " --confirm" in command or (command.startswith("nonstrict confirm") and "--help" not in command):
        return "experiment"
    return "plain"


def of_kind(kind: str) -> list[Any]:
    """The commands of a kind, each once, named after the first place that shows it."""
    found: dict[str, str] = {}
    for one in shown():
        if kind_of(expanded(one.text)) == kind:
            found.setdefault(expanded(one.text), one.place)
    return [pytest.param(command, id=place) for command, place in found.items()]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The project for a page, made once."""
    folder = tmp_path_factory.mktemp("worlds")

    def make(page: str) -> Path:
        name = page.removeprefix("docs/")
        if not (folder / name).exists():
            worlds.make(name, folder / name)
        return folder / name

    return make


class Shell:
    """Runs commands as somebody with a home of their own, in a project."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = project
        for folder in ("bin", ".zfunc", ".config/fish/completions"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        for name, module in (("nonstrict", "nonstrict"), ("pytest", "pytest -p no:cacheprovider")):
            (home / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
            (home / "bin" / name).chmod(0o755)
        own = {"HOME": str(home), "PATH": f"{home / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
        outside = ("NONSTRICT_", "CI", "GITHUB_", "XDG_", "PYTEST_", "VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
        self.environment = {**kept, **own, "GIT_CONFIG_GLOBAL": os.devnull, "PYTHONWARNINGS": "ignore"}

    def start(
        self, command: str, stdin: int = subprocess.DEVNULL, stderr: int = subprocess.STDOUT
    ) -> subprocess.Popen[str]:
        """Its process, whose standard output is a pipe."""
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.project,
            env=self.environment,
            text=True,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def run(self, command: str, statuses: tuple[int, ...] = (0, 1)) -> str:
        """What it prints, standard error among it; it must end with one of the statuses."""
        process = self.start(command)
        output, _ = process.communicate(timeout=600)
        assert "Traceback (most recent call last)" not in output, output
        assert process.returncode in statuses, f"exit status {process.returncode}: {command}\n{output}"
        return output


@pytest.fixture
def shell(made: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Shell]:
    def copied(page: str) -> Shell:
        shutil.copytree(made(page), tmp_path / "project")
        return Shell(tmp_path / "project", tmp_path / "home")

    return copied


def told(output: str) -> str:
    """An output without progress, and without what differs from run to run."""
    kept = "".join(f"{line}\n" for line in output.splitlines() if not line.startswith("nonstrict: "))
    for varying, name in _VARYING:
        kept = re.sub(varying, name, kept)
    return kept.strip("\n") + "\n"


def fits(page: str, output: str) -> bool:
    """Whether a page may show this for an output: `...` is any text within a line, and alone any number of lines."""
    lines = (
        "(?:.*\\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\\n"
        for line in told(page).splitlines()
    )
    return re.fullmatch("".join(lines), told(output)) is not None


def test_commands_are_found():
    assert len({expanded(one.text) for one in shown()}) > 100
    assert len(transcripts()) >= 9


def test_nothing_is_left_out_that_no_page_shows():
    every = {expanded(one.text) for one in shown()}
    unused = [start for start in ELSEWHERE if not any(command.startswith(start) for command in every)]
    assert not unused
    assert set(REFUSED) <= every


@pytest.mark.parametrize("command", of_kind("plain"))
def test_the_command_runs(shell: Callable[[str], Shell], command: str):
    refused = REFUSED.get(command)
    output = shell("any").run(command, (0, 1) if refused is None else (2,))
    assert refused is None or refused in output


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(one, id=one[0].place, marks=[pytest.mark.torch] if "confirm" in one[0].text else [])
        for one in transcripts()
    ],
)
def test_commands_print_what_the_page_shows(shell: Callable[[str], Shell], commands: list[Any]):
    terminal = shell(commands[0].page)
    if before := BEFORE.get(commands[0].page):
        terminal.run(before)
    for command in commands:
        output = terminal.run(command.text)
        assert command.output is None or fits(command.output, output), f"{command.text} prints:\n{output}"


def test_what_is_recorded_is_what_the_page_shows(shell: Callable[[str], Shell]):
    page = texts()["docs/record.md"]
    (shown_file,) = (json.loads(block.text) for block in blocks(page) if block.language == "json")
    terminal = shell("docs/record.md")
    terminal.run("nonstrict record -- pytest -q -k 'layer or window'")
    recorded = json.loads((terminal.project / ".nonstrict" / "inputs" / "model.py.json").read_text(encoding="utf-8"))
    assert {**recorded, "functions": {"attend": recorded["functions"]["attend"]}} == shown_file


@pytest.mark.torch
def test_commands_with_experiments_run(shell: Callable[[str], Shell]):
    """All in one project: verdicts are kept, so that each experiment is made once."""
    terminal = shell("any")
    for parameter in of_kind("experiment"):
        output = terminal.run(*parameter.values)
        assert "no sandbox" not in output
        assert output, parameter.id


@pytest.mark.parametrize("command", of_kind("server"))
def test_the_server_starts_and_ends(shell: Callable[[str], Shell], command: str):
    terminal = shell("any")
    if "PORT" in command:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = terminal.start(command.replace("PORT", str(port)))
        with _connected(port) as connection:
            connection.sendall(_session().encode())
            assert b'"capabilities"' in connection.recv(1 << 16)
            assert process.wait(180) == 0
        process.communicate()
        return
    process = terminal.start(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = process.communicate("" if "mcp" in command else _session(), timeout=180)
    assert (process.returncode, errors) == (0, "")
    assert "mcp" in command or '"capabilities"' in output


def _connected(port: int) -> socket.socket:
    for _ in range(600):
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), timeout=30)
        time.sleep(0.1)
    raise AssertionError(f"nobody listens at port {port}")


def _session() -> str:
    """A client that begins, and ends at once."""
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": None}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    texts = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    return "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)


@pytest.mark.parametrize("command", of_kind("watch"))
def test_watching_begins_and_ends(shell: Callable[[str], Shell], command: str):
    terminal = shell("any")
    if command.removeprefix("nonstrict check --watch") not in {"", " --select NST1 src"}:
        output = terminal.run(command, statuses=(2,))
        assert "--watch" in output, "the page says that it is refused together with `--watch`"
        return
    process = terminal.start(f"exec {command}", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert any('"round-end"' in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=180)
    assert process.returncode == 130


@pytest.mark.parametrize("command", of_kind("elsewhere"))
def test_what_is_not_run_here_has_a_test_or_a_file(command: str):
    path, word = next(value for start, value in ELSEWHERE.items() if command.startswith(start))
    text = (ROOT / path).read_text(encoding="utf-8")
    assert word in text
    for target in re.findall(r"\bmake ([\w-]+)", command):
        assert re.search(rf"^{target}:", text, re.MULTILINE), f"there is no target {target}"
    for extra in re.findall(r"nonstrict\[(\w+)\]", command):
        assert re.search(rf"^{extra} = \[", text, re.MULTILINE), f"there is no extra {extra}"
