"""A workbench for each process that runs tests, a window of it for each test, and a picture of how it ended."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.workbench.code_server import ROOT, CodeServer, Place, install, missing, packaged, write_settings
from tests.workbench.driving import PATIENCE, Workbench

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from playwright.sync_api import BrowserContext

HERE = Path(__file__).parent
#: How every test ended, for people: a picture, and if it failed what the processes printed.
SCREENS = ROOT / ".workbench" / "screens"
#: No request leaves the machine, whatever a page asks for.
CHROMIUM = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
#: The server that is in the package, in the interpreter that runs the tests: it has torch.
SETTINGS = {"nonstrict.interpreter": [sys.executable], "nonstrict.importStrategy": "useBundled"}
OUTCOME = pytest.StashKey[bool]()


class Open(Protocol):
    """Opens a folder or a workspace file in a window, with settings of the workspace."""

    def __call__(
        self, place: Path, settings: Mapping[str, Any] | None = None, server: CodeServer | None = None
    ) -> Workbench: ...


class Serve(Protocol):
    """Starts a code-server of its own, for tests that need another than the common one."""

    def __call__(
        self,
        settings: Mapping[str, Any] | None = None,
        *,
        trusted: bool = True,
        read_only: Path | None = None,
        **environment: str,
    ) -> CodeServer: ...


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    item.stash[OUTCOME] = item.stash.get(OUTCOME, True) and not report.failed
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine loses a key or a click now and then: once more, and pytest says so."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="package")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of extensions: ours, installed as a user does."""
    if reason := missing():
        pytest.skip(reason)
    place = Place(tmp_path_factory.mktemp("installing"), tmp_path_factory.mktemp("extensions"))
    install(packaged(), place)
    return place.extensions


@pytest.fixture(scope="package")
def common_server(extensions: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeServer]:
    """The code-server that most tests use: all folders are trusted, the interpreter is the one that runs the tests."""
    place = Place(tmp_path_factory.mktemp("code-server"), extensions)
    server = CodeServer(place, SETTINGS)
    yield server
    server.close()


@pytest.fixture(scope="package")
def browser(extensions: Path) -> Iterator[BrowserContext]:
    """A browser that remembers what it has loaded. It must end with these tests: its loop is in the way of others."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM))
        context = program.new_context(viewport={"width": 1360, "height": 820})
        context.set_default_timeout(PATIENCE)
        yield context
        program.close()


@pytest.fixture
def serve(extensions: Path, tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as running:

        def start(settings=None, *, trusted=True, read_only=None, **environment):
            place = Place(tmp_path / "code-server", extensions)
            server = CodeServer(
                place, {**SETTINGS, **(settings or {})}, trusted=trusted, read_only=read_only, environment=environment
            )
            running.callback(server.close)
            return server

        yield start


@pytest.fixture
def open_workbench(
    request: pytest.FixtureRequest, common_server: CodeServer, browser: BrowserContext
) -> Iterator[Open]:
    windows: list[tuple[Workbench, list[str]]] = []

    def begin(place, settings=None, server=None):
        if settings:
            write_settings(place / ".vscode", settings)
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        workbench = Workbench(page, (server or common_server).address)
        windows.append((workbench, said))
        workbench.open(place)
        return workbench

    yield begin
    folder = SCREENS / re.sub(r"[^\w.-]+", "_", request.node.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, (workbench, said) in enumerate(windows):
        workbench.page.screenshot(path=folder / f"screen{number or ''}.png")
        if not request.node.stash[OUTCOME]:
            (folder / f"console{number or ''}.log").write_text("\n".join(said), encoding="utf-8")
            shutil.copy(common_server.log, folder / "code-server.log")
        workbench.page.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project: no settings of a directory above count."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "project"\nversion = "1"\n', encoding="utf-8")
    return folder
