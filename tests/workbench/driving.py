"""A person at the workbench: what they open, point at, press and read."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from playwright.sync_api import FrameLocator, Locator, Page, expect

#: How long anything may take to appear, in milliseconds, and what has to be compiled first.
PATIENCE = 60_000
COMPILING = 240_000
TRIES = 4
#: Of pictures for people, in pixels.
PICTURE_WIDTH = 1080
Severity = Literal["error", "warning", "info"]

#: Whether a marking of an extension is as high as a line that holds the text.
_MARKED = """([title, text]) => {
    const named = (group) => [...group.querySelectorAll(".tab")].some((tab) => tab.textContent.includes(title));
    const group = [...document.querySelectorAll(".editor-group-container")].find(named);
    const rows = [...group.querySelectorAll(".view-overlays > div")];
    const heights = rows.filter((row) => row.querySelector("[class*='ced-']")).map((row) => row.style.top);
    const lines = [...group.querySelectorAll(".view-line")].filter((line) => heights.includes(line.style.top));
    const texts = lines.map((line) => line.textContent.replaceAll("\\u00a0", " "));
    return text === null ? heights.length === 0 : texts.some((line) => line.includes(text));
}"""


def plain(text: str) -> str:
    """Words as they were written: the editor shows spaces as non-breaking ones."""
    return re.sub(r"\s+", " ", text.replace("\xa0", " ")).strip()


class Workbench:
    """A window of the workbench; every method waits for what it needs, and fails when that does not come."""

    def __init__(self, page: Page, address: str) -> None:
        """A page that has loaded nothing so far."""
        self.page = page
        self.address = address
        self.editor = page.locator(".editor-group-container.active .monaco-editor").first

    # Opening

    def open(self, place: Path) -> None:
        """Open a folder, or a workspace file."""
        kind = "workspace" if place.suffix == ".code-workspace" else "folder"
        row = self.page.locator(".monaco-workbench .explorer-folders-view .monaco-list-row").first
        self.page.goto(f"{self.address}/?{kind}={quote(str(place))}")
        # Where a page is slower than its server, VS Code may read a workspace file before it waits for that, and then
        # shows no folders; by the next load it remembers them.
        for _ in range(TRIES):
            with contextlib.suppress(AssertionError):
                expect(row).to_be_visible(timeout=PATIENCE / 2)
                return
            self.page.reload()
        raise AssertionError(f"the workbench does not show {place}")

    def open_file(self, name: str, row: int = 0) -> None:
        """Open a file by its name, at a row if one is given."""
        self.page.keyboard.press("Control+P")
        self._pick(f"{name}:{row}" if row else name, name)
        expect(self.tab(name)).to_be_visible()

    def tab(self, title: str) -> Locator:
        """The tab with a title."""
        return self.page.locator(".tabs-container .tab", has_text=title).first

    def run(self, command: str) -> None:
        """Run a command by its title in the palette."""
        self.page.keyboard.press("F1")
        self._pick(f">{command}", command.partition(": ")[2] or command)

    def commands(self, typed: str) -> Locator:
        """What the palette offers for some words; it is closed when the next thing is done."""
        self.page.keyboard.press("F1")
        self.page.locator(".quick-input-widget:visible input.input").fill(f">{typed}")
        rows = self.page.locator(".quick-input-list .monaco-list-row")
        expect(rows.first).to_be_visible()
        return rows

    def trust(self) -> None:
        """Trust the workspace, in the editor that VS Code has for that."""
        self.run("Workspaces: Manage Workspace Trust")
        self.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
        expect(self.page.locator(".workspace-trust-editor.trusted")).to_be_visible()

    def _pick(self, typed: str, shown: str) -> None:
        box = self.page.locator(".quick-input-widget:visible input.input")
        box.fill(typed)
        row = self.page.locator(".quick-input-list .monaco-list-row", has_text=shown).first
        expect(row).to_be_visible()
        row.click()
        expect(self.page.locator(".quick-input-widget:visible")).to_have_count(0)

    # The editor

    def go_to(self, row: int, column: int = 1) -> None:
        """Put the cursor somewhere in the active editor; both count from 1."""
        self.page.keyboard.press("Control+G")
        box = self.page.locator(".quick-input-widget:visible input.input")
        box.fill(f":{row}:{column}")
        box.press("Enter")
        expect(self.page.locator(".quick-input-widget:visible")).to_have_count(0)
        expect(self.page.locator(".editor-group-container.active .monaco-editor.focused").first).to_be_visible()
        self.expect_cursor(row, column)

    def expect_cursor(self, row: int, column: int | None = None) -> None:
        """Wait until the status bar says that the cursor is there."""
        words = f"Ln {row}, Col {column}" if column else rf"Ln {row}, Col"
        expect(self.page.locator('[id="status.editor.selection"]')).to_contain_text(words)

    def line(self, text: str) -> Locator:
        """The line of the active editor that holds a text (where there is one space between words)."""
        words = re.compile(r"[\s\xa0]".join(re.escape(word) for word in text.split(" ")))
        return self.editor.locator(".view-line", has_text=words).first

    def word(self, line: str, word: str) -> Locator:
        """The part of a line of the active editor that holds a word and is coloured alike."""
        return self.line(line).locator("span > span", has_text=word).last

    def type_at_end_of(self, row: int, text: str) -> None:
        """Type at the end of a row."""
        self.go_to(row)
        self.page.keyboard.press("End")
        self.page.keyboard.type(text)

    def save(self) -> None:
        """Save the active editor; a busy browser may lose a key that is pressed once."""
        unsaved = self.page.locator(".tabs-container .tab.active.dirty")
        self.page.keyboard.press("Control+S")
        try:
            expect(unsaved).to_have_count(0, timeout=20_000)
        except AssertionError:
            self.page.keyboard.press("Control+S")
            expect(unsaved).to_have_count(0)

    def squiggles(self, severity: Severity = "error") -> Locator:
        """The underlines in the active editor."""
        return self.editor.locator(f".squiggly-{severity}")

    def hover(self, target: Locator) -> Locator:
        """Point at something in the editor; the box that appears."""
        target.hover()
        box = self.page.locator(".monaco-hover:visible .monaco-hover-content").first
        expect(box).to_be_visible()
        return box

    def leave_hover(self) -> None:
        """Take the pointer away: a hover covers lenses."""
        self.page.mouse.move(5, 5)
        self.page.keyboard.press("Escape")
        expect(self.page.locator(".monaco-hover:visible")).to_have_count(0)

    def lens(self, text: str) -> Locator:
        """The code lens that says something."""
        return self.editor.locator(".codelens-decoration", has_text=text).first

    def press_lens(self, text: str) -> None:
        """Click at a code lens."""
        expect(self.lens(text)).to_be_visible()
        self.lens(text).locator("a", has_text=text).first.click()

    def quick_fixes(self, row: int, column: int = 1) -> Locator:
        """Open the menu of quick fixes at a place: its entries."""
        self.go_to(row, column)
        entries = self.page.locator(".action-widget .monaco-list-row.action")
        # Whatever happens in the editor meanwhile closes the menu again, such as a lens that comes.
        for _ in range(TRIES):
            self.page.keyboard.press("Control+.")
            with contextlib.suppress(AssertionError):
                expect(entries.first).to_be_visible(timeout=PATIENCE / TRIES)
                return entries
        raise AssertionError(f"no quick fixes at {row}:{column}")

    def fix(self, row: int, column: int, title: str) -> None:
        """Apply the quick fix whose title holds some words."""
        entry = self.quick_fixes(row, column).filter(has_text=title).first
        expect(entry).to_be_visible()
        entry.click()

    def apply_reviewed(self, files: int) -> None:
        """Accept the edits that are shown in the refactor preview, in each of so many files."""
        preview = self.page.locator(".bulk-edit-panel")
        first = preview.locator(".monaco-list-row", has=self.page.locator(".edit-checkbox")).first
        expect(first).to_be_visible()
        # Files stand below what they are reviewed for; a single one may stand in its place.
        boxes = preview.locator(f".monaco-list-row[aria-level='{first.get_attribute('aria-level')}'] .edit-checkbox")
        expect(boxes).to_have_count(files)
        for number in range(files):
            boxes.nth(number).click()
        preview.locator(".buttons .monaco-button", has_text="Apply").first.click()
        expect(preview).to_have_count(0)

    # Around the editor

    def problems(self) -> Locator:
        """The rows of the Problems view, which opens if it is not open."""
        panel = self.page.locator(".markers-panel")
        if not panel.is_visible():
            self.page.keyboard.press("Control+Shift+M")
        expect(panel).to_be_visible()
        return panel.locator(".monaco-list-row")

    def expand(self, row: Locator) -> None:
        """Unfold a row of a tree if it is folded."""
        if row.first.get_attribute("aria-expanded") == "false":
            row.first.click()
            self.page.keyboard.press("ArrowRight")
        expect(row.first).to_have_attribute("aria-expanded", "true")

    def notification(self, text: str | re.Pattern[str] = "") -> Locator:
        """The notifications that say something."""
        return self.page.locator(".notifications-toasts .notification-list-item", has_text=text)

    def all_notifications(self) -> list[str]:
        """What every message says that was not dismissed, by asking for the list of them."""
        self.run("Notifications: Show Notifications")
        center = self.page.locator(".notifications-center.visible")
        expect(center).to_be_visible()
        messages = center.locator(".notification-list-item-message").all_inner_texts()
        self.run("Notifications: Hide Notifications")
        expect(center).to_have_count(0)
        return [plain(message) for message in messages]

    def press(self, notification: Locator, button: str) -> None:
        """Press a button of a notification."""
        notification.first.hover()
        notification.first.locator(".monaco-button", has_text=button).first.click()

    def status(self) -> Locator:
        """Our item of the status bar; its label is what it says."""
        return self.page.locator('.statusbar-item[id$="nonstrict.status"]')

    def group(self, title: str) -> Locator:
        """The group of editors that has a tab with a title."""
        return self.page.locator(".editor-group-container", has=self.page.locator(".tab", has_text=title)).last

    def expect_marked(self, title: str, text: str | None) -> None:
        """Wait until a line that holds a text is marked as a whole in the editor of a title; None: no line is."""
        self.page.wait_for_function(_MARKED, arg=[title, text])

    def webview(self) -> FrameLocator:
        """The page that an extension shows."""
        return self.page.frame_locator("iframe.webview.ready").frame_locator("iframe#active-frame")

    def picture(self, name: str, height: int = 640, *, side_bar: bool = False) -> None:
        """Take a picture of the editors and the panel, and perhaps of the side bar, where one is asked for."""
        folder = os.environ.get("WORKBENCH_PICTURES")
        if not folder:
            return
        size = self.page.viewport_size
        if not side_bar:
            self.run("View: Toggle Primary Side Bar Visibility")
        self.page.set_viewport_size({"width": PICTURE_WIDTH, "height": height})
        for message in self.notification().all():
            message.hover()
            message.locator(".codicon-notifications-clear").click()
        self.page.mouse.move(5, 5)
        expect(self.page.locator(".workbench-hover:visible")).to_have_count(0)
        Path(folder).mkdir(exist_ok=True)
        self.page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled", caret="hide")
        if size:
            self.page.set_viewport_size(size)
        if not side_bar:
            self.run("View: Toggle Primary Side Bar Visibility")

    def cells(self) -> Locator:
        """The cells of the active notebook."""
        return self.page.locator(".notebook-editor .cell-list-container .monaco-list-row")
