"""The site, built once, served on the loopback, and opened in a browser that lets nothing else be asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.browser import chromium
from tests.playground.driving import serve

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Window

ROOT = Path(__file__).resolve().parents[2]
#: What asks no host.
OWN = ("blob:", "data:")
#: The longest that a build may take, in seconds.
LONGEST = 300


class Visit(Protocol):
    """Opens a page of the site, by its address, in a window of its own."""

    def __call__(self, page: str, *, width: int = 1400, scheme: str = "light") -> AbstractContextManager[Window]: ...


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; building complains of nothing. Processes that share a run share it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, said = shared / "site", shared / "site.txt"
    try:
        folder.mkdir()
    except FileExistsError:
        waited = time.monotonic() + LONGEST
        while not said.exists():
            assert time.monotonic() < waited, "another process builds it, and does not end"
            time.sleep(0.1)
    else:
        (shared / "site.part").write_text(_built(folder), encoding="utf-8")
        (shared / "site.part").replace(said)
    assert said.read_text(encoding="utf-8") == ""
    return folder


def _built(folder: Path) -> str:
    """Builds the site; what the build says, nothing if it is content."""
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "site/mkdocs.yml", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    said = run.stdout + run.stderr
    return "" if run.returncode == 0 and "WARNING" not in said else f"exit status {run.returncode}: {said}"


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""
    with serve(site) as where:
        yield f"{where}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """It ends with the tests of a file: its loop is in the way of others."""
    with chromium() as program:
        yield program


@pytest.fixture
def visit(browser: Browser, address: str) -> Visit:
    """Opens pages; what they ask of other hosts, and what they complain of, fails the test."""

    @contextmanager
    def opened(page: str, *, width: int = 1400, scheme: str = "light") -> Generator[Window]:
        shown = "dark" if scheme == "dark" else "light"
        own = browser.new_context(color_scheme=shown, viewport={"width": width, "height": 800})
        foreign: list[str] = []
        said: list[str] = []
        own.route(lambda url: not url.startswith((*OWN, address)), lambda route: route.abort())
        window = own.new_page()
        window.on("request", lambda one: None if one.url.startswith((*OWN, address)) else foreign.append(one.url))
        window.on("console", lambda message: said.append(message.text))
        window.on("pageerror", lambda error: said.append(str(error)))
        response = window.goto(address + page, wait_until="load")
        assert response is not None
        assert response.ok, page
        yield window
        own.close()
        assert (foreign, said) == ([], [])

    return opened
