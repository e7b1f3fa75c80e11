"""The settings of docs/other-editors.md: they can be read, name keys that the editors know, and work where tried."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict_server.settings import ClientSettings, client_settings, section_of
from tests.browser import WITH_CHROMIUM, chromium
from tests.editors.other_editors import ROOT, replaced, settings_for
from tests.server.oracle import environment
from tests.server.protocol.projects import BAD

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

HERE = Path(__file__).parent
KATE = shutil.which("kate")
#: The commands of an environment with JupyterLab and jupyterlab-lsp, and without nonstrict: `make test` makes it.
JUPYTER = Path(sys.prefix) / "jupyter" / "bin"
COMMAND = ["nonstrict", "server"]
ON_DEMAND = ClientSettings(confirm="onDemand")


def test_the_template_of_lsp4ij_is_one():
    """As `LanguageServerTemplateDeserializer` of LSP4IJ reads it: a name, a command, and mappings with both parts."""
    folder = ROOT / "editors" / "lsp4ij"
    assert {one.name for one in folder.iterdir()} == {"template.json", "settings.json", "README.md"}
    template = json.loads((folder / "template.json").read_text(encoding="utf-8"))
    assert template.keys() == {"id", "name", "programArgs", "languageMappings"}
    assert template["programArgs"]["default"].split() == COMMAND
    assert template["languageMappings"] == [{"language": "Python", "languageId": "python"}]
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    assert client_settings(section_of(settings)) == ON_DEMAND


def test_the_settings_of_sublime_text_are_those_of_a_client():
    (client,) = settings_for("Sublime Text")["clients"].values()
    assert client["command"] == COMMAND
    assert client.keys() == {"enabled", "command", "selector", "settings"}
    # LSP nests what has dots in its name.
    assert {name.partition(".")[0] for name in client["settings"]} == {"nonstrict"}
    assert {name.removeprefix("nonstrict.") for name in client["settings"]} == {"confirm.mode"}


def test_the_settings_of_zed_name_one_of_its_servers():
    settings = settings_for("Zed")
    ((name, server),) = settings["lsp"].items()
    assert settings["languages"]["Python"]["language_servers"] == [name, "..."]
    assert [server["binary"]["path"], *server["binary"]["arguments"]] == COMMAND
    assert client_settings(section_of(server["initialization_options"])) == ON_DEMAND


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "bad.py").write_text(BAD, encoding="utf-8")
    return root


@pytest.mark.skipif(KATE is None, reason="there is no Kate: Debian's package kate")
def test_kate(project: Path, tmp_path: Path):
    """Kate starts the server of its settings, opens the file there, and is told of the finding."""
    log = tmp_path / "messages"
    command = [sys.executable, str(HERE / "listening.py"), str(log), *(sys.executable, "-m", "nonstrict", "server")]
    config = tmp_path / "config"
    (config / "kate" / "lspclient").mkdir(parents=True)
    (config / "kate" / "lspclient" / "settings.json").write_text(json.dumps(replaced(settings_for("Kate"), command)))
    (config / "katerc").write_text(
        f"[Kate Plugins]\nlspclientplugin=true\n\n[lspclient]\nAllowedServerCommandLines={' '.join(command)}\n"
    )
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    places = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(config), "XDG_RUNTIME_DIR": str(runtime)}
    extra = {**places, "QT_QPA_PLATFORM": "offscreen"}
    with started([str(KATE), "--block", "--new", "bad.py"], project, tmp_path / "output", extra):
        told = until(lambda: [one for one in received(log) if '"NST101"' in one])
    (report,) = told[-1:]
    assert (project / "bad.py").as_uri() in report
    assert f'"rootUri": "{project.as_uri()}"' in sent(log)
    assert '"confirm"' in sent(log), "the settings are not passed on"


@WITH_CHROMIUM
@pytest.mark.skipif(not JUPYTER.is_dir(), reason="there is no JupyterLab in the environment (make test)")
def test_jupyterlab(project: Path, tmp_path: Path):
    """A notebook in a browser: the captured name is marked, and the mark says what is wrong."""
    config = tmp_path / "config" / "jupyter_server_config.d"
    config.mkdir(parents=True)
    command = [sys.executable, "-m", "nonstrict", "server"]
    (config / "nonstrict.json").write_text(json.dumps(replaced(settings_for("JupyterLab"), command)))
    first, _, second = BAD.partition("\n\n\n")
    (project / "work.ipynb").write_text(json.dumps(notebook(first, "%matplotlib inline\n" + second)))
    log = tmp_path / "log"
    extra = {
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(config.parent),
        "PATH": f"{JUPYTER}:{os.environ['PATH']}",
    }
    arguments = [
        "--no-browser",
        "--allow-root",
        "--port=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={project}",
    ]
    with started([f"{JUPYTER}/jupyter-lab", *arguments], project, log, extra), chromium() as browser:
        (port,) = until(lambda: re.findall(r"http://(?:127\.0\.0\.1|localhost):(\d+)/lab", text_of(log))[:1])
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/lab/tree/work.ipynb")
        mark = page.locator(".jp-Notebook .cm-lintRange").first
        mark.wait_for(timeout=60_000)
        assert mark.inner_text() == "SCALE"
        mark.hover()
        said = page.locator(".cm-tooltip-lint").first
        said.wait_for(timeout=10_000)
        assert "captures global tensor `SCALE`" in said.inner_text()


def notebook(*cells: str) -> dict[str, object]:
    """A notebook with cells of code."""
    told = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": [],
            "source": text,
        }
        for number, text in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    language = {"name": "python", "mimetype": "text/x-python", "file_extension": ".py"}
    return {
        "cells": told,
        "metadata": {"kernelspec": kernel, "language_info": language},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@contextmanager
def started(command: list[str], directory: Path, log: Path, extra: dict[str, str]) -> Generator[None]:
    """A program that runs until the end of the block, with all that it starts; its output goes to a file."""
    with log.open("wb") as output:
        program = subprocess.Popen(
            command, cwd=directory, env=environment(**extra), stdout=output, stderr=output, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(program.pid, signal.SIGTERM)
            program.wait(20)


def until(found: Callable[[], list[str]], seconds: float = 60) -> list[str]:
    """What is found as soon as there is something."""
    end = time.monotonic() + seconds
    while not (told := found()) and time.monotonic() < end:
        time.sleep(0.1)
    assert told
    return told


def text_of(log: Path) -> str:
    """What was written to a file so far."""
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def received(log: Path) -> list[str]:
    """The messages that the server sent so far."""
    return text_of(log.with_suffix(".out")).split("Content-Length")


def sent(log: Path) -> str:
    """What the editor sent so far."""
    return text_of(log.with_suffix(".in"))
