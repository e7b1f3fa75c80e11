"""The playground as a person uses it, and the server that its files come from."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from playwright.sync_api import expect
from typing_extensions import override

if TYPE_CHECKING:
    import os
    from collections.abc import Generator

    from playwright.sync_api import Browser, Locator
    from playwright.sync_api import Page as Window

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "site" / "playground" / "out"
CHROMIUM = shutil.which("chromium")
#: No request leaves the machine, whatever a page asks for.
FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
#: How long anything may take on a busy machine, in milliseconds.
PATIENCE = 20_000

_PASTE = """
(content, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}
"""


_HOLD = """
() => {
    const { postMessage } = Worker.prototype;
    const held = [];
    Worker.prototype.postMessage = function (...message) { held.push([this, message]); };
    window.release = () => {
        Worker.prototype.postMessage = postMessage;
        for (const [worker, message] of held) worker.postMessage(...message);
    };
}
"""


_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}


class _Files(http.server.SimpleHTTPRequestHandler):
    """Files with the types that a browser wants of modules and WebAssembly, kept by it as by any host."""

    protocol_version = "HTTP/1.1"

    @override
    def guess_type(self, path: str | os.PathLike[str]) -> str:
        return _TYPES.get(Path(path).suffix) or super().guess_type(path)

    @override
    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serve(folder: Path) -> Generator[str]:
    """Serve a folder; gives the address."""
    handler = functools.partial(_Files, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Playground(NamedTuple):
    """A window with a playground, what it asked for, and what it complained of."""

    window: Window
    asked: list[str]
    said: list[str]

    @classmethod
    def open(cls, browser: Browser, address: str, *, scheme: str = "light", width: int = 1_400) -> Playground:
        """Open an address in a window of its own."""
        height = 900 if width > 600 else 740
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=cast("Any", scheme), reduced_motion="reduce"
        )
        window = context.new_page()
        window.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        made = cls(window, [], [])
        window.on("request", lambda request: made.asked.append(request.url))
        window.on("pageerror", lambda error: made.said.append(str(error)))
        window.on("console", lambda said: made.said.append(said.text) if said.type in {"error", "warning"} else None)
        window.goto(address)
        return made

    @property
    def status(self) -> Locator:
        """How things stand: `1 error, 2 notes`."""
        return self.window.locator(".status")

    @property
    def writing(self) -> Locator:
        """Where the program is written."""
        return self.window.locator(".cm-content")

    @property
    def findings(self) -> Locator:
        """The findings of the list."""
        return self.window.locator(".finding")

    def is_checked(self) -> None:
        """Wait until the text as it is now was checked."""
        expect(self.window.locator(".panel")).to_have_attribute("aria-busy", "false")

    def write(self, text: str) -> None:
        """Put a text in place of the whole program, as if it was pasted, and wait until it was checked."""
        self.writing.focus()
        self.window.keyboard.press("Control+a")
        self.window.keyboard.press("Delete")
        self.writing.evaluate(_PASTE, text)
        self.is_checked()

    @contextmanager
    def unanswered(self) -> Generator[None]:
        """Meanwhile the engine gets no question; afterwards it gets all of them."""
        self.window.evaluate(_HOLD)
        try:
            yield
        finally:
            self.window.evaluate("release()")

    def choose(self, example: str) -> None:
        """Choose an example of the menu, and wait until it was checked."""
        self.window.get_by_label("Examples").select_option(example)
        self.is_checked()

    def follow(self, fragment: str) -> None:
        """Follow a link to this page with another fragment, and wait until its program was checked."""
        self.window.evaluate("fragment => { location.hash = fragment; }", fragment)
        self.window.wait_for_timeout(200)
        self.is_checked()

    def codes(self) -> list[str]:
        """The rules of the listed findings."""
        return self.findings.evaluate_all("found => found.map((one) => one.dataset.code)")

    def text(self) -> str:
        """The program, as far as it is in sight."""
        return "\n".join(self.window.locator(".cm-line").all_text_contents())
