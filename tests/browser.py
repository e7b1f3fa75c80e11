"""Pages in Debian's Chromium: the program, and how easy what it shows is to read."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser

_PROGRAM = shutil.which("chromium")
WITH_CHROMIUM = pytest.mark.skipif(_PROGRAM is None, reason="there is no chromium (scripts/system_packages.sh browser)")
#: WCAG 2.2, level AA: of text, and of large text.
CONTRAST = 4.5
#: Finds the texts of a page that are hard to read: each with the contrast of its colour to what is painted behind it.
HARD_TO_READ = """
(least) => {
    const parsed = (color) => (color.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const over = (top, under) => {
        const alpha = top[3] ?? 1;
        return [0, 1, 2].map((index) => top[index] * alpha + under[index] * (1 - alpha));
    };
    const behind = (element) => {
        if (!element) return canvas;
        const color = parsed(getComputedStyle(element).backgroundColor);
        return (color[3] ?? 1) === 1 ? color : over(color, behind(element.parentElement));
    };
    const light = (color) => {
        const [red, green, blue] = color.map((value) => value / 255)
            .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const allowed = getComputedStyle(document.documentElement).colorScheme;
    const canvas = dark && allowed.includes("dark") ? [18, 18, 18] : [255, 255, 255];
    const found = [];
    let checked = 0;
    const look = (element, kind, text) => {
        if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return;
        const back = behind(element);
        const front = over(parsed(getComputedStyle(element, kind).color), back);
        const [dim, bright] = [light(front), light(back)].sort((one, two) => one - two);
        const contrast = (bright + 0.05) / (dim + 0.05);
        checked += 1;
        if (contrast < least) found.push(`${contrast.toFixed(2)}: ${element.className} ${text.slice(0, 40)}`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.data.trim() || node.parentElement.closest("script, style")) continue;
        look(node.parentElement, null, node.data);
    }
    for (const one of document.querySelectorAll(".row")) look(one, "::before", one.dataset.row);
    for (const one of document.querySelectorAll("input, select, button")) look(one, null, one.name);
    return [checked, found];
}
"""


@contextmanager
def chromium() -> Generator[Browser]:
    """The browser, without a window."""
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(
            executable_path=_PROGRAM, args=["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"]
        )
        yield program
        program.close()
