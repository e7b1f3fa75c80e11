"""Fixes in reports: what is marked and counted, the small difference, and what viewers may apply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nonstrict.findings import Applicability, Diagnostic, LocatedFix
from nonstrict.report.context import Context, Fixing, Lines, renderer
from nonstrict.report.difference import render_difference
from nonstrict.text.source import source_from_bytes
from tests.report.samples import NOTEBOOK, context, diagnostics, edit, fix

UNSAFE = Fixing(Applicability.UNSAFE, hint=False)
SILENT = Fixing(hint=False)


def last_lines(found: list[Diagnostic], fixing: Fixing, count: int = 1) -> list[str]:
    return renderer("concise")(found, context()._replace(fixing=fixing)).splitlines()[-count:]


@pytest.mark.parametrize(
    ("fixing", "line"),
    [
        (
            Fixing(),
            "[*] 1 fixable with the `--fix` option (1 hidden fix can be enabled with the `--unsafe-fixes` option).",
        ),
        (UNSAFE, "[*] 2 fixable with the `--fix` option."),
        (SILENT, "[*] 1 fixable with the `--fix` option."),
    ],
)
def test_what_can_be_fixed_is_counted(fixing: Fixing, line: str):
    assert last_lines(diagnostics(), fixing) == [line]


def test_hidden_fixes_alone():
    (line,) = last_lines(diagnostics()[:2], Fixing())
    assert line == "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option)."
    assert last_lines(diagnostics()[:2], SILENT) == ["Found 1 error, 1 warning in 2 of 12 files."]


def test_what_was_fixed_is_counted_and_listed():
    first, second, third = diagnostics()
    fixing = Fixing(fixed=(second, third, third))
    assert last_lines([first], fixing) == ["Found 1 warning in 1 of 12 files (3 fixed)."]
    assert last_lines([], fixing, 2) == ["No findings in 12 files (3 fixed)."]
    listed = last_lines([], fixing._replace(listed=True), 9)
    assert listed == [
        "Fixed 3 findings:",
        "- src/model.py:",
        "    2 \N{MULTIPLICATION SIGN} NST902 (unused-suppression)",
        "    1 \N{MULTIPLICATION SIGN} NST101 (global-tensor-capture)",
        "",
        "No findings in 12 files (3 fixed).",
    ]


def test_what_the_baseline_knows_is_counted():
    text = renderer("full")([], context()._replace(known=2))
    assert text == "No findings in 12 files (2 in the baseline).\n"


def block(found: LocatedFix, **texts: str) -> list[str]:
    sources = {path: source_from_bytes(path, text.encode()) for path, text in texts.items()}
    finding = diagnostics()[2]._replace(location=edit("a", (1, 1), (1, 2), "").location, fixes=(found,), help="")
    lines = renderer("full")([finding], Context(Lines(sources), 1, counts=False)).splitlines()
    start = next(number for number, line in enumerate(lines) if "= fix" in line)
    return lines[start:-1]


def test_a_long_difference_is_cut():
    text = "".join(f"{letter}\n" for letter in "abcdefghijklmnopqrstuvwxyz")
    edits = [
        edit("a", (row, 1), (row, 2), letter.upper()) for row, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 1)
    ]
    shown = block(
        fix("Shout", Applicability.SAFE, *edits[::2], edit("b", (1, 1), (1, 1), "!"), edit("c", (1, 1), (1, 1), "!")),
        a=text,
        b="x\n",
        c="y\n",
    )
    assert shown[1] == " 1 - a"
    assert len(shown) == 14
    assert shown[-1] == "   | ... and 9 more places, some in 2 other files"


def test_a_long_insertion_is_cut():
    shown = block(fix("Tell", Applicability.SAFE, edit("a", (1, 1), (1, 1), "new\n" * 30)), a="a\n")
    assert len(shown) == 13
    assert shown[-1].endswith("...")


def test_a_file_that_changed_meanwhile_shows_no_difference():
    assert block(fix("Do", Applicability.SAFE, edit("a", (1, 5), (1, 9), "")), a="x\n") == ["  = fix: Do"]
    assert block(fix("Do", Applicability.SAFE, edit("a", (9, 1), (9, 2), "")), a="x\n") == ["  = fix: Do"]


def results(found: list[Diagnostic]) -> list[dict[str, Any]]:
    return json.loads(renderer("sarif")(found, context()))["runs"][0]["results"]


def test_viewers_get_fixes_that_they_can_apply():
    first, second, third = results(diagnostics())
    assert "fixes" not in first
    (passed,) = second["fixes"]
    assert passed["properties"] == {"applicability": "unsafe"}
    changes = {change["artifactLocation"]["uri"]: change["replacements"] for change in passed["artifactChanges"]}
    assert {path: len(made) for path, made in changes.items()} == {"lib/other.py": 1, "src/model.py": 2}
    assert changes["lib/other.py"][0] == {
        "deletedRegion": {"startLine": 4, "startColumn": 15, "endLine": 4, "endColumn": 15},
        "insertedContent": {"text": ", SCALE"},
    }
    assert third["fixes"][0]["properties"] == {"applicability": "safe"}


def test_suggestions_are_one_replacement_of_one_file():
    first, second, third = json.loads(renderer("rdjson")(diagnostics(), context()))["diagnostics"]
    assert "suggestions" not in first
    assert "suggestions" not in second
    assert third["suggestions"][0]["text"] == "x, y"
    gone = Context(Lines({}), 1, directory="/project")
    assert "suggestions" not in json.loads(renderer("rdjson")(diagnostics(), gone))["diagnostics"][2]


def test_differences():
    assert render_difference("a.py", b"a\nb\n", b"a\nc\n") == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert render_difference("a.py", b"a", b"b").endswith(
        "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )
    assert render_difference("a.py", b"a\r\n", b"b\r\n").endswith("-a\r\n+b\r\n")
    assert render_difference("a.py", b"a", b"a") == ""
    assert "\x1b[31m-a" in render_difference("a.py", b"a\n", b"b\n", color=True)


def test_differences_of_notebooks_are_those_of_their_cells():
    after = NOTEBOOK.replace("print(torch)", "print(1)")
    assert render_difference("a.ipynb", NOTEBOOK.encode(), after.encode()) == (
        "--- a.ipynb:cell 2\n+++ a.ipynb:cell 2\n@@ -1,2 +1,2 @@\n import torch\n-print(torch)\n+print(1)\n"
    )
